"""verify: give every trace a verdict.

Reads and writes traces; sets verdict, verdict_reason, verifier, final_answer,
answer_span and answer_method. Nothing is generated again and no row is dropped:
`filter --verdict` comes next. A machine fault is no verdict: the row fails, the
exit status is 4, and the same command tries it again.

    cotdata verify d/raw -o d/verified
    cotdata verify d/raw -o d/again --diff d/verified --second-opinion math-verify
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import finish, new_app
from cotdata.comparison import compare
from cotdata.disagreement import disagreements
from cotdata.errors import UsageError
from cotdata.journal import Outcome, failed, passed
from cotdata.progress import say
from cotdata.runner import Stage, run_stage
from cotdata.schema import PROBLEM_COLUMNS, Row
from cotdata.store import Dataset, open_dataset
from cotdata.tasks import get_task
from cotdata.verdicts import VERDICT_COLUMNS, Verdict, verdict_columns
from cotdata.verifying import Candidate, Judgement, default_workers, prepare, verify_all

# The problem in full: which columns decide a verdict is the task's own affair.
READS = (*(column.name for column in PROBLEM_COLUMNS), "trace", "finish_reason")


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    verifiers: tuple[str, ...] = opt.derived(())
    workers: int = opt.execution(1)


def run(batches: Iterator[pa.RecordBatch], options: Options) -> Iterator[Outcome]:
    candidates = (
        Candidate(
            key=row["trace_id"], row=row, trace=row["trace"], finish_reason=row["finish_reason"]
        )
        for batch in batches
        for row in batch.to_pylist()
    )
    for candidate, judgement in verify_all(candidates, workers=options.workers):
        yield _outcome(candidate.key, judgement)


def _outcome(row_id: str, judgement: Judgement) -> Outcome:
    if isinstance(judgement, Verdict):
        return passed(row_id, verdict_columns(judgement))
    return failed(row_id, "machine_fault", str(judgement))


def preview(row: Row, options: Options) -> str:
    verdict = get_task(row["task"]).verify(row, row["trace"], row["finish_reason"])
    return f"{row['trace']}\n--> {verdict}"


STAGE = Stage(
    name="verify",
    version=1,
    kind="trace",
    reads=READS,
    writes=VERDICT_COLUMNS,
    run=run,
    preview=preview,
)

MAX_CHANGES = 20

app = new_app()


@app.command(epilog="Example: cotdata verify d/raw -o d/verified")
def verify(
    source: opt.Input,
    out: opt.Out = None,
    workers: int = typer.Option(default_workers(), min=1, help="Checks at once."),
    sandbox: opt.Sandbox = "auto",
    diff: str | None = typer.Option(
        None, metavar="OLD", help="List verdicts that differ from those of an earlier run."
    ),
    second_opinion: str | None = typer.Option(
        None, help="math-verify or exact: write OUT/disagreements.jsonl and say the rate."
    ),
    limit: opt.Limit = None,
    accept_failed: opt.AcceptFailed = False,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Give every trace a verdict."""
    flags = opt.RunFlags(
        out=out, limit=limit, dry_run=dry_run, as_json=as_json, quiet=quiet,
        accept_failed=accept_failed,
    )  # fmt: skip
    dataset = open_dataset(opt.resolve_input(source), kind="trace")
    rules = prepare(dataset.tasks(), sandbox=sandbox, workers=workers)
    options = Options(verifiers=rules, workers=workers)
    done = run_stage(STAGE, dataset, options, flags)
    if done is not None:
        verified = Dataset(done.location, done.manifest)
        say(_table(verified), quiet=quiet)
        if diff is not None:
            say(_changes(open_dataset(diff, kind="trace"), verified), quiet=quiet)
        if second_opinion is not None:
            _write_disagreements(verified, second_opinion, workers, quiet)
    finish(done, flags)


def _changes(old: Dataset, new: Dataset) -> str:
    found = compare(old, new, ["verdict"], num_examples=MAX_CHANGES)
    lines = [f"verify: {found.counts.get('verdict', 0):,} verdicts differ from {old.location}"]
    lines += [f"  {c.row_id}  {c.left or 'none'} -> {c.right}" for c in found.examples]
    return "\n".join(lines)


def _write_disagreements(verified: Dataset, opinion: str, workers: int, quiet: bool) -> None:
    found = disagreements(verified, opinion, workers=workers)
    folder = verified.location.local
    if folder is None:
        raise UsageError(
            "--second-opinion writes beside a local output", hint="give a folder as -o"
        )
    place = folder / "disagreements.jsonl"
    unfinished = place.with_suffix(".part")
    lines = (json.dumps(row, ensure_ascii=False) for row in found.rows)
    unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    unfinished.replace(place)
    say(f"verify: {found.line()}: {place}", quiet=quiet)


def _table(dataset: Dataset) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    for batch in dataset.batches(["verdict", "verdict_reason"]):
        counts.update(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    rows = counts.most_common()
    lines = [f"  {n:>9,}  {verdict:<10} {reason}" for (verdict, reason), n in rows]
    return "\n".join(lines)
