"""The completion's negative log-likelihood, with nothing computed that it does not need.

    completion_loss(model, {"input_ids": ids, "attention_mask": mask}, labels)

TRL puts every position through the output layer where Triton is missing, and the
beginning that all prompts of a batch share (the instruction, the worked examples)
through the model once per row. On a CPU that is up to half of a small model's
work. Here the output layer sees trained positions only, and the shared beginning
is computed once; the loss and its gradient are the same.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from cotdata.training.examples import IGNORED

# Positions whose logits are held at once: 512 x 49,152 floats are 100 MB.
HEAD_CHUNK = 512


def completion_loss(model: Any, inputs: dict[str, Any], labels: torch.Tensor) -> torch.Tensor:
    """Summed over the labelled tokens."""
    causal = model.get_base_model() if hasattr(model, "peft_config") else model
    start = shared_beginning(inputs, labels) if can_share(causal) else 0
    hidden = hidden_states(causal.base_model, inputs, start)[:, :-1]
    targets = labels[:, start + 1 :]
    trained = targets != IGNORED
    return token_nll(causal.get_output_embeddings(), hidden[trained], targets[trained]).sum()


def token_nll(head: Any, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Of each target, in float32 whatever the model computes in.

    With several chunks their logits are computed again in the backward pass,
    since keeping those of all chunks would undo the chunking.
    """
    parts = list(zip(hidden.split(HEAD_CHUNK), targets.split(HEAD_CHUNK), strict=True))
    if len(parts) == 1 or not torch.is_grad_enabled():
        return torch.cat([_chunk_nll(head, part, wanted) for part, wanted in parts])
    chunks = [
        checkpoint(_chunk_nll, head, part, wanted, use_reentrant=False) for part, wanted in parts
    ]
    return torch.cat(chunks)


def _chunk_nll(head: Any, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(head(hidden).float(), targets, reduction="none")


def hidden_states(backbone: Any, inputs: dict[str, Any], start: int) -> torch.Tensor:
    """Last hidden states from position `start` on, the ones before computed once."""
    if not start:
        return _states(backbone(**inputs, use_cache=False))
    ids = inputs["input_ids"]
    beginning = backbone(input_ids=ids[:1, :start], use_cache=True).past_key_values
    beginning.batch_repeat_interleave(ids.shape[0])
    rest = backbone(
        input_ids=ids[:, start:],
        attention_mask=inputs["attention_mask"],
        past_key_values=beginning,
        use_cache=True,
    )
    return _states(rest)


def _states(output: Any) -> torch.Tensor:
    states: torch.Tensor = output.last_hidden_state
    return states


def can_share(causal: Any) -> bool:
    """A recomputed layer has no cache to hand on, and only full attention is known to."""
    kinds = getattr(causal.config.get_text_config(), "layer_types", None) or ["full_attention"]
    is_recomputed = getattr(causal, "is_gradient_checkpointing", False)
    return not is_recomputed and set(kinds) == {"full_attention"}


def shared_beginning(inputs: dict[str, Any], labels: torch.Tensor) -> int:
    """How many first positions are equal in all rows and predict nothing that is trained."""
    ids = inputs["input_ids"]
    if "attention_mask" not in inputs or ids.shape[0] == 1:
        return 0
    untrained = labels[:, 1:] == IGNORED
    equal = (ids[:, :-1] == ids[:1, :-1]) & untrained & inputs["attention_mask"][:, 1:].bool()
    return int(equal.all(dim=0).long().cumprod(dim=0).sum())
