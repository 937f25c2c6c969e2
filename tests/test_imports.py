"""Imports run one way: cli, stages, plug-ins and parts, core."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "cotdata"
PARTS = {"tasks", "flaws", "engines", "training", "report", "sandbox"}
FILES = sorted(PACKAGE.rglob("*.py"))


def layer(module: str) -> str:
    """`stages`, one of PARTS, `cli`, or `core` for a module of ours."""
    first = module.removeprefix("cotdata.").split(".")[0]
    return first if first in {"stages", "cli", *PARTS} else "core"


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.startswith("cotdata.")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_reaches_up(path: Path) -> None:
    own = layer(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    for name in imported(path):
        used = layer(name)
        if own != "cli" and path.name != "__main__.py":
            assert used != "cli", name
        if own != "cli" and path.name != "__main__.py":
            assert used != "stages", name


def test_there_is_no_drawer_for_odds_and_ends() -> None:
    names = {path.stem for path in FILES}
    assert not names & {"utils", "util", "helpers", "misc", "common"}
