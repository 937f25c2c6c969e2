"""human: the reference solutions of problems as traces.

Reads problems, writes traces with origin `human`: the published solution, its
answer line brought to the form that the task's instruction asks for. Problems
without a solution are rejected as `no_solution`.

    cotdata human d/problems -o d/human
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import finish, new_app
from cotdata.journal import Outcome, passed, rejected
from cotdata.runner import Stage, run_stage
from cotdata.schema import PROBLEM_COLUMNS, Row, trace_id
from cotdata.store import open_dataset
from cotdata.tasks import get_task

WRITES = ("trace_id", "trace", "origin", "sample_index")


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    raw: bool = False


def run(batches: Iterator[pa.RecordBatch], options: Options) -> Iterator[Outcome]:
    for batch in batches:
        for row in batch.to_pylist():
            yield _outcome(row, options)


def _outcome(row: Row, options: Options) -> Outcome:
    problem = row["problem_id"]
    trace = row["solution"] if options.raw else get_task(row["task"]).human_trace(row)
    if not trace:
        return rejected(problem, "no_solution", "the source holds no human solution")
    updates = {
        "trace_id": trace_id(problem, "human", "raw" if options.raw else "normal"),
        "trace": trace,
        "origin": "human",
        "sample_index": 0,
    }
    return passed(problem, updates)


def preview(row: Row, options: Options) -> str:
    return str((_outcome(row, options).updates or {}).get("trace"))


STAGE = Stage(
    name="human",
    version=1,
    kind="trace",
    reads=tuple(column.name for column in PROBLEM_COLUMNS),
    writes=WRITES,
    run=run,
    preview=preview,
)

app = new_app()


@app.command(epilog="Example: cotdata human d/problems -o d/human")
def human(
    source: opt.Input,
    out: opt.Out = None,
    raw: bool = typer.Option(
        False, "--raw", help="The solution as published, with its marks and answer line."
    ),
    limit: opt.Limit = None,
    accept_failed: opt.AcceptFailed = False,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Turn reference solutions into traces."""
    flags = opt.RunFlags(
        out=out, limit=limit, dry_run=dry_run, as_json=as_json, quiet=quiet,
        accept_failed=accept_failed,
    )  # fmt: skip
    dataset = open_dataset(opt.resolve_input(source), kind="problem")
    finish(run_stage(STAGE, dataset, Options(raw=raw), flags), flags)
