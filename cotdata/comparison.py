"""What sets two datasets apart, row by row, matched by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow.dataset as ds

from cotdata.errors import InputError
from cotdata.store import Dataset


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    row_id: str
    column: str
    left: Any
    right: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """`counts` has the number of changed rows per column, `examples` a few of them."""

    only_left: int
    only_right: int
    counts: dict[str, int]
    examples: list[Change]

    @property
    def equal(self) -> bool:
        return not (self.only_left or self.only_right or self.counts)


def compare(
    left: Dataset, right: Dataset, columns: Sequence[str], *, num_examples: int
) -> Comparison:
    if left.kind != right.kind:
        raise InputError(
            f"{left.location} holds {left.kind}s, {right.location} holds {right.kind}s",
            hint="compare datasets of one kind",
        )
    key, counts, examples = left.id_column, {}, []
    with duckdb.connect(":memory:") as connection:
        for name, dataset in (("l", left), ("r", right)):
            connection.register(name, _scanned(dataset))

        def rows(query: str) -> list[tuple[Any, ...]]:
            return list(connection.execute(query).fetchall())

        for column in columns:
            changed = (
                f"SELECT {key}, l.{column} AS a, r.{column} AS b FROM l JOIN r USING ({key}) "  # noqa: S608
                f"WHERE l.{column} IS DISTINCT FROM r.{column}"
            )
            ((count,),) = rows(f"SELECT count(*) FROM ({changed})")  # noqa: S608
            if count:
                counts[column] = count
                examples += [
                    Change(row_id=row_id, column=column, left=a, right=b)
                    for row_id, a, b in rows(f"{changed} LIMIT {num_examples}")
                ]
        ((only_left,),) = rows(f"SELECT count(*) FROM l ANTI JOIN r USING ({key})")  # noqa: S608
        ((only_right,),) = rows(f"SELECT count(*) FROM r ANTI JOIN l USING ({key})")  # noqa: S608
    return Comparison(only_left=only_left, only_right=only_right, counts=counts, examples=examples)


def _scanned(dataset: Dataset) -> ds.Dataset:
    files = [f"{dataset.location.path}/{entry.path}" for entry in dataset.files("data")]
    return ds.dataset(files, filesystem=dataset.location.filesystem, format="parquet")
