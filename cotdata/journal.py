"""The record of an unfinished run: what became of each input row, by its id.

A SQLite file in the run's work folder. An outcome is there once its transaction
is committed, so a killed run loses at most the outcomes of the last half second,
and a second run asks the journal which rows are still open. Rows may be settled
in any order; the journal does not know the order of the input.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cotdata.errors import CotdataError
from cotdata.schema import Row

Fate = Literal["passed", "rejected", "failed"]

COMMIT_EVERY_S = 0.5
ENCODER = json.JSONEncoder(ensure_ascii=False)
TABLES = """
CREATE TABLE IF NOT EXISTS outcome (
    row_id TEXT, part INTEGER, fate TEXT, reason TEXT, detail TEXT, updates TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS by_row ON outcome (row_id, part);
CREATE TABLE IF NOT EXISTS written (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS clock (wall_s REAL, started REAL);
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one part of an input row.

    `updates` are the columns that the stage writes; a stage that makes several
    rows of one numbers them by `part`.
    """

    row_id: str
    fate: Fate
    part: int = 0
    reason: str | None = None
    detail: str | None = None
    updates: Row | None = None


def passed(row_id: str, updates: Row, *, part: int = 0) -> Outcome:
    return Outcome(row_id=row_id, fate="passed", part=part, updates=updates)


def rejected(
    row_id: str, reason: str, detail: str = "", *, part: int = 0, updates: Row | None = None
) -> Outcome:
    """`updates` are columns that the rejected row shall hold, such as what was tried."""
    return Outcome(
        row_id=row_id, fate="rejected", part=part, reason=reason, detail=detail, updates=updates
    )


def failed(row_id: str, reason: str, detail: str = "", *, part: int = 0) -> Outcome:
    return Outcome(row_id=row_id, fate="failed", part=part, reason=reason, detail=detail)


class Journal:
    def __init__(self, path: Path) -> None:
        # An engine may pull rows from a thread of its own; the lock keeps calls apart.
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._lock = threading.Lock()
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.executescript(TABLES)
        start = "INSERT INTO clock SELECT 0, ? WHERE NOT EXISTS (SELECT 1 FROM clock)"
        self._db.execute(start, (time.time(),))
        self._open: list[Outcome] = []
        self._since = time.monotonic()

    def add(self, outcome: Outcome) -> None:
        self._open.append(outcome)
        if len(self._open) >= 2000 or time.monotonic() - self._since > COMMIT_EVERY_S:
            self.commit()

    def commit(self) -> None:
        now = time.monotonic()
        with self._transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO outcome VALUES (?, ?, ?, ?, ?, ?)", map(_record, self._open)
            )
            self._db.execute("UPDATE clock SET wall_s = wall_s + ?", (now - self._since,))
        self._open.clear()
        self._since = now

    def settled(self, row_ids: Sequence[str]) -> set[tuple[str, int]]:
        """The (row id, part) pairs that need no more work; failed ones do."""
        query = "SELECT row_id, part FROM outcome WHERE fate != 'failed' AND row_id IN ({})"
        return set(self._select(query, row_ids))

    def outcomes(
        self, row_ids: Sequence[str], only_part: int | None = None
    ) -> dict[str, list[Outcome]]:
        """The outcomes of each row in the order of its parts."""
        found: dict[str, list[Outcome]] = {row_id: [] for row_id in row_ids}
        query = "SELECT * FROM outcome WHERE row_id IN ({}) ORDER BY row_id, part"
        for row_id, part, fate, reason, detail, updates in self._select(query, row_ids):
            if only_part not in (None, part):
                continue
            row = json.loads(updates) if updates else None
            found[row_id].append(
                Outcome(
                    row_id=row_id, fate=fate, part=part, reason=reason, detail=detail, updates=row
                )
            )
        return found

    def num_settled(self) -> int:
        query = "SELECT count(*) FROM outcome WHERE fate != 'failed'"
        return int(self._db.execute(query).fetchone()[0])

    def clear(self) -> None:
        self._db.execute("DELETE FROM outcome")

    def forget_written(self) -> None:
        self._db.execute("DELETE FROM written")

    def write_once(self, output_id: str) -> bool:
        """False if an output row with this id was written before."""
        insert = "INSERT OR IGNORE INTO written VALUES (?)"
        return self._db.execute(insert, (output_id,)).rowcount == 1

    def failures(self) -> list[tuple[str, str, str]]:
        """(reason, detail, row id) of each failed row, at most a few per reason."""
        query = "SELECT reason, detail, row_id FROM outcome WHERE fate = 'failed'"
        return list(self._db.execute(query))

    def clock(self) -> tuple[float, float]:
        """Seconds worked in all sessions, and when the first one started (Unix time)."""
        wall_s, started = self._db.execute("SELECT wall_s, started FROM clock").fetchone()
        return float(wall_s), float(started)

    def close(self) -> None:
        self._db.close()

    def _select(self, query: str, row_ids: Iterable[str]) -> list[tuple[Any, ...]]:
        ids = list(row_ids)
        with self._lock:
            return self._db.execute(query.format(",".join("?" * len(ids))), ids).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with self._lock:
                self._db.execute("BEGIN")
                yield
                self._db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise CotdataError(
                f"cannot write the journal: {error}",
                hint="make room on the disk, then run the same command again: it resumes",
            ) from error


def _record(outcome: Outcome) -> tuple[str, int, str, str | None, str | None, str | None]:
    updates = None
    if outcome.updates is not None:
        updates = ENCODER.encode(outcome.updates)
    return (
        outcome.row_id, outcome.part, outcome.fate, outcome.reason, outcome.detail, updates,
    )  # fmt: skip
