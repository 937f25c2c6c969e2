"""Datasets on disk: a folder of Parquet files with a manifest written last.

    dataset = open_dataset("runs/gsm8k")
    for batch in dataset.batches(["problem_id", "trace"]): ...

Reading never loads a whole file; writing keeps one row group in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cotdata.errors import DamagedDataset, DatasetError, InputError
from cotdata.locations import Location
from cotdata.manifest import MANIFEST, FileEntry, Manifest, Step
from cotdata.schema import RowKind, id_column, kind_of, rejected_schema, schema_of

BATCH_ROWS = 1000
# Part of what makes a rerun byte-identical: change them only with the format.
GROUP_ROWS = 2000
GROUPS_PER_FILE = 100
FILE_BYTES = 1 << 28
DEFAULT_SPLIT = "train"
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Dataset:
    """A finished dataset. `name` is its folder's name, for people."""

    location: Location
    manifest: Manifest

    @property
    def id(self) -> str:
        return self.manifest.id

    @property
    def kind(self) -> RowKind:
        return self.manifest.kind

    @property
    def id_column(self) -> str:
        return id_column(self.kind)

    @property
    def parent(self) -> dict[str, str]:
        manifest = self.manifest
        return {"id": manifest.id, "digest": manifest.digest, "stage": manifest.stage}

    @cached_property
    def num_rows(self) -> int:
        return sum(entry.rows for entry in self.files("data"))

    @property
    def schema(self) -> pa.Schema:
        return schema_of(self.kind)

    def tasks(self) -> set[str]:
        found: set[str] = set()
        for batch in self.batches(["task"]):
            found.update(batch["task"].unique().to_pylist())
        return found

    def files(self, folder: str, split: str | None = None) -> list[FileEntry]:
        start = f"{folder}/{split}-" if split else f"{folder}/"
        return [entry for entry in self.manifest.files if entry.path.startswith(start)]

    def batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        folder: str = "data",
        split: str | None = None,
        limit: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Batches of at most BATCH_ROWS rows in file order."""
        left = limit if limit is not None else -1
        for entry in self.files(folder, split):
            for batch in self._batches_of(entry, columns):
                if left == 0:
                    return
                kept = batch.slice(0, left) if left > 0 else batch
                left -= kept.num_rows if left > 0 else 0
                yield kept

    def _batches_of(
        self, entry: FileEntry, columns: Sequence[str] | None
    ) -> Iterator[pa.RecordBatch]:
        place = self.location.child(entry.path)
        try:
            with pq.ParquetFile(place.open(), pre_buffer=False) as file:
                kind_of(file.schema_arrow, str(place))
                yield from file.iter_batches(
                    BATCH_ROWS, columns=list(columns) if columns is not None else None
                )
        except (pa.ArrowInvalid, OSError) as error:
            raise DamagedDataset(f"cannot be read: {error}", where=str(place)) from error

    def ancestors(self) -> list[Step]:
        return self.manifest.lineage()

    def check_files(self) -> None:
        """Compare every file with its size and sha256 in the manifest."""
        for entry in self.manifest.files:
            place = self.location.child(entry.path)
            if not place.exists():
                raise DamagedDataset(
                    "the file is missing", where=str(place), hint="make the dataset again"
                )
            with place.open() as stream:
                seen = _sha256(stream)
            if seen != entry.sha256:
                raise DamagedDataset(
                    f"the file changed since it was written: sha256 is {seen[:12]}…, "
                    f"the manifest says {entry.sha256[:12]}…",
                    where=str(place),
                    hint="restore it, or delete the dataset and make it again",
                )


def open_dataset(address: str, *, kind: RowKind | None = None) -> Dataset:
    location = Location.parse(address)
    manifest = read_manifest(location)
    if manifest is None:
        raise DatasetError(
            "no dataset here: there is no manifest.json",
            where=address,
            hint="an unfinished run has none yet: run its command again to finish it"
            if location.exists()
            else "give a folder that a cotdata stage wrote",
        )
    if kind is not None and manifest.kind != kind:
        raise InputError(
            f"this stage reads {kind}s, but {address} holds {manifest.kind}s",
            hint=NEXT_STAGE[manifest.kind],
        )
    return Dataset(location, manifest)


NEXT_STAGE = {
    "problem": "make traces first, with: cotdata sample, or cotdata human",
    "trace": "give the dataset of problems that the traces were made from",
}


def read_manifest(location: Location) -> Manifest | None:
    place = location.child(MANIFEST)
    if not place.exists():
        return None
    try:
        return Manifest.loads(place.read_json(), str(place))
    except json.JSONDecodeError as error:
        raise DamagedDataset(f"not JSON: {error}", where=str(place)) from error


class Digest:
    """A digest of rows that does not depend on their order.

    The sum modulo 2^256 of BLAKE2b over each row's JSON without its nulls, so a
    column added to the schema later leaves old digests as they are.
    """

    def __init__(self) -> None:
        self._sum = 0

    def add(self, table: pa.Table) -> None:
        for row in table.to_pylist():
            content = {name: value for name, value in row.items() if value is not None}
            text = ENCODER.encode(content)
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32)
            self._sum += int.from_bytes(digest.digest(), "big")

    def hexdigest(self) -> str:
        return f"{self._sum % (1 << 256):064x}"


class DatasetWriter:
    """Writes `data/` and `rejected/` below a work folder, one set of files per split."""

    def __init__(self, folder: Path, kind: RowKind) -> None:
        self._folder = folder
        self._schemas = {"data": schema_of(kind), "rejected": rejected_schema(kind)}
        self._parts: dict[tuple[str, str], SplitWriter] = {}
        self.digest = Digest()
        self.licenses: set[str] = set()
        self.sources: set[str] = set()

    def add(self, table: pa.Table) -> None:
        self.digest.add(table)
        self.licenses.update(filter(None, table["license"].unique().to_pylist()))
        self.sources.update(filter(None, table["source"].unique().to_pylist()))
        self._write("data", table)

    def reject(self, table: pa.Table) -> None:
        self._write("rejected", table)

    def _write(self, folder: str, table: pa.Table) -> None:
        table = table.cast(self._schemas[folder])
        splits = table["split"].fill_null(DEFAULT_SPLIT)
        for split in splits.unique().to_pylist():
            self._part(folder, split).add(table.filter(pc.equal(splits, split)))

    def _part(self, folder: str, split: str) -> SplitWriter:
        if (folder, split) not in self._parts:
            self._parts[folder, split] = SplitWriter(
                self._folder / folder, split, self._schemas[folder]
            )
        return self._parts[folder, split]

    def close(self) -> list[FileEntry]:
        """Finish all files under their Hub names. An empty dataset still has a file."""
        if not any(folder == "data" for folder, _ in self._parts):
            self._part("data", DEFAULT_SPLIT)
        parts = [self._parts[key] for key in sorted(self._parts)]
        return [entry for part in parts for entry in part.close()]


class SplitWriter:
    """One split's files: full row groups of GROUP_ROWS, files of bounded size."""

    def __init__(self, folder: Path, split: str, schema: pa.Schema) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._split, self._schema = folder, split, schema
        self._waiting: list[pa.Table] = []
        self._num_waiting = 0
        self._writer: pq.ParquetWriter | None = None
        self._groups = self._bytes = 0
        self._rows: list[int] = []

    def add(self, table: pa.Table) -> None:
        self._waiting.append(table)
        self._num_waiting += table.num_rows
        if self._num_waiting >= GROUP_ROWS:
            self._write_groups(GROUP_ROWS)

    def _write_groups(self, at_least: int) -> None:
        table = pa.concat_tables(self._waiting).combine_chunks()
        start = 0
        while table.num_rows - start >= at_least and start < table.num_rows:
            self._write_group(table.slice(start, GROUP_ROWS))
            start += GROUP_ROWS
        rest = table.slice(min(start, table.num_rows))
        self._waiting = [rest] if rest.num_rows else []
        self._num_waiting = rest.num_rows

    def _write_group(self, group: pa.Table) -> None:
        if self._groups >= GROUPS_PER_FILE or self._bytes >= FILE_BYTES:
            self._end_file()
        if self._writer is None:
            self._writer = self._start_file()
        self._writer.write_table(group, row_group_size=GROUP_ROWS)
        self._groups += 1
        self._bytes += group.nbytes
        self._rows[-1] += group.num_rows

    def _start_file(self) -> pq.ParquetWriter:
        self._groups = self._bytes = 0
        self._rows.append(0)
        return pq.ParquetWriter(
            self._unnumbered(len(self._rows) - 1),
            self._schema,
            compression="zstd",
            compression_level=3,
            write_page_index=True,
            use_content_defined_chunking=True,
        )

    def _end_file(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def _unnumbered(self, number: int) -> Path:
        return self._folder / f"{self._split}-{number:05d}.parquet.part"

    def close(self) -> list[FileEntry]:
        if self._waiting:
            self._write_groups(1)
        if not self._rows:
            self._writer = self._start_file()
        self._end_file()
        return [self._name(number) for number in range(len(self._rows))]

    def _name(self, number: int) -> FileEntry:
        name = f"{self._split}-{number:05d}-of-{len(self._rows):05d}.parquet"
        path = self._unnumbered(number).rename(self._folder / name)
        with path.open("rb") as stream:
            return FileEntry(
                path=f"{self._folder.name}/{name}",
                sha256=_sha256(stream),
                bytes=path.stat().st_size,
                rows=self._rows[number],
            )


def _sha256(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := stream.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()
