"""Run the command line as a user does."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def cotdata(*words: object, cwd: Path, stdin: str | None = None, **env: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "cotdata", *map(str, words)],
        cwd=cwd, input=stdin, capture_output=True, text=True, timeout=240,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **env},
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


def bash(script: str, cwd: Path) -> Ran:
    """A shell line in which `cotdata` is this checkout's."""
    setup = f'set -o pipefail; cotdata() {{ "{sys.executable}" -m cotdata "$@"; }}; '
    done = subprocess.run(
        ["bash", "-c", setup + script], cwd=cwd, capture_output=True, text=True, timeout=240,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)
