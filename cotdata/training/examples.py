"""From a trace row to the token ids a student is trained on.

    example = build_example(row, tokenizer, style="plain", num_shots=0)
    example.ids[example.num_prompt :]    # what the loss is computed on

Prompt and completion come from `cotdata.prompts`, tokenised apart: the prompt's
ids are those that `sample` and `eval` ask with. Nothing is ever truncated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from cotdata.errors import InputError
from cotdata.prompts import PromptStyle, build_prompt, completion_ids, prompt_ids
from cotdata.schema import Row
from cotdata.tasks import get_task
from cotdata.training.options import TooLong

IGNORED = -100
BATCH_ROWS = 1000
EXAMPLE_SCHEMA = pa.schema(
    [("input_ids", pa.list_(pa.int32())), ("labels", pa.list_(pa.int32()))]
)  # fmt: skip

RowSource = Callable[[], Iterable[Row]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """`num_prompt` is where the completion starts in `ids`."""

    ids: list[int]
    num_prompt: int

    @property
    def labels(self) -> list[int]:
        return [IGNORED] * self.num_prompt + self.ids[self.num_prompt :]

    @property
    def num_trained(self) -> int:
        return len(self.ids) - self.num_prompt


@dataclass(kw_only=True, slots=True)
class Coverage:
    """What became of the rows: every row is used or dropped for one reason."""

    rows: int = 0
    used: int = 0
    tokens: int = 0
    trained_tokens: int = 0
    longest: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def line(self) -> str:
        why = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.dropped.items()))
        return (
            f"{self.rows:,} traces read, {self.used:,} trained on"
            f"{f' (dropped: {why})' if why else ''}; "
            f"{self.tokens:,} tokens, {self.trained_tokens:,} of them in the loss, "
            f"the longest example {self.longest:,}"
        )


def build_example(row: Row, tokenizer: Any, *, style: PromptStyle, num_shots: int) -> Example:
    prompt = build_prompt(get_task(row["task"]), row, style=style, num_shots=num_shots)
    asked = prompt_ids(tokenizer, prompt)
    return Example(ids=asked + completion_ids(tokenizer, row["trace"]), num_prompt=len(asked))


@dataclass(frozen=True, kw_only=True)
class ExampleBuilder:
    """Rows in, examples out, each row counted; rules for rows that do not fit."""

    tokenizer: Any
    style: PromptStyle
    num_shots: int
    max_length: int
    too_long: TooLong
    coverage: Coverage = field(default_factory=Coverage)

    def examples(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            self.coverage.rows += 1
            if not (row["trace"] or "").strip():
                self.coverage.dropped["empty_trace"] += 1
                continue
            example = build_example(
                row, self.tokenizer, style=self.style, num_shots=self.num_shots
            )  # fmt: skip
            if self._fits(example, row):
                self._count(example)
                yield example

    def _fits(self, example: Example, row: Row) -> bool:
        if len(example.ids) <= self.max_length:
            return True
        if self.too_long == "refuse":
            raise InputError(
                f"{len(example.ids):,} tokens with its prompt, and max-length is "
                f"{self.max_length:,}; a truncated answer would be learned",
                where=str(row.get("trace_id")),
                hint="raise --max-length, filter the set by length, or take --too-long drop",
            )
        self.coverage.dropped["too_long"] += 1
        return False

    def _count(self, example: Example) -> None:
        assert example.num_trained > 0, "a completion always ends in its end token"
        self.coverage.used += 1
        self.coverage.tokens += len(example.ids)
        self.coverage.trained_tokens += example.num_trained
        self.coverage.longest = max(self.coverage.longest, len(example.ids))


def write_examples(examples: Iterable[Example], place: Path) -> None:
    """An Arrow stream that TRL maps into memory, so the set may be larger than it."""
    with pa.OSFile(str(place), "wb") as file, pa.ipc.new_stream(file, EXAMPLE_SCHEMA) as writer:
        waiting: list[Example] = []
        for example in examples:
            waiting.append(example)
            if len(waiting) == BATCH_ROWS:
                writer.write_batch(_record_batch(waiting))
                waiting = []
        if waiting:
            writer.write_batch(_record_batch(waiting))


def _record_batch(examples: list[Example]) -> pa.RecordBatch:
    columns = {
        "input_ids": [example.ids for example in examples],
        "labels": [example.labels for example in examples],
    }
    return pa.RecordBatch.from_pydict(columns, schema=EXAMPLE_SCHEMA)
