"""check: whether a dataset is whole.

Compares every file with its sha256, the rows with the content digest, the
counts with each other, and looks for ids that occur twice. Exit status 1 with
the first fault found.

    cotdata check d/W
"""

from __future__ import annotations

import sqlite3

from cotdata import options as opt
from cotdata.command import new_app
from cotdata.errors import DamagedDataset
from cotdata.store import Dataset, Digest, open_dataset

app = new_app()


@app.command(epilog="Example: cotdata check d/W")
def check(source: opt.Input, quiet: opt.Quiet = False) -> None:
    """Check a dataset's files, digest, ids and counts."""
    place = opt.resolve_input(source)
    dataset = open_dataset(place)
    dataset.check_files()
    rows = _check_rows(dataset)
    fates = dataset.manifest.fates
    if rows != fates.written:
        raise DamagedDataset(f"{rows:,} rows, the manifest says {fates.written:,}", where=place)
    if not quiet:
        print(f"{place}: whole, {rows:,} {dataset.kind}s, digest {dataset.manifest.digest[:12]}…")


def _check_rows(dataset: Dataset) -> int:
    """Digest and ids in one pass; the ids are held on disk, not in memory."""
    digest, rows = Digest(), 0
    with sqlite3.connect("") as seen:
        seen.execute("CREATE TABLE ids (id TEXT PRIMARY KEY) WITHOUT ROWID")
        for batch in dataset.batches():
            digest.add(batch)
            rows += batch.num_rows
            for row_id in batch[dataset.id_column].to_pylist():
                try:
                    seen.execute("INSERT INTO ids VALUES (?)", (row_id,))
                except sqlite3.IntegrityError as error:
                    raise DamagedDataset(
                        f"the id {row_id} occurs twice", where=str(dataset.location)
                    ) from error
    if digest.hexdigest() != dataset.manifest.digest:
        raise DamagedDataset(
            "the rows differ from the manifest's digest", where=str(dataset.location)
        )
    return rows
