"""explain: why a command would run again, or not.

Put it before any command that writes a dataset: it says whether the result is
there, would be resumed, or which option, input or version makes it another run.

    cotdata explain filter d/verified --verdict wrong -o d/W
"""

from __future__ import annotations

import importlib

import typer

from cotdata.command import new_app
from cotdata.errors import UsageError
from cotdata.runner import EXPLAIN

STAGES = ("ingest", "human", "sample", "verify", "filter", "match", "eval")

app = new_app()


@app.command(
    epilog="Example: cotdata explain filter d/verified --verdict wrong -o d/W",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def explain(
    ctx: typer.Context,
    stage: str = typer.Argument(..., metavar="STAGE", help="The command, with all its options."),
) -> None:
    """Say why a command would run again or not."""
    if stage not in STAGES:
        raise UsageError(f"{stage!r} writes no dataset", hint=f"one of: {', '.join(STAGES)}")
    module = importlib.import_module(f"cotdata.stages.{stage}")
    token = EXPLAIN.set(True)
    try:
        typer.main.get_command(module.app).main(args=ctx.args, standalone_mode=False)
    finally:
        EXPLAIN.reset(token)
