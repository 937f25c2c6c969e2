"""From a journal of outcomes to the files of a dataset, in input order.

The input is read once more; each row meets its outcomes by id. Output ids must
be unique: for rows read from outside (`ingest`) a second row with the same id is
rejected as `duplicate`, and the first one in input order stays.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cotdata.journal import Journal, Outcome, rejected
from cotdata.manifest import Fates, FileEntry
from cotdata.schema import Row, RowKind, id_column, schema_of
from cotdata.store import DatasetWriter

if TYPE_CHECKING:
    from cotdata.runner import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembly:
    files: list[FileEntry]
    digest: str
    fates: Fates
    tokens: dict[str, int]
    licenses: set[str]
    sources: set[str]


@dataclass(slots=True)
class Tally:
    """Counts of input rows by fate; `lost` counts why the others were not passed on."""

    fates: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    written: int = 0

    def result(self) -> Fates:
        return Fates(
            read=self.fates.total(),
            passed=self.fates["passed"],
            rejected=self.fates["rejected"],
            failed=self.fates["failed"],
            written=self.written,
            reasons=dict(sorted(self.lost.items(), key=lambda item: (-item[1], item[0]))),
        )


def assemble(
    folder: Path,
    journal: Journal,
    source: Source,
    *,
    kind: RowKind,
    writes: tuple[str, ...],
    limit: int | None,
    part: int | None = None,
) -> Assembly:
    """Write the files of a dataset below `folder`; `part` picks one part of each row."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    writer, tally = DatasetWriter(folder, kind), Tally()
    journal.forget_written()
    for batch in source.batches(limit=limit):
        outcomes = journal.outcomes(batch[source.id_column].to_pylist(), part)
        _add_batch(batch, outcomes, journal, source, kind, writes, writer, tally)
    files = writer.close()
    return Assembly(
        files=files,
        digest=writer.digest.hexdigest(),
        fates=tally.result(),
        tokens=dict(tally.tokens),
        licenses=writer.licenses,
        sources=writer.sources,
    )


def _add_batch(
    batch: pa.RecordBatch,
    outcomes: dict[str, list[Outcome]],
    journal: Journal,
    source: Source,
    kind: RowKind,
    writes: tuple[str, ...],
    writer: DatasetWriter,
    tally: Tally,
) -> None:
    kept: list[tuple[int, Outcome]] = []
    lost: list[tuple[int, Outcome]] = []
    for index, row_id in enumerate(outcomes):
        found = _without_duplicates(outcomes[row_id], journal, kind, source)
        fate = _fate(found, row_id)
        tally.fates[fate] += 1
        kept += [(index, outcome) for outcome in found if outcome.fate == "passed"]
        if fate != "passed":
            first = next(outcome for outcome in found if outcome.fate == fate)
            lost.append((index, first))
            tally.lost[str(first.reason)] += 1
    if kept:
        writer.add(_table(batch, kept, kind, writes))
        tally.written += len(kept)
        _count_tokens(kept, writes, tally)
    if lost:
        writer.reject(_rejected_table(batch, lost, kind, writes))


def _without_duplicates(
    outcomes: list[Outcome], journal: Journal, kind: RowKind, source: Source
) -> list[Outcome]:
    if source.id_column != "raw_id":
        return outcomes
    return [
        outcome
        if outcome.fate != "passed" or journal.write_once(_output_id(outcome, kind))
        else rejected(outcome.row_id, "duplicate", f"same as {_output_id(outcome, kind)}")
        for outcome in outcomes
    ]


def _output_id(outcome: Outcome, kind: RowKind) -> str:
    return str((outcome.updates or {})[id_column(kind)])


def _fate(outcomes: list[Outcome], row_id: str) -> str:
    fates = {outcome.fate for outcome in outcomes}
    assert fates, f"row {row_id} has no outcome"
    for fate in ("failed", "passed", "rejected"):
        if fate in fates:
            return fate
    raise AssertionError(fates)


def _count_tokens(kept: list[tuple[int, Outcome]], writes: tuple[str, ...], tally: Tally) -> None:
    for name in ("prompt_tokens", "completion_tokens"):
        if name in writes:
            tally.tokens[name] += sum((o.updates or {}).get(name) or 0 for _, o in kept)


def _table(
    batch: pa.RecordBatch, kept: list[tuple[int, Outcome]], kind: RowKind, writes: tuple[str, ...]
) -> pa.Table:
    """The rows' columns, with those that the stage wrote in their place."""
    base = batch.take(pa.array([index for index, _ in kept], pa.int32()))
    updates: list[Row] = [outcome.updates or {} for _, outcome in kept]
    columns = [
        pa.array([row.get(f.name) for row in updates], f.type)
        if f.name in writes
        else _column(base, f)
        for f in schema_of(kind)
    ]
    return pa.Table.from_arrays(columns, schema=schema_of(kind))


def _column(base: pa.RecordBatch, wanted: pa.Field) -> pa.Array:
    if wanted.name in base.schema.names:
        return base[wanted.name].cast(wanted.type)
    return pa.nulls(base.num_rows, wanted.type)


def _rejected_table(
    batch: pa.RecordBatch, lost: list[tuple[int, Outcome]], kind: RowKind, writes: tuple[str, ...]
) -> pa.Table:
    """The input rows that were not passed on, with the reason.

    They keep their own columns; only what an outcome says of them is put in.
    """
    said = tuple({name for _, outcome in lost for name in outcome.updates or ()} & set(writes))
    table = _table(batch, lost, kind, said)
    reasons: Iterator[tuple[Any, ...]] = zip(*((o.reason, o.detail) for _, o in lost), strict=True)
    for name, values in zip(("reject_reason", "reject_detail"), reasons, strict=True):
        table = table.append_column(name, pa.array(values, pa.string()))
    return table
