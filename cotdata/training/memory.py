"""Does a run fit? Bytes of weights, gradients, optimizer, activations and logits.

    plan = plan_memory(shape_of(config), options, longest=1024, bf16=True)
    print(plan.table()); print(advice(shape, options, longest=1024, bf16=True, capacity=80e9))

With N weights of which T are trained, L layers, width H, feed-forward width I,
query width A (heads times head size), vocabulary V, B·S tokens in a micro-batch,
and a the bytes of an activation (2 under bf16, else 4):

    weights      4N in full fine-tuning (float32, the copy that is updated), and 2N
                 more under bf16 for the cast; 2N or 4N frozen under adapters
    gradients    4T
    optimizer    8T (Adam's two moments in float32)
    activations  a·B·S·(L·(6H + 4A + 4I) + 2H) kept for the backward pass; with
                 checkpointing a·B·S·L·H and one layer's share of the former
    logits       3·4·C·V for the chunk of C positions whose loss is computed at once

Not in it: the libraries themselves, fragmentation, and what a cluster adds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cotdata.training.options import TrainOptions

# The loss's chunk on a CPU (training.loss) and a bound for TRL's tiles on a GPU.
HEAD_CHUNK = 512
GIB = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    num_parameters: int
    num_linear: int
    layers: int
    hidden: int
    intermediate: int
    query: int
    vocabulary: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPlan:
    """All in bytes, per device, nothing sharded."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    logits: int

    @property
    def total(self) -> int:
        return sum(dataclasses.astuple(self))

    def table(self) -> str:
        rows = [*dataclasses.asdict(self).items(), ("total", self.total)]
        return "\n".join(f"{name:<12} {size / GIB:8.2f} GiB" for name, size in rows)


def shape_of(config: Any) -> Shape:
    """From a model's config alone: nothing is loaded."""
    text = config.get_text_config()
    hidden, layers, vocabulary = text.hidden_size, text.num_hidden_layers, text.vocab_size
    heads = text.num_attention_heads
    head = getattr(text, "head_dim", None) or hidden // heads
    key_value = head * (getattr(text, "num_key_value_heads", None) or heads)
    attention = 2 * hidden * head * heads + 2 * hidden * key_value
    linear = layers * (attention + 3 * hidden * text.intermediate_size)
    tables = vocabulary * hidden * (1 if text.tie_word_embeddings else 2)
    return Shape(
        num_parameters=linear + tables + (2 * layers + 1) * hidden,
        num_linear=layers * (2 * hidden + 2 * head * heads + 2 * (hidden + key_value)
                             + 3 * (hidden + text.intermediate_size)),
        layers=layers,
        hidden=hidden,
        intermediate=text.intermediate_size,
        query=head * heads,
        vocabulary=vocabulary,
    )  # fmt: skip


def plan_memory(shape: Shape, options: TrainOptions, *, longest: int, bf16: bool) -> MemoryPlan:
    """`longest` is the longest example in tokens: a micro-batch of such is planned for."""
    is_full = options.method == "full"
    trained = shape.num_parameters if is_full else options.lora_rank * shape.num_linear
    frozen = 0 if is_full else shape.num_parameters
    cast = 2 * trained if bf16 else 0
    return MemoryPlan(
        weights=4 * trained + cast + (2 if bf16 else 4) * frozen,
        gradients=4 * trained,
        optimizer=8 * trained,
        activations=_activations(shape, options, longest, 2 if bf16 else 4),
        logits=3 * 4 * min(HEAD_CHUNK, options.batch_size * longest) * shape.vocabulary,
    )


def _activations(shape: Shape, options: TrainOptions, longest: int, size: int) -> int:
    packs = options.max_length if options.batching == "bfd" else longest
    tokens = options.batch_size * packs
    layer = 6 * shape.hidden + 4 * shape.query + 4 * shape.intermediate
    if options.gradient_checkpointing:
        return size * tokens * (shape.layers * shape.hidden + layer)
    return size * tokens * (shape.layers * layer + 2 * shape.hidden)


def advice(
    shape: Shape, options: TrainOptions, *, longest: int, bf16: bool, capacity: int
) -> TrainOptions | None:
    """The smallest change of options that fits `capacity` bytes; None if none does."""
    for changed in _changes(options):
        if plan_memory(shape, changed, longest=longest, bf16=bf16).total <= capacity:
            return changed
    return None


def _changes(options: TrainOptions) -> Iterator[TrainOptions]:
    """Nothing, smaller micro-batches, checkpointing with them, then adapters with both."""
    yield options
    for method in (options.method, "lora"):
        for checkpointing in sorted({bool(options.gradient_checkpointing), True}):
            changed = dataclasses.replace(
                options, method=method, gradient_checkpointing=checkpointing
            )
            yield from _smaller(changed)


def _smaller(options: TrainOptions) -> Iterator[TrainOptions]:
    """The same examples a step in more and smaller micro-batches: the same result."""
    size, accumulated = options.batch_size, options.grad_accum
    while True:
        yield dataclasses.replace(options, batch_size=size, grad_accum=accumulated)
        if size == 1 or size % 2:
            return
        size, accumulated = size // 2, accumulated * 2
