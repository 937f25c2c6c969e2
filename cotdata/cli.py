"""The app: `cotdata STAGE INPUT [-o OUT] [options]`.

A stage's module is imported when the stage is called, so `cotdata --help` loads
neither pyarrow nor torch. `main` turns our own errors into one message on stderr
and an exit status; a bug keeps its traceback.
"""

from __future__ import annotations

import errno
import importlib
import signal
import sys
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from cotdata import __version__
from cotdata.errors import CotdataError

STAGES = {
    "ingest": "Read problems (or traces) from the Hub, a file, or a generator.",
    "human": "Turn reference solutions into traces.",
    "sample": "Sample traces from a model.",
    "paraphrase": "Say traces again in a model's words, and keep what says the same.",
    "verify": "Give every trace a verdict.",
    "filter": "Keep the traces that meet all conditions.",
    "match": "Bring arms to the same problems, rows and tokens.",
    "train": "Fine-tune a student on traces.",
    "eval": "Sample a model's answers to problems and verify them.",
    "report": "Write one HTML page from results and datasets.",
    "publish": "Send datasets or a model to the Hub, with card and tag.",
    "model": "Bring a model here as a Transformers checkpoint.",
    "ls": "List datasets and models in a folder.",
    "show": "Print rows of a dataset.",
    "lineage": "Show how a dataset came to be.",
    "explain": "Say why a command would run again or not.",
    "check": "Check a dataset's files, digest, ids and counts.",
    "diff": "Compare two datasets row by row.",
    "doctor": "Say what this machine can do.",
}


class StageGroup(TyperGroup):
    """Commands by name from STAGES, each module loaded on use."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(STAGES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in STAGES:
            return None
        module = importlib.import_module(f"cotdata.stages.{cmd_name.replace('-', '_')}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Stages"):
            formatter.write_dl(list(STAGES.items()))


app = typer.Typer(
    cls=StageGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"cotdata {__version__}")
        raise typer.Exit()


@app.callback(
    epilog="Example: cotdata ingest countdown:n=100 -o d/p | cotdata human - -o d/h",
)
def cotdata(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Make chain-of-thought training sets and measure what they teach.

    Each stage reads a dataset folder and prints the folder it wrote, so stages
    chain in a pipe with - as input.
    """


class Terminated(KeyboardInterrupt):
    """SIGTERM, handled like Ctrl-C: what is finished is kept."""


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise Terminated


def main() -> None:
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(standalone_mode=True)
    except CotdataError as error:
        print(f"cotdata: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        _exit_on_io_error(error)
        raise


def _exit_on_io_error(error: OSError) -> None:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        print(
            f"cotdata: the disk is full{f' at {error.filename}' if error.filename else ''}\n"
            "  make room, then run the same command again: it resumes",
            file=sys.stderr,
        )
        sys.exit(1)
    if isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError)):
        print(f"cotdata: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
