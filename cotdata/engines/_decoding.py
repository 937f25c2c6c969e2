"""Batched decoding with a transformers model: rows come and go between steps.

    batch = Batch(model, ends=frozenset({2}), decode=tokenizer.decode)
    batch.admit([row]); finished = batch.step()

Rows are padded on the left; a finished row leaves the cache at the next admission
or when a quarter of the batch is done, and new rows join it. Every row draws from its
own generator, one number a token, so its text does not depend on the other rows
beyond rounding. Models that keep a recurrent state beside keys and values are not
supported.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cotdata.engines import FinishReason, Sampling

if TYPE_CHECKING:
    import torch


@dataclass(kw_only=True, slots=True, eq=False)
class DecodingRow:
    """A request being decoded; `text` is set once `finish_reason` is."""

    id: str
    prompt: list[int]
    sampling: Sampling
    limit: int
    draw: random.Random
    tokens: list[int] = field(default_factory=list)
    text: str = ""
    finish_reason: FinishReason | None = None


class Batch:
    def __init__(
        self, model: Any, *, ends: frozenset[int], decode: Callable[[list[int]], str]
    ) -> None:
        self.model = model
        self.ends = ends
        self.decode = decode
        self.rows: list[DecodingRow] = []
        self.cache: Any = None
        self.mask: Any = None

    def admit(self, rows: list[DecodingRow]) -> list[DecodingRow]:
        """Read the prompts and draw the first token of each; returns rows that end there."""
        import torch
        from transformers import DynamicCache

        width = max(len(row.prompt) for row in rows)
        ids = [[0] * (width - len(row.prompt)) + row.prompt for row in rows]
        real = [[0] * (width - len(row.prompt)) + [1] * len(row.prompt) for row in rows]
        mask = torch.tensor(real, device=self.model.device)
        cache = DynamicCache()
        logits = self._forward(torch.tensor(ids, device=self.model.device), mask, cache)
        self._join(cache, mask)
        self.rows += rows
        return self._extend(rows, logits)

    def step(self) -> list[DecodingRow]:
        """One more token for every row; returns the rows that are finished."""
        import torch

        last = torch.tensor([[row.tokens[-1]] for row in self.rows], device=self.model.device)
        self.mask = torch.nn.functional.pad(self.mask, (0, 1), value=1)
        return self._extend(self.rows, self._forward(last, self.mask, self.cache))

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor, cache: Any) -> torch.Tensor:
        import torch

        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        with torch.inference_mode():
            out = self.model(
                input_ids=ids, attention_mask=mask, position_ids=positions,
                past_key_values=cache, use_cache=True, logits_to_keep=1,
            )  # fmt: skip
            return out.logits[:, -1].float()

    def _extend(self, rows: list[DecodingRow], logits: torch.Tensor) -> list[DecodingRow]:
        for row, token in zip(rows, draw_tokens(logits, rows), strict=True):
            row.tokens.append(token)
            settle(row, self.ends, self.decode)
        finished = [row for row in rows if row.finish_reason]
        if finished:
            self._leave()
        return finished

    def _leave(self) -> None:
        import torch

        kept = [place for place, row in enumerate(self.rows) if not row.finish_reason]
        self.rows = [self.rows[place] for place in kept]
        if not kept:
            self.cache = self.mask = None
            return
        self.cache.batch_select_indices(torch.tensor(kept, device=self.model.device))
        self.mask = self.mask[kept]
        spare = int((self.mask.cumsum(-1) == 0).sum(-1).min())
        if spare:
            self.mask = self.mask[:, spare:]
            reshape_cache(self.cache, lambda states: states[:, :, spare:])

    def _join(self, cache: Any, mask: torch.Tensor) -> None:
        import torch

        if self.cache is None:
            self.cache, self.mask = cache, mask
            return
        more = mask.shape[1] - self.mask.shape[1]
        pad_left(self.cache, max(0, more))
        pad_left(cache, max(0, -more))
        old = torch.nn.functional.pad(self.mask, (max(0, more), 0))
        new = torch.nn.functional.pad(mask, (max(0, -more), 0))
        self.mask = torch.cat([old, new])
        for layer, added in zip(self.cache.layers, cache.layers, strict=True):
            layer.keys = torch.cat([layer.keys, added.keys])
            layer.values = torch.cat([layer.values, added.values])


def reshape_cache(cache: Any, change: Callable[[Any], Any]) -> None:
    for layer in cache.layers:
        layer.keys, layer.values = change(layer.keys), change(layer.values)


def pad_left(cache: Any, width: int) -> None:
    import torch

    if width:
        reshape_cache(cache, lambda states: torch.nn.functional.pad(states, (0, 0, width, 0)))


def draw_tokens(logits: torch.Tensor, rows: list[DecodingRow]) -> list[int]:
    """One number per row, looked up in the cumulated probabilities: no noise tensor to draw."""
    import torch

    with torch.inference_mode():
        greedy = logits.argmax(-1).tolist()
        warm = [place for place, row in enumerate(rows) if row.sampling.temperature > 0]
        if not warm:
            return list(greedy)
        heat = logits.new_tensor([[rows[place].sampling.temperature] for place in warm])
        top_p = logits.new_tensor([[rows[place].sampling.top_p] for place in warm])
        luck = logits.new_tensor([[rows[place].draw.random()] for place in warm])
        share = within_top_p(torch.softmax(logits[warm] / heat, -1), top_p).cumsum(-1)
        drawn = torch.searchsorted(share, luck * share[:, -1:], right=True)
        for place, token in zip(warm, drawn[:, 0].tolist(), strict=True):
            greedy[place] = min(token, logits.shape[-1] - 1)
    return list(greedy)


def within_top_p(share: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """The likeliest tokens whose shares reach top_p, the others at zero."""
    if bool((top_p >= 1).all()):
        return share
    ordered, places = share.sort(-1, descending=True)
    ordered = ordered.masked_fill(ordered.cumsum(-1) - ordered > top_p, 0.0)
    return share.new_zeros(share.shape).scatter(-1, places, ordered)


def settle(row: DecodingRow, ends: frozenset[int], decode: Callable[[list[int]], str]) -> None:
    """Finish the row if its last token or a stop text says so."""
    stopped = row.tokens[-1] in ends or any_stop(row, decode)
    if stopped or len(row.tokens) >= row.limit:
        text = decode(row.tokens)
        cuts = [text.find(stop) for stop in row.sampling.stop if stop in text]
        row.text = text[: min(cuts)] if cuts else text
        row.finish_reason = "stop" if stopped else "length"


def any_stop(row: DecodingRow, decode: Callable[[list[int]], str]) -> bool:
    """Only the tail is decoded: a token has at least one byte."""
    if not row.sampling.stop:
        return False
    reach = max(len(stop.encode()) for stop in row.sampling.stop)
    tail = decode(row.tokens[-reach - 4 :])
    return any(stop in tail for stop in row.sampling.stop)
