"""How surprising a trace is to a student: the negative log-likelihood of its tokens.

    scorer = open_scorer("models/smollm2", ScoreSettings(style="chat"))
    for score in scorer.scores(rows):
        score.trace_id, score.nll_per_token

The ids are those of training: the asked prompt, then the trace and its end token,
each counted once. Prompt tokens have no part in the score. Values of different
dtypes differ by up to 0.7 nats on a token, so `scored_by` names the dtype and the
engine, and scores of different ones must not be compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cotdata.errors import InputError
from cotdata.prompts import PromptStyle
from cotdata.schema import Row
from cotdata.training.examples import Example, build_example

if TYPE_CHECKING:
    import torch

Dtype = Literal["float32", "bfloat16"]

WINDOW_ROWS = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSettings:
    """`batch_tokens` bounds a batch with its padding, and so the memory it takes."""

    style: PromptStyle = "plain"
    num_shots: int = 0
    dtype: Dtype = "float32"
    batch_tokens: int = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """`tokens` are the trace's and its end token's, in order, in nats."""

    trace_id: str
    tokens: list[float]

    @property
    def nll(self) -> float:
        return sum(self.tokens)

    @property
    def nll_per_token(self) -> float:
        return self.nll / len(self.tokens)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unscored:
    """A trace that the student has no room for."""

    trace_id: str
    reason: str
    detail: str


Item = tuple[str, Example]


@dataclass(frozen=True, kw_only=True)
class Scorer:
    model: Any
    tokenizer: Any
    settings: ScoreSettings
    max_positions: int

    @property
    def scored_by(self) -> dict[str, str]:
        from importlib.metadata import version

        settings = self.settings
        return {
            "engine": "transformers",
            "engine_version": version("transformers"),
            "dtype": settings.dtype,
            "prompt_style": settings.style,
        }

    def scores(self, rows: Iterable[Row]) -> Iterator[Score | Unscored]:
        """In no particular order: rows of like length are scored together."""
        remaining = iter(rows)
        while window := list(itertools.islice(remaining, WINDOW_ROWS)):
            items: list[Item] = []
            for row in window:
                example = self._example(row)
                if len(example.ids) > self.max_positions:
                    yield self._too_long(row, example)
                else:
                    items.append((row["trace_id"], example))
            for batch in batches_by_length(items, self.settings.batch_tokens):
                yield from self._batch_scores(batch)

    def _example(self, row: Row) -> Example:
        settings = self.settings
        return build_example(
            row, self.tokenizer, style=settings.style, num_shots=settings.num_shots
        )  # fmt: skip

    def _too_long(self, row: Row, example: Example) -> Unscored:
        detail = f"{len(example.ids):,} tokens, the student takes {self.max_positions:,}"
        return Unscored(trace_id=row["trace_id"], reason="too_long", detail=detail)

    def _batch_scores(self, batch: list[Item]) -> Iterator[Score]:
        examples = [example for _, example in batch]
        values = completion_nll(self.model, examples)
        for (trace_id, _), tokens in zip(batch, values, strict=True):
            yield Score(trace_id=trace_id, tokens=tokens)


def open_scorer(place: str, settings: ScoreSettings) -> Scorer:
    import torch

    from cotdata.training.options import default_attention
    from cotdata.training.students import load_student

    student = load_student(
        place, bf16_weights=settings.dtype == "bfloat16", attention=default_attention()
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    limit = getattr(student.model.config.get_text_config(), "max_position_embeddings", None)
    if not limit:
        raise InputError("the config states no max_position_embeddings", where=place)
    return Scorer(
        model=student.model.eval().to(device),
        tokenizer=student.tokenizer,
        settings=settings,
        max_positions=limit,
    )


def batches_by_length(items: list[Item], batch_tokens: int) -> Iterator[list[Item]]:
    """Longest first, as many as fit when padded to the first; one always goes."""
    waiting = sorted(items, key=lambda item: (-len(item[1].ids), item[0]))
    while waiting:
        number = max(1, batch_tokens // len(waiting[0][1].ids))
        yield waiting[:number]
        waiting = waiting[number:]


def completion_nll(model: Any, examples: list[Example]) -> list[list[float]]:
    """Per example, the nats of each completion token."""
    import torch

    from cotdata.training.examples import IGNORED
    from cotdata.training.loss import can_share, hidden_states, shared_beginning, token_nll

    inputs, labels = padded(examples, model.device)
    with torch.inference_mode():
        start = shared_beginning(inputs, labels) if can_share(model) else 0
        hidden = hidden_states(model.base_model, inputs, start)[:, :-1]
        targets = labels[:, start + 1 :]
        trained = targets != IGNORED
        values = token_nll(model.get_output_embeddings(), hidden[trained], targets[trained])
    parts = values.cpu().split([example.num_trained for example in examples])
    return [part.tolist() for part in parts]


def padded(
    examples: list[Example], device: torch.device
) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    import torch

    from cotdata.training.examples import IGNORED

    longest = max(len(example.ids) for example in examples)
    gaps = [longest - len(example.ids) for example in examples]
    pairs = list(zip(examples, gaps, strict=True))
    ids = [example.ids + [0] * gap for example, gap in pairs]
    mask = [[1] * len(example.ids) + [0] * gap for example, gap in pairs]
    labels = [example.labels + [IGNORED] * gap for example, gap in pairs]
    inputs = {
        "input_ids": torch.tensor(ids, device=device),
        "attention_mask": torch.tensor(mask, device=device),
    }
    return inputs, torch.tensor(labels, device=device)
