"""show: rows of a dataset, for eyes or for jq.

cotdata show d/W -n 2
cotdata show d/W --where "completion_tokens < 40" --json | jq .trace
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import new_app, reader_may_leave
from cotdata.conditions import matches
from cotdata.schema import Row
from cotdata.store import Dataset, open_dataset

app = new_app()


@app.command(epilog="Example: cotdata show d/W -n 2")
def show(
    source: opt.Input,
    n: int = typer.Option(3, "-n", "--n", min=1, help="Rows to print."),
    where: str | None = typer.Option(None, metavar="SQL", help="Only rows that meet a condition."),
    column: list[str] = typer.Option([], "--column", "-c", help="Only these columns."),
    rejects: bool = typer.Option(False, "--rejected", help="The rows that were not passed on."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object a line."),
) -> None:
    """Print rows of a dataset."""
    dataset = open_dataset(opt.resolve_input(source))
    folder = "rejected" if rejects else "data"
    with reader_may_leave():
        for row in itertools.islice(_rows(dataset, folder, where), n):
            kept = {name: row[name] for name in column} if column else row
            print(json.dumps(kept, ensure_ascii=False, default=str) if as_json else _pretty(kept))


def _rows(dataset: Dataset, folder: str, where: str | None) -> Iterator[Row]:
    for batch in dataset.batches(folder=folder):
        table = pa.Table.from_batches([batch])
        yield from table.filter(pa.array(matches(batch, where))).to_pylist()


def _pretty(row: Row) -> str:
    """Columns that hold something; long texts below their name."""
    lines = [f"── {row.get('trace_id') or row.get('problem_id') or ''}"]
    for name, value in row.items():
        if value is None or value == []:
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if "\n" in text or len(text) > 90:
            lines.append(f"{name}:")
            lines += [f"    {line}" for line in text.splitlines()]
        else:
            lines.append(f"{name}: {text}")
    return "\n".join(lines)
