"""What the rows of a dataset say of themselves, counted for the card."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from cotdata.schema import Row
from cotdata.store import Dataset

SHOWN = ("model", "revision", "engine", "prompt_style", "num_shots", "temperature", "top_p",
         "max_tokens")  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Each counter is over rows; a generator is its settings without the seed."""

    generators: Counter[tuple[tuple[str, str], ...]]
    verifiers: Counter[str]
    verdicts: Counter[str]
    origins: Counter[str]


def facts_of(dataset: Dataset) -> Facts:
    found = Facts(
        generators=Counter(), verifiers=Counter(), verdicts=Counter(), origins=Counter()
    )  # fmt: skip
    for batch in dataset.batches(["generator", "verifier", "verdict", "origin"]):
        found.generators.update(_settings(row) for row in batch["generator"].to_pylist() if row)
        found.verifiers.update(_values(batch, "verifier"))
        found.verdicts.update(_values(batch, "verdict"))
        found.origins.update(_values(batch, "origin"))
    return found


def _values(batch: pa.RecordBatch, column: str) -> list[str]:
    return list(batch[column].drop_null().to_pylist())


def _settings(generator: Row) -> tuple[tuple[str, str], ...]:
    shown = ((name, generator[name]) for name in SHOWN)
    return tuple((name, str(value)) for name, value in shown if value is not None)
