"""What every command does around its stage: the Typer app and the last line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import typer

from cotdata.options import RunFlags
from cotdata.progress import say
from cotdata.runner import Finished


def new_app() -> typer.Typer:
    return typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """For output that `head` cuts short: a closed pipe ends it without an error."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end, into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def finish(done: Finished | None, flags: RunFlags) -> None:
    """Print the path (or one object) and leave with the run's exit status."""
    if done is None:
        return
    print_result(str(done.location), flags, _record(done))
    if done.exit_code:
        say("nothing survived: the dataset is empty (exit status 3)", quiet=flags.quiet)
        raise typer.Exit(done.exit_code)


def print_result(path: str, flags: RunFlags, record: dict[str, Any]) -> None:
    text = json.dumps({"path": path, **record}, ensure_ascii=False) if flags.as_json else path
    with reader_may_leave():
        print(text, flush=True)


def _record(done: Finished) -> dict[str, Any]:
    manifest = done.manifest
    return {
        "id": manifest.id,
        "kind": manifest.kind,
        "digest": manifest.digest,
        "fates": asdict(manifest.fates),
        "tokens": manifest.tokens,
        "wall_s": manifest.wall_s,
        "fresh": done.fresh,
    }
