"""The options that mean the same in every command, declared once.

A stage's own options are a frozen dataclass. A field made with `execution()`
says how the work is done, not what comes out: it is left out of the run's id.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from cotdata.errors import InputError

T = TypeVar("T")

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="A dataset folder or address, hf:org/name[@rev], or - for the path on stdin.",
        show_default=False,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="DIR", help="Where to write; default $COTDATA_HOME/STAGE-ID."
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Take only the first N input rows.")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything that is drawn.")]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Check everything, show one example, write nothing."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the path.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]
Sandbox = Annotated[
    Literal["auto", "require-full", "unsafe-none"],
    typer.Option(help="Isolation of code: auto is the best that this machine has, or refusal."),
]
AcceptFailed = Annotated[
    bool,
    typer.Option(
        "--accept-failed", help="Finish without the rows that failed; they go to rejected/."
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFlags:
    """How to run a stage, beside what it does."""

    out: str | None = None
    limit: int | None = None
    dry_run: bool = False
    as_json: bool = False
    quiet: bool = False
    accept_failed: bool = False


def execution(default: T) -> T:
    field: T = dataclasses.field(default=default, metadata={"execution": True})
    return field


def result_options(options: Any) -> dict[str, Any]:
    """The options that decide the result, as JSON values."""
    return {
        field.name: _plain(getattr(options, field.name))
        for field in dataclasses.fields(options)
        if not field.metadata.get("execution")
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def command_line(stage: str, inputs: list[str], given: Mapping[str, Any], limit: int | None) -> str:
    """A command that makes a dataset again, with its parents' ids for their paths."""
    words = ["cotdata", stage, *inputs]
    for name, value in {**given, "limit": limit}.items():
        if value is not None:
            words += _option_words(f"--{name.replace('_', '-')}", value)
    return shlex.join(words)


def given_options(options: Any) -> dict[str, Any]:
    """The options that decide the result and are not at their defaults."""
    return {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(options)
        if getattr(options, field.name) != field.default
        and not field.metadata.keys() & {"execution", "derived"}
    }


def _option_words(name: str, value: Any) -> list[str]:
    if value is True:
        return [name]
    if value is False:
        return [f"--no-{name[2:]}"]
    if isinstance(value, tuple):
        return [word for item in value for word in (name, str(item))]
    return [name, str(value)]


def derived(default: T) -> T:
    """A field computed from the others, such as the digest of a model folder."""
    field: T = dataclasses.field(default=default, metadata={"derived": True})
    return field


def home() -> Path:
    return Path(os.environ.get("COTDATA_HOME", "cotdata-store"))


def resolve_input(argument: str) -> str:
    """`-` is the path that the stage before printed; rows never travel through a pipe."""
    if argument != "-":
        return argument
    lines = [line.strip() for line in sys.stdin if line.strip()]
    if not lines:
        raise InputError(
            "no dataset path came through the pipe: the stage before it failed",
            where="stdin",
            hint="read its message above; with `set -o pipefail` the shell fails as well",
        )
    if len(lines) > 1:
        raise InputError(
            f"{len(lines)} paths came through the pipe; this stage reads one",
            where="stdin",
            hint="name one of them: " + " ".join(lines),
        )
    return lines[0]
