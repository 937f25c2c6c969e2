"""Where a second opinion differs from our verdicts: a file beside the dataset, and a rate.

    found = disagreements(open_dataset("d/v"), "math-verify", workers=2)
    found.rate, found.rows

Only `correct` and `wrong` are compared; an opinion may also be silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat

from cotdata.errors import UnknownName
from cotdata.opinions import OPINIONS
from cotdata.schema import Row
from cotdata.store import Dataset

SHOWN = ("trace_id", "problem_id", "answer", "final_answer", "verdict", "verdict_reason", "trace")


@dataclass(frozen=True, kw_only=True, slots=True)
class Disagreements:
    """`num_asked` traces had a verdict and an opinion; `rows` are those that differ."""

    opinion: str
    num_asked: int
    rows: list[Row]

    @property
    def rate(self) -> float:
        return len(self.rows) / self.num_asked if self.num_asked else 0.0

    def line(self) -> str:
        share = f"{len(self.rows):,} of {self.num_asked:,} ({self.rate:.2%})"
        return f"{share} differ from {self.opinion}"


def disagreements(dataset: Dataset, opinion: str, *, workers: int) -> Disagreements:
    if opinion not in OPINIONS:
        raise UnknownName("second opinion", opinion, OPINIONS)
    num_asked, rows = 0, []
    with ThreadPoolExecutor(workers) as pool:
        for batch in _judged(dataset):
            opinions = pool.map(_opinion, batch, repeat(opinion))
            for row, said in zip(batch, opinions, strict=True):
                num_asked += said is not None
                if said is not None and said != (row["verdict"] == "correct"):
                    rows.append({name: row[name] for name in SHOWN} | {"second_opinion": said})
    return Disagreements(opinion=opinion, num_asked=num_asked, rows=rows)


def _opinion(row: Row, name: str) -> bool | None:
    return OPINIONS[name](row, row["trace"])


def _judged(dataset: Dataset) -> Iterator[list[Row]]:
    for batch in dataset.batches():
        yield [row for row in batch.to_pylist() if row["verdict"] in ("correct", "wrong")]
