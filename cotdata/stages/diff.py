"""diff: what sets two datasets apart, row by row, by id.

Exit status 0 where they hold the same rows, 3 where they do not.

    cotdata diff d/verified-old d/verified-new
"""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from cotdata import options as opt
from cotdata.command import new_app
from cotdata.comparison import compare
from cotdata.schema import COLUMNS
from cotdata.store import open_dataset

app = new_app()


@app.command(epilog="Example: cotdata diff d/verified-old d/verified-new")
def diff(
    one: opt.Input,
    other: str = typer.Argument(..., metavar="OTHER", help="The dataset to compare with."),
    n: int = typer.Option(5, "-n", "--n", min=0, help="Changed rows to print per column."),
    as_json: opt.AsJson = False,
) -> None:
    """Compare two datasets row by row."""
    left, right = open_dataset(opt.resolve_input(one)), open_dataset(other)
    columns = [column.name for column in COLUMNS[left.kind]]
    found = compare(left, right, columns, num_examples=n)
    if as_json:
        print(json.dumps(asdict(found), ensure_ascii=False, default=str))
    elif found.equal:
        print("equal: the same rows")
    else:
        print(f"{found.only_left:,} rows only in {one}, {found.only_right:,} only in {other}")
        for column, count in found.counts.items():
            print(f"{count:,} rows differ in {column}")
            for change in found.examples:
                if change.column == column:
                    print(f"    {change.row_id}: {change.left!r} -> {change.right!r}")
    if not found.equal:
        raise typer.Exit(3)
