"""The one loop that every row stage goes through.

A stage is a function from batches of open input rows to outcomes, in any order.
The runner does the rest: input checks, the run's id, the journal, resume, fates,
the output in input order, rejects, card, manifest, summary. After a crash the
same call goes on with the rows that the journal does not hold, and the files
come out byte for byte as those of an uninterrupted run given the same outcomes.

    done = run_stage(STAGE, open_dataset("d/raw"), Options(), RunFlags(out="d/v"))
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import pyarrow as pa

from cotdata.assembly import Assembly, assemble
from cotdata.cards import CARD, card_of
from cotdata.errors import DatasetError, InputError, OutputExists, PartialRun, UsageError
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
from cotdata.options import RunFlags, command_line, given_options, home, result_options
from cotdata.progress import Progress, say
from cotdata.schema import Row, RowKind
from cotdata.store import read_manifest
from cotdata.work import Identity, WorkFolder, differences

O = TypeVar("O")  # noqa: E741

# Set by `cotdata explain`: say what a command would do instead of doing it.
EXPLAIN: ContextVar[bool] = ContextVar("explain", default=False)


class Parent(Protocol):
    """What a result depends on beside its source: a model, or the arms it was matched with."""

    @property
    def parent(self) -> dict[str, str]: ...
    def ancestors(self) -> list[Step]: ...


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
    A stage with `arms` writes several datasets, OUT/<arm> each; a row comes once
    and its part number i goes to arm i. A stage with `remembers` looks at rows
    together, so it starts anew each time. `preview` renders one example for
    --dry-run.
    """

    name: str
    version: int
    kind: RowKind
    reads: tuple[str, ...] | None
    writes: tuple[str, ...]
    run: Callable[[Iterator[pa.RecordBatch], O], Iterator[Outcome]]
    parts: Callable[[O], int] = lambda _options: 1
    arms: Callable[[O], tuple[str, ...]] = lambda _options: ()
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One dataset to be written; `part` is the part of a row that goes there."""

    out: Location
    id: str
    identity: Identity
    part: int | None = None


@dataclass(frozen=True, kw_only=True)
class Job(Generic[O]):
    """A stage with all that it is run on. `models` are parents like the source.

    `inputs` are what its command line names as read; by default the source's id.
    """

    stage: Stage[O]
    source: Source
    options: O
    flags: RunFlags
    models: tuple[Parent, ...] = ()
    inputs: tuple[str, ...] = ()

    @cached_property
    def identity(self) -> Identity:
        limits = {"limit": self.flags.limit, "kind": self.stage.kind}
        return {
            "stage": self.stage.name,
            "stage_version": self.stage.version,
            "options": {**result_options(self.options), **limits},
            "parents": [self.source.parent, *(model.parent for model in self.models)],
        }

    @cached_property
    def id(self) -> str:
        stage, options = self.stage, self.identity["options"]
        return run_id(stage.name, stage.version, options, self.identity["parents"])

    @cached_property
    def out(self) -> Location:
        return Location.parse(self.flags.out or str(home() / self.id))

    @cached_property
    def arms(self) -> tuple[str, ...]:
        return self.stage.arms(self.options)

    @cached_property
    def parts(self) -> int:
        return len(self.arms) or self.stage.parts(self.options)

    @cached_property
    def num_input(self) -> int | None:
        rows, limit = self.source.num_rows, self.flags.limit
        return rows if rows is None or limit is None else min(rows, limit)

    @cached_property
    def targets(self) -> list[Target]:
        if not self.arms:
            return [Target(out=self.out, id=self.id, identity=self.identity)]
        options = self.identity["options"]
        return [
            Target(
                out=self.out.child(arm),
                id=f"{self.id}-{arm}",
                identity={**self.identity, "options": {**options, "arm": arm}},
                part=part,
            )
            for part, arm in enumerate(self.arms)
        ]

    def say(self, text: str) -> None:
        say(f"{self.stage.name}: {text}", quiet=self.flags.quiet)


def run_stage(
    stage: Stage[O],
    source: Source,
    options: O,
    flags: RunFlags,
    *,
    models: tuple[Parent, ...] = (),
    inputs: tuple[str, ...] = (),
) -> Finished | None:
    """Run a stage to its finished dataset; None after a dry run."""
    done = run_arms(stage, source, options, flags, models=models, inputs=inputs)
    return done[0] if done else None


def run_arms(
    stage: Stage[O],
    source: Source,
    options: O,
    flags: RunFlags,
    *,
    models: tuple[Parent, ...] = (),
    inputs: tuple[str, ...] = (),
) -> list[Finished]:
    """Run a stage to all of its datasets; none after a dry run."""
    job = Job(
        stage=stage, source=source, options=options, flags=flags, models=models, inputs=inputs
    )  # fmt: skip
    if EXPLAIN.get():
        for target in job.targets:
            print(explanation(target.out, target.id, target.identity))
        return []
    found = [_finished(target) for target in job.targets]
    done = [manifest for manifest in found if manifest is not None]
    if len(done) == len(found):
        job.say(f"already done, {done[-1].fates.line()}")
        return [
            Finished(location=target.out, manifest=manifest, fresh=False)
            for target, manifest in zip(job.targets, done, strict=True)
        ]
    if flags.dry_run:
        _dry_run(job)
        return []
    return _run(job)


def _run(job: Job[O]) -> list[Finished]:
    with WorkFolder(job.out, job.id, job.identity) as work:
        try:
            job.source.check_files()
            _settle_rows(job, work.journal)
            finished = [_write(job, target, work) for target in job.targets]
        except (InputError, DatasetError, UsageError):
            work.forget()
            raise
        except KeyboardInterrupt:
            done = work.journal.num_settled()
            say(f"{job.stage.name}: interrupted, {done:,} rows are done; the same command goes on")
            raise
        work.forget()
    for written in finished:
        job.say(written.manifest.fates.line())
    return finished


def _finished(target: Target) -> Manifest | None:
    """The manifest of this very run, if it is done; another run's is refused."""
    manifest = read_manifest(target.out)
    if manifest is None:
        if target.out.exists() and not _resumable(target.out):
            raise OutputExists(
                "the folder exists and is no dataset",
                where=str(target.out),
                hint="choose another -o",
            )
        return None
    if manifest.id == target.id:
        return manifest
    found = {name: getattr(manifest, name) for name in target.identity}
    raise OutputExists(
        "a dataset made in another way is here: " + "; ".join(differences(found, target.identity)),
        where=str(target.out),
        hint="choose another -o, or delete it; nothing is ever overwritten",
    )


def _resumable(out: Location) -> bool:
    """A folder that this stage may write into: empty, or begun by a run of ours."""
    names = {place.path.rpartition("/")[2] for place in out.children()}
    return out.local is None or not names - {"data", "rejected", CARD} or ".work" in names


def _dry_run(job: Job[O]) -> None:
    job.source.check_files()
    rows = f"{job.num_input:,}" if job.num_input is not None else "all"
    each = f", {job.parts} parts each" if job.parts > 1 else ""
    say(f"{job.stage.name}: would read {rows} rows{each}, write {job.out}")
    first = next(job.source.batches(job.stage.reads, limit=1), None)
    if first is not None and first.num_rows and job.stage.preview is not None:
        say(job.stage.preview(first.to_pylist()[0], job.options))


def _settle_rows(job: Job[O], journal: Journal) -> None:
    """Run the stage over the open rows; every outcome goes to the journal."""
    if job.stage.remembers:
        journal.clear()
    total = job.num_input * job.parts if job.num_input is not None else None
    done = journal.num_settled()
    if done:
        job.say(f"resuming, {done:,} rows are done")
    outcomes = job.stage.run(_open_rows(job, journal), job.options)
    with Progress(job.stage.name, total=total, done=done, quiet=job.flags.quiet) as progress:
        try:
            for outcome in outcomes:
                journal.add(outcome)
                tokens = (outcome.updates or {}).get("completion_tokens") or 0
                progress.advance(tokens=tokens if "completion_tokens" in job.stage.writes else 0)
        finally:
            journal.commit()
            if isinstance(outcomes, Generator):
                outcomes.close()
    failures = journal.failures()
    if failures and not job.flags.accept_failed:
        reason, detail, row_id = failures[0]
        raise PartialRun(
            f"{len(failures):,} rows failed, the first with {reason}: {detail}",
            where=f"{job.stage.name}, row {row_id}",
            hint="the same command tries them again; --accept-failed finishes without them",
        )


def _open_rows(job: Job[O], journal: Journal) -> Iterator[pa.RecordBatch]:
    key, reads = job.source.id_column, job.stage.reads
    columns = tuple(dict.fromkeys((key, *reads))) if reads is not None else None
    for batch in job.source.batches(columns, limit=job.flags.limit):
        ids = batch[key].to_pylist()
        settled = journal.settled(ids)
        pairs = itertools.product(enumerate(ids), range(job.parts))
        still = [(i, part) for (i, row_id), part in pairs if (row_id, part) not in settled]
        if job.arms:
            still = list(dict.fromkeys((i, 0) for i, _ in still))
        if not still:
            continue
        chosen = batch.take(pa.array([i for i, _ in still], pa.int32()))
        if job.parts > 1 and not job.arms:
            chosen = chosen.append_column("part", pa.array([p for _, p in still], pa.int32()))
        yield chosen


def _write(job: Job[O], target: Target, work: WorkFolder) -> Finished:
    """The files come first, then the card, and last the manifest that makes it a dataset."""
    folder = work.path / (job.arms[target.part] if target.part is not None else "files")
    result = assemble(
        folder, work.journal, job.source,
        kind=job.stage.kind, writes=job.stage.writes, limit=job.flags.limit, part=target.part,
    )  # fmt: skip
    manifest = _manifest(job, target, work.journal, result)
    (folder / CARD).write_text(card_of(manifest), encoding="utf-8")
    (folder / MANIFEST).write_text(manifest.dumps(), encoding="utf-8")
    target.out.place(folder, [*(entry.path for entry in manifest.files), CARD, MANIFEST])
    return Finished(location=target.out, manifest=manifest, fresh=True)


def _manifest(job: Job[O], target: Target, journal: Journal, result: Assembly) -> Manifest:
    wall_s, started = journal.clock()
    inputs = list(job.inputs) or [job.source.parent["id"]]
    parents: list[Source | Parent] = [job.source, *job.models]
    return Manifest(
        id=target.id,
        **target.identity,
        digest=result.digest,
        fates=result.fates,
        command=command_line(job.stage.name, inputs, given_options(job.options), job.flags.limit),
        kind=job.stage.kind,
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
