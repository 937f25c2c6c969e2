"""Rows from outside, before any task has read them.

A local JSONL, JSON, CSV or Parquet file, a dataset on the Hub, or a generator.
Every row becomes one JSON text with its number, so nothing guesses types: a CSV
cell and the string "016" stay text.

    raw = open_raw("gsm8k_train.jsonl", task=get_task("gsm8k"), split=None)
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cotdata import countdown
from cotdata.errors import DatasetError, InputError, UsageError
from cotdata.manifest import Step
from cotdata.schema import Row
from cotdata.seeds import stable_hash
from cotdata.store import BATCH_ROWS
from cotdata.tasks import Task, task_names

RAW_SCHEMA = pa.schema([("raw_id", pa.string()), ("raw", pa.string())])
HUB = re.compile(
    r"hf:(?P<repo>[^@:]+)(@(?P<revision>[^:]+))?(:((?P<config>[^/]+)/)?(?P<split>.+))?"
)
SPLIT_IN_NAME = re.compile(r"(?:^|[^a-z])(train|test|validation|dev)(?:[^a-z]|$)")


@dataclass(frozen=True, kw_only=True)
class RawRows:
    """`read` yields the rows afresh on each call; `digest` is of their content."""

    name: str
    digest: str
    split: str
    license: str | None
    read: Callable[[], Iterator[Row]]
    num_rows: int | None = None

    id_column = "raw_id"

    @property
    def parent(self) -> dict[str, str]:
        return {"id": self.name, "digest": self.digest, "stage": "source"}

    def batches(
        self, columns: tuple[str, ...] | None = None, *, limit: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        rows = enumerate(itertools.islice(self.read(), limit))
        while chunk := list(itertools.islice(rows, BATCH_ROWS)):
            raw = [json.dumps(row, ensure_ascii=False, default=str) for _, row in chunk]
            ids = [str(number) for number, _ in chunk]
            yield pa.RecordBatch.from_arrays([pa.array(ids), pa.array(raw)], schema=RAW_SCHEMA)

    def check_files(self) -> None:
        if next(self.read(), None) is None:
            raise InputError("the source holds no rows", where=self.name)

    def ancestors(self) -> list[Step]:
        return []


def open_raw(source: str, task: Task, split: str | None) -> RawRows:
    if source.startswith("countdown:"):
        return _generated(source)
    if source.startswith("hf:"):
        return _from_hub_address(source, task, split)
    if source in task_names() and not Path(source).exists():
        return _from_hub_name(source, task, split)
    return _from_file(Path(source), split)


def _generated(source: str) -> RawRows:
    spec = countdown.parse_spec(source)
    return RawRows(
        name=source,
        digest=f"{stable_hash('generated', countdown.VERSION, source):016x}",
        split=spec.split,
        license="Apache-2.0",
        read=lambda: countdown.generate(spec),
        num_rows=spec.num_problems,
    )


def _from_file(path: Path, split: str | None) -> RawRows:
    if not path.is_file():
        raise InputError(
            "no such file",
            where=str(path),
            hint=f"give a JSONL, JSON, CSV or Parquet file, hf:org/name, countdown:…, or one of: "
            f"{', '.join(task_names())}",
        )
    if path.suffix not in READERS:
        raise UsageError(
            f"cannot read {path.suffix or 'a file without ending'}",
            where=str(path),
            hint=f"known endings: {', '.join(READERS)}",
        )
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    named = SPLIT_IN_NAME.search(path.stem)
    return RawRows(
        name=path.name,
        digest=digest,
        split=split or (named[1] if named else "train"),
        license=None,
        read=lambda: READERS[path.suffix](path),
    )


def _read_jsonl(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _object(line, f"{path}:{number}")


def _object(text: str, where: str) -> Row:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} (column {error.colno})", where=where) from error
    if not isinstance(row, dict):
        raise InputError(f"expected one object a row, found {type(row).__name__}", where=where)
    return row


def _read_json(path: Path) -> Iterator[Row]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}"
        raise InputError(f"not JSON: {error.msg} (column {error.colno})", where=where) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError("expected a list of objects", where=str(path))
    yield from rows


def _read_csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file, strict=True):
            if None in row or None in row.values():
                raise InputError(
                    "the line has another number of fields than the header", where=f"{path}"
                )
            yield dict(row)


def _read_parquet(path: Path) -> Iterator[Row]:
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                yield from batch.to_pylist()
    except pa.ArrowInvalid as error:
        raise InputError(f"not Parquet: {error}", where=str(path)) from error


READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}


def _from_hub_name(name: str, task: Task, split: str | None) -> RawRows:
    if task.source is None:
        raise UsageError(f"the task {name!r} names no source on the Hub", hint="give a file")
    return _from_hub(
        task.source.repo, None, task.source.config, split or "train", task.source.license
    )


def _from_hub_address(address: str, task: Task, split: str | None) -> RawRows:
    match = HUB.fullmatch(address)
    if match is None:
        raise UsageError(
            "not a Hub address", where=address, hint="write hf:org/name[@revision][:config/split]"
        )
    known = task.source is not None and task.source.repo == match["repo"]
    stated = task.source.license if known and task.source else None
    wanted = split or match["split"] or "train"
    return _from_hub(match["repo"], match["revision"], match["config"], wanted, stated)


def _from_hub(
    repo: str, revision: str | None, config: str | None, split: str, license: str | None
) -> RawRows:
    from datasets import load_dataset
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        commit = HfApi().dataset_info(repo, revision=revision).sha
        rows: Any = load_dataset(repo, config, split=split, revision=commit)
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise DatasetError(
            f"cannot load from the Hub: {error}",
            where=f"hf:{repo}",
            hint="check name, config and split, your network, and HF_TOKEN for a private dataset",
        ) from error
    assert commit is not None
    return RawRows(
        name=f"hf:{repo}@{commit[:12]}:{config or 'default'}/{split}",
        digest=f"{commit}/{config}/{split}",
        split=split,
        license=license,
        read=lambda: iter(rows),
        num_rows=len(rows),
    )
