"""filter: keep the traces that meet all conditions.

Reads and writes traces; changes no column. Each row that is dropped goes to
`rejected/` with the first condition it failed. Only `correct` and `wrong`
traces are fit for a training arm, so a verdict is asked for by name.

    cotdata filter d/verified --verdict wrong -o d/W
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import finish, new_app
from cotdata.conditions import matches
from cotdata.errors import UnknownName, UsageError
from cotdata.journal import Outcome, passed, rejected
from cotdata.runner import Stage, run_stage
from cotdata.schema import Row
from cotdata.seeds import stable_hash
from cotdata.store import open_dataset
from cotdata.verdicts import VERDICTS


@dataclass(slots=True)
class Kept:
    """What was kept so far, for the conditions that look at more than one row."""

    total: int = 0
    per_problem: Counter[str] = field(default_factory=Counter)
    texts: set[int] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    verdict: tuple[str, ...] = ()
    where: str | None = None
    max_tokens: int | None = None
    finish_reason: tuple[str, ...] = ()
    per_problem: int | None = None
    rows: int | None = None
    dedup: bool = False


ROW_COLUMNS = [
    "trace_id", "problem_id", "trace", "verdict", "verdict_reason", "finish_reason",
    "completion_tokens",
]  # fmt: skip


def run(batches: Iterator[pa.RecordBatch], options: Options) -> Iterator[Outcome]:
    kept = Kept()
    for batch in batches:
        met = matches(batch, options.where)
        rows = batch.select(ROW_COLUMNS).to_pylist()
        for row, match in zip(rows, met, strict=True):
            reason = _row_reason(row, match, options) or _kept_reason(row, kept, options)
            yield (
                passed(row["trace_id"], {})
                if reason is None
                else rejected(row["trace_id"], *reason)
            )


Reason = tuple[str, str]


def _row_reason(row: Row, match: bool, options: Options) -> Reason | None:
    """The first condition on the row alone that it fails."""
    if options.verdict and row["verdict"] not in options.verdict:
        return f"verdict_{row['verdict'] or 'none'}", str(row["verdict_reason"] or "not verified")
    if options.finish_reason and row["finish_reason"] not in options.finish_reason:
        return f"finish_{row['finish_reason'] or 'unknown'}", ""
    tokens = row["completion_tokens"]
    if options.max_tokens is not None and (tokens is None or tokens > options.max_tokens):
        return "max_tokens", f"{tokens if tokens is not None else 'unknown'} tokens"
    return None if match else ("where", str(options.where))


def _kept_reason(row: Row, kept: Kept, options: Options) -> Reason | None:
    """Looks at what is kept already, so it comes after the conditions on the row alone."""
    text = stable_hash(row["problem_id"], row["trace"]) if options.dedup else 0
    if options.dedup and text in kept.texts:
        return "duplicate", "an earlier trace of the problem has the same text"
    if options.rows is not None and kept.total >= options.rows:
        return "rows", f"{options.rows} rows are kept already"
    if options.per_problem is not None:
        if kept.per_problem[row["problem_id"]] >= options.per_problem:
            return "per_problem", f"more than {options.per_problem} of this problem"
        kept.per_problem[row["problem_id"]] += 1
    kept.texts.add(text)
    kept.total += 1
    return None


STAGE = Stage(
    name="filter", version=1, kind="trace", reads=None, writes=(), run=run, remembers=True
)

app = new_app()


@app.command(epilog="Example: cotdata filter d/verified --verdict wrong -o d/W")
def filter(
    source: opt.Input,
    out: opt.Out = None,
    verdict: list[str] = typer.Option(
        [], help="Keep these verdicts: correct, wrong, no_answer, timeout, error."
    ),
    where: str | None = typer.Option(
        None, metavar="SQL", help="A DuckDB condition over the columns: \"level = 'Level 3'\"."
    ),
    max_tokens: int | None = typer.Option(None, min=1, help="Keep traces of at most this length."),
    finish_reason: list[str] = typer.Option([], help="Keep these finish reasons: stop, length."),
    per_problem: int | None = typer.Option(None, min=1, help="Keep the first K of each problem."),
    rows: int | None = typer.Option(None, min=1, help="Keep the first N of all."),
    dedup: bool = typer.Option(False, "--dedup", help="Drop repeated texts of one problem."),
    limit: opt.Limit = None,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Keep the traces that meet all conditions."""
    flags = opt.RunFlags(out=out, limit=limit, dry_run=dry_run, as_json=as_json, quiet=quiet)
    options = Options(
        verdict=tuple(verdict), where=where, max_tokens=max_tokens,
        finish_reason=tuple(finish_reason), per_problem=per_problem, rows=rows, dedup=dedup,
    )  # fmt: skip
    for name in verdict:
        if name not in VERDICTS:
            raise UnknownName("verdict", name, VERDICTS)
    if options == Options():
        raise UsageError("no condition given", hint="for example --verdict correct")
    dataset = open_dataset(opt.resolve_input(source), kind="trace")
    finish(run_stage(STAGE, dataset, options, flags), flags)
