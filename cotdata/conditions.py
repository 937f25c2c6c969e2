"""SQL conditions over a dataset's columns, evaluated by DuckDB.

The connection sees the batch and nothing else: no file, no network.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa

from cotdata.errors import UsageError


def matches(batch: pa.RecordBatch, where: str | None) -> list[bool]:
    """Whether the condition is true for each row; null counts as false."""
    if where is None:
        return [True] * batch.num_rows
    config = {"enable_external_access": "false"}
    with duckdb.connect(":memory:", config=config) as connection:
        connection.register("rows", pa.Table.from_batches([batch]))
        try:
            found = connection.sql(f"SELECT coalesce(({where}), false) FROM rows")  # noqa: S608
            return [bool(value) for (value,) in found.fetchall()]
        except duckdb.Error as error:
            raise UsageError(
                f"--where is not a condition that DuckDB takes: {error}",
                hint=f"the columns: {', '.join(batch.schema.names)}",
            ) from error
