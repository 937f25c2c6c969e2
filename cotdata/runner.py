"""The one loop that every row stage goes through.

A stage is a function from batches of open input rows to outcomes, in any order.
The runner does the rest: input checks, the run's id, the journal, resume, fates,
the output in input order, rejects, card, manifest, summary. After a crash the
same call goes on with the rows that the journal does not hold, and the files
come out byte for byte as those of an uninterrupted run given the same outcomes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from cotdata.assembly import Assembly, assemble
from cotdata.cards import CARD, card_of
from cotdata.errors import DatasetError, InputError, OutputExists, PartialRun
from cotdata.explanation import explanation
from cotdata.journal import Journal, Outcome
from cotdata.locations import Location
from cotdata.manifest import (
    MANIFEST,
    Manifest,
    Step,
    merge_lineages,
    package_versions,
    run_id,
)  # fmt: skip
from cotdata.modelref import ModelRef
from cotdata.options import RunFlags, command_line, home, result_options
from cotdata.progress import Progress, say
from cotdata.schema import Row, RowKind
from cotdata.store import read_manifest
from cotdata.work import Identity, WorkFolder, differences

O = TypeVar("O")  # noqa: E741

# Set by `cotdata explain`: say what a command would do instead of doing it.
EXPLAIN: ContextVar[bool] = ContextVar("explain", default=False)


class Source(Protocol):
    """What a stage reads: a `Dataset`, or the raw rows that `ingest` reads."""

    @property
    def id_column(self) -> str: ...
    @property
    def parent(self) -> dict[str, str]: ...
    @property
    def num_rows(self) -> int | None: ...
    def batches(
        self, columns: tuple[str, ...] | None = None, *, limit: int | None = None
    ) -> Iterator[pa.RecordBatch]: ...
    def check_files(self) -> None: ...
    def ancestors(self) -> list[Step]: ...


@dataclass(frozen=True, kw_only=True)
class Stage(Generic[O]):
    """`reads` are the columns that `run` needs (None: all), `writes` those it sets.

    `run` gets batches of open rows. With `parts(options)` above 1 each row comes
    that many times, its number in the column `part`, and is settled part by part.
    A stage with `remembers` looks at rows together, so it starts anew each time.
    `preview` renders one example for --dry-run.
    """

    name: str
    version: int
    kind: RowKind
    reads: tuple[str, ...] | None
    writes: tuple[str, ...]
    run: Callable[[Iterator[pa.RecordBatch], O], Iterator[Outcome]]
    parts: Callable[[O], int] = lambda _options: 1
    remembers: bool = False
    preview: Callable[[Row, O], str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    location: Location
    manifest: Manifest
    fresh: bool

    @property
    def exit_code(self) -> int:
        return 0 if self.manifest.fates.written else 3


def run_stage(
    stage: Stage[O],
    source: Source,
    options: O,
    flags: RunFlags,
    *,
    models: tuple[ModelRef, ...] = (),
) -> Finished | None:
    """Run a stage to its finished dataset; None after a dry run.

    `models` are parents of the result like the source is.
    """
    identity = _identity(stage, source, options, flags, models)
    run = run_id(stage.name, stage.version, identity["options"], identity["parents"])
    out = Location.parse(flags.out or str(home() / run))
    if EXPLAIN.get():
        print(explanation(out, run, identity))
        return None
    done = _finished(out, run, identity)
    if done is not None:
        say(f"{stage.name}: already done, {done.fates.line()}", quiet=flags.quiet)
        return Finished(location=out, manifest=done, fresh=False)
    if flags.dry_run:
        _dry_run(stage, source, options, flags, out)
        return None
    with WorkFolder(out, run, identity) as work:
        try:
            source.check_files()
            _settle_rows(stage, source, options, flags, work.journal)
            result = assemble(
                work.path, work.journal, source,
                kind=stage.kind, writes=stage.writes, limit=flags.limit,
            )  # fmt: skip
            manifest = _manifest(
                identity, run, stage, [source, *models], options, flags, work.journal, result
            )
            _place(work, out, manifest)
        except (InputError, DatasetError):
            work.forget()
            raise
        work.forget()
    say(f"{stage.name}: {manifest.fates.line()}", quiet=flags.quiet)
    return Finished(location=out, manifest=manifest, fresh=True)


def _identity(
    stage: Stage[O],
    source: Source,
    options: O,
    flags: RunFlags,
    models: tuple[ModelRef, ...],
) -> Identity:
    settings = {**result_options(options), "limit": flags.limit, "kind": stage.kind}
    return {
        "stage": stage.name,
        "stage_version": stage.version,
        "options": settings,
        "parents": [source.parent, *(model.parent for model in models)],
    }


def _finished(out: Location, run: str, identity: Identity) -> Manifest | None:
    """The manifest of this very run, if it is done; another run's is refused."""
    manifest = read_manifest(out)
    if manifest is None:
        if out.exists() and not _resumable(out):
            raise OutputExists(
                "the folder exists and is no dataset", where=str(out), hint="choose another -o"
            )
        return None
    if manifest.id == run:
        return manifest
    found = {name: getattr(manifest, name) for name in identity}
    raise OutputExists(
        "a dataset made in another way is here: " + "; ".join(differences(found, identity)),
        where=str(out),
        hint="choose another -o, or delete it; nothing is ever overwritten",
    )


def _resumable(out: Location) -> bool:
    names = {place.path.rpartition("/")[2] for place in out.children()}
    return out.local is None or not names or ".work" in names


def _dry_run(stage: Stage[O], source: Source, options: O, flags: RunFlags, out: Location) -> None:
    source.check_files()
    rows = _num_input(source, flags)
    parts = stage.parts(options)
    each = f", {parts} parts each" if parts > 1 else ""
    say(f"{stage.name}: would read {rows if rows is not None else 'all'} rows{each}, write {out}")
    first = next(source.batches(stage.reads, limit=1), None)
    if first is not None and first.num_rows and stage.preview is not None:
        say(stage.preview(first.to_pylist()[0], options))


def _num_input(source: Source, flags: RunFlags) -> int | None:
    if source.num_rows is None or flags.limit is None:
        return source.num_rows
    return min(source.num_rows, flags.limit)


def _settle_rows(
    stage: Stage[O], source: Source, options: O, flags: RunFlags, journal: Journal
) -> None:
    """Run the stage over the open rows; every outcome goes to the journal."""
    if stage.remembers:
        journal.clear()
    rows, parts = _num_input(source, flags), stage.parts(options)
    total = rows * parts if rows is not None else None
    done = journal.num_settled()
    if done:
        say(f"{stage.name}: resuming, {done:,} rows are done", quiet=flags.quiet)
    outcomes = stage.run(_open_rows(stage, source, parts, flags, journal), options)
    with Progress(stage.name, total=total, done=done, quiet=flags.quiet) as progress:
        try:
            for outcome in outcomes:
                journal.add(outcome)
                progress.advance(tokens=_tokens(outcome.updates, "completion_tokens"))
        finally:
            journal.commit()
            if hasattr(outcomes, "close"):
                outcomes.close()
    failures = journal.failures()
    if failures and not flags.accept_failed:
        reason, detail, row_id = failures[0]
        raise PartialRun(
            f"{len(failures):,} rows failed, the first with {reason}: {detail}",
            where=f"{stage.name}, row {row_id}",
            hint="the same command tries them again; --accept-failed finishes without them",
        )


def _open_rows(
    stage: Stage[O], source: Source, parts: int, flags: RunFlags, journal: Journal
) -> Iterator[pa.RecordBatch]:
    columns = stage.reads if stage.reads is None else (source.id_column, *stage.reads)
    columns = tuple(dict.fromkeys(columns)) if columns is not None else None
    for batch in source.batches(columns, limit=flags.limit):
        ids = batch[source.id_column].to_pylist()
        settled = journal.settled(ids)
        pairs = itertools.product(enumerate(ids), range(parts))
        still = [(i, part) for (i, row_id), part in pairs if (row_id, part) not in settled]
        if not still:
            continue
        chosen = batch.take(pa.array([i for i, _ in still], pa.int32()))
        if parts > 1:
            chosen = chosen.append_column("part", pa.array([p for _, p in still], pa.int32()))
        yield chosen


def _tokens(updates: Row | None, column: str) -> int:
    return int((updates or {}).get(column) or 0)


def _place(work: WorkFolder, out: Location, manifest: Manifest) -> None:
    """The files come first, then the card, and last the manifest that makes it a dataset."""
    (work.path / CARD).write_text(card_of(manifest), encoding="utf-8")
    (work.path / MANIFEST).write_text(manifest.dumps(), encoding="utf-8")
    out.place(work.path, [*(entry.path for entry in manifest.files), CARD, MANIFEST])


def _manifest(
    identity: dict[str, Any],
    run: str,
    stage: Stage[O],
    parents: list[Source | ModelRef],
    options: O,
    flags: RunFlags,
    journal: Journal,
    result: Assembly,
) -> Manifest:
    wall_s, started = journal.clock()
    inputs = [parent["id"] for parent in identity["parents"][:1]]
    return Manifest(
        id=run,
        **identity,
        digest=result.digest,
        fates=result.fates,
        command=command_line(stage.name, inputs, options, flags.limit),
        kind=stage.kind,
        files=result.files,
        licenses=sorted(result.licenses),
        sources=sorted(result.sources),
        packages=package_versions(),
        started=_time(started),
        ended=_time(datetime.now(UTC).timestamp()),
        wall_s=round(wall_s, 3),
        tokens=result.tokens,
        ancestors=merge_lineages([parent.ancestors() for parent in parents]),
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
