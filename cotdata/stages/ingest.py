"""ingest: read problems from the Hub, a file or a generator.

Writes problems, or traces if the source has a `trace` column. Every gold answer
is checked with the task's own verifier; a row whose gold does not verify is
rejected as `gold_wrong`, `gold_error`, …, a row that cannot be read as
`unreadable`, and a second row with the same content as `duplicate`.

    cotdata ingest gsm8k_train.jsonl --task gsm8k -o d/problems
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import finish, new_app
from cotdata.errors import InputError, UsageError
from cotdata.journal import Outcome, failed, passed, rejected
from cotdata.rawrows import RawRows, open_raw
from cotdata.runner import Stage, run_stage
from cotdata.schema import COLUMNS, Row, RowKind, problem_id, project, trace_id
from cotdata.tasks import get_task
from cotdata.tasks.mbpp import show_tests
from cotdata.verdicts import Verdict
from cotdata.verifying import Candidate, Judgement, default_workers, prepare, verify_all

Origin = Literal["human", "model"]
TRACE_INPUTS = ("trace", "finish_reason", "reasoning")


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    task: str
    map: tuple[str, ...] = ()
    split: str | None = None
    license: str | None = None
    origin: Origin = "model"
    show_tests: int = 0
    check_gold: bool = True
    source: str = opt.derived("")
    source_split: str = opt.derived("train")
    verifiers: tuple[str, ...] = opt.derived(())
    workers: int = opt.execution(1)


def run(batches: Iterator[pa.RecordBatch], options: Options) -> Iterator[Outcome]:
    yield from _settled(_raw_rows(batches), options)


def _raw_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, Row]]:
    for batch in batches:
        for row in batch.to_pylist():
            yield row["raw_id"], json.loads(row["raw"])


def _settled(rows: Iterator[tuple[str, Row]], options: Options) -> Iterator[Outcome]:
    """Rows in input order, a chunk at a time, so that the gold checks can overlap."""
    while chunk := list(itertools.islice(rows, 256)):
        read = [(raw_id, _read(raw, raw_id, options)) for raw_id, raw in chunk]
        golds = (
            Candidate(key=raw_id, row=row, trace=_gold_trace(row))
            for raw_id, row in read
            if isinstance(row, dict) and options.check_gold
        )
        yield from (rejected(i, "unreadable", row) for i, row in read if isinstance(row, str))
        rows_by_id = {i: row for i, row in read if isinstance(row, dict)}
        if not options.check_gold:
            yield from (passed(i, row) for i, row in rows_by_id.items())
            continue
        for gold, judgement in verify_all(golds, workers=options.workers):
            yield _gold_outcome(gold, judgement)


def _gold_outcome(gold: Candidate, judgement: Judgement) -> Outcome:
    if not isinstance(judgement, Verdict):
        return failed(gold.key, "machine_fault", str(judgement))
    if judgement.correct:
        return passed(gold.key, gold.row)
    detail = f"{judgement.reason}: the gold answer does not verify: {gold.row['problem'][:200]}"
    return rejected(gold.key, f"gold_{judgement.verdict}", detail)


def _gold_trace(row: Row) -> str:
    reference = get_task(row["task"]).human_trace(row)
    return reference if reference is not None else f"\\boxed{{{row['answer']}}}"


def _read(raw: Row, raw_id: str, options: Options) -> Row | str:
    """The row's columns, or why it cannot be read."""
    try:
        return to_row(raw, raw_id, options)
    except InputError as error:
        return f"row {raw_id}: {error.what}"


def to_row(raw: Row, raw_id: str, options: Options) -> Row:
    """A raw row as a problem, or as a trace where it holds one."""
    task = get_task(options.task)
    raw = mapped(raw, options.map)
    parsed = task.parse(raw)
    row = project(parsed, "problem")
    row["task"] = options.task
    row["split"] = options.split or parsed.get("split") or options.source_split
    row["source"] = options.source
    row["source_id"] = str(parsed.get("source_id") or raw_id)
    row["license"] = options.license
    if options.show_tests:
        row = show_tests(row, options.show_tests)
    row["problem_id"] = problem_id(options.task, task.identity(row))
    return row if "trace" not in raw else _with_trace(row, raw, options)


def _with_trace(row: Row, raw: Row, options: Options) -> Row:
    if not isinstance(raw["trace"], str):
        raise InputError("the trace is not text")
    fields = {name: raw.get(name) for name in TRACE_INPUTS}
    row_id = trace_id(row["problem_id"], options.origin, raw["trace"])
    return project({**row, **fields, "trace_id": row_id, "origin": options.origin}, "trace")


def mapped(raw: Row, pairs: tuple[str, ...]) -> Row:
    """The row with columns renamed as `ours=theirs` says."""
    row = dict(raw)
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not equals or not theirs:
            raise UsageError(
                f"--map wants ours=theirs, not {pair!r}", hint="--map problem=question"
            )
        if theirs not in raw:
            raise UsageError(
                f"--map names a column {theirs!r} that the source lacks",
                hint=f"its columns: {', '.join(raw)}",
            )
        row[ours] = row.pop(theirs, raw[theirs])
    return row


def stage_for(raw: RawRows, options: Options) -> Stage[Options]:
    """The first row decides the kind, and whether the source fits the task at all."""
    first = next(raw.read(), None)
    if first is None:
        raise InputError("the source holds no rows", where=raw.name)
    try:
        row = to_row(first, "0", options)
    except InputError as error:
        raise InputError(
            f"the first row does not fit the task {options.task!r}: {error.what}",
            where=raw.name,
            hint=f"its columns: {', '.join(first)}; rename with --map problem=THEIR_NAME",
        ) from error
    kind: RowKind = "trace" if "trace_id" in row else "problem"
    names = tuple(column.name for column in COLUMNS[kind])
    return replace(STAGE, kind=kind, writes=names)


def preview(row: Row, options: Options) -> str:
    found = to_row(json.loads(row["raw"]), row["raw_id"], options)
    return json.dumps(
        {k: v for k, v in found.items() if v is not None}, ensure_ascii=False, indent=1
    )


STAGE = Stage(
    name="ingest",
    version=1,
    kind="problem",
    reads=("raw",),
    writes=(),
    run=run,
    preview=preview,
)

app = new_app()


@app.command(epilog="Example: cotdata ingest gsm8k_train.jsonl --task gsm8k -o d/problems")
def ingest(
    source: str = typer.Argument(
        ..., metavar="SOURCE", show_default=False,
        help="A task's name, hf:org/name[@rev][:config/split], a JSONL, JSON, CSV or Parquet file, "
        "or countdown:n=1000,numbers=3-4,max=100.",
    ),
    task: str | None = typer.Option(None, help="The task; known from a task's name or countdown:."),
    out: opt.Out = None,
    map: list[str] = typer.Option(
        [], "--map", metavar="OURS=THEIRS", help="Rename a column: --map problem=question."
    ),
    split: str | None = typer.Option(None, help="Split to load or to write; read off the name."),
    license: str | None = typer.Option(None, help="Licence of a local file's rows."),
    origin: Origin = typer.Option("model", help="Who wrote the traces, if the source holds any."),
    show_tests_: int = typer.Option(
        0, "--show-tests", min=0, help="Code: show the first K assertions, which then do not count."
    ),
    check_gold: bool = typer.Option(True, help="Verify every gold answer; reject those that fail."),
    workers: int = typer.Option(default_workers(), min=1, help="Gold checks at once."),
    sandbox: opt.Sandbox = "auto",
    limit: opt.Limit = None,
    accept_failed: opt.AcceptFailed = False,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:  # fmt: skip
    """Read problems (or traces) from the Hub, a file, or a generator."""
    flags = opt.RunFlags(
        out=out, limit=limit, dry_run=dry_run, as_json=as_json, quiet=quiet,
        accept_failed=accept_failed,
    )  # fmt: skip
    name = task or source.partition(":")[0]
    raw = open_raw(source, get_task(name), split)
    rules = prepare([name], sandbox=sandbox, workers=workers) if check_gold else ()
    options = Options(
        task=name, map=tuple(map), split=split, license=license or raw.license, origin=origin,
        show_tests=show_tests_, check_gold=check_gold, source=raw.name,
        source_split=raw.split, verifiers=rules, workers=workers,
    )  # fmt: skip
    finish(run_stage(stage_for(raw, options), raw, options, flags), flags)
