"""How long traces are, in one unit for all the datasets that are compared.

    unit = common_unit([open_dataset("d/G"), open_dataset("d/W")], tokenizer=None)
    unit.lengths(batch)        # one number per row

`completion_tokens` is such a unit only where one model wrote every trace as it
stands: tokens of two tokenizers do not compare, an edited trace has another
length than its column says, and a separate reasoning is counted but not trained
on. Elsewhere a tokenizer counts, or, without one, characters do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from cotdata.errors import InputError, MissingPackage
from cotdata.store import Dataset

COUNTED = "completion_tokens"
CHARACTERS = "characters"
TOLD = (COUNTED, "origin", "generator", "reasoning")


@dataclass(frozen=True)
class Unit:
    """`name` says what is counted; with `tokenizer` set it is that one's tokens."""

    name: str
    tokenizer: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return (COUNTED,) if self.name == COUNTED else ("trace",)

    def lengths(self, batch: pa.RecordBatch) -> list[int]:
        if self.name == COUNTED:
            return list(batch[COUNTED].to_pylist())
        texts = [text or "" for text in batch["trace"].to_pylist()]
        return self._count(texts) if self.tokenizer and texts else [len(text) for text in texts]

    @cached_property
    def _count(self) -> Callable[[list[str]], list[int]]:
        tokenizer = load_tokenizer(str(self.tokenizer))

        def count(texts: list[str]) -> list[int]:
            found = tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
            return [len(ids) for ids in found]

        return count


def common_unit(datasets: Iterable[Dataset], tokenizer: str | None) -> Unit:
    if tokenizer is not None:
        return Unit(name="tokens", tokenizer=tokenizer)
    writers: set[str | None] = set()
    for dataset in datasets:
        for batch in dataset.batches(TOLD):
            writers.update(map(_writer, batch.to_pylist()))
            if None in writers or len(writers) > 1:
                return Unit(name=CHARACTERS)
    return Unit(name=COUNTED)


def _writer(row: dict[str, Any]) -> str | None:
    """The model whose tokens the row's column counts; None if it counts something else."""
    generator = row["generator"] or {}
    is_as_written = row["origin"] in ("model", "paraphrase") and not row["reasoning"]
    if row[COUNTED] is None or not is_as_written:
        return None
    return generator.get("model")


def load_tokenizer(name: str) -> Any:
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingPackage("transformers", "transformers") from error
    try:
        return AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no tokenizer can be read there: {str(error).splitlines()[0]}",
            where=name,
            hint="give a model folder or a Hub name to --tokenizer",
        ) from error
