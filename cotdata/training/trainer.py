"""TRL's SFTTrainer with the loss computed at trained positions only.

TRL does that itself where Triton runs; on a CPU it puts every position through
the output layer, prompt and all, which is a third of a small model's work.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from trl import SFTTrainer

from cotdata.training.examples import IGNORED

# Positions whose logits are held at once: 512 x 49,152 floats are 100 MB.
HEAD_CHUNK = 512


class CompletionTrainer(SFTTrainer):  # type: ignore[misc]
    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        if self.args.device.type != "cpu" or self.args.loss_type != "nll" or return_outputs:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        labels = inputs.pop("labels")
        loss = completion_loss(self.accelerator.unwrap_model(model), inputs, labels)
        self._count_tokens(inputs)
        count = (
            (labels[:, 1:] != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
        )
        return loss / torch.as_tensor(count).clamp(min=1)

    def _count_tokens(self, inputs: dict[str, Any]) -> None:
        mask = inputs.get("attention_mask")
        self._total_train_tokens += (
            int(mask.sum()) if mask is not None else inputs["input_ids"].numel()
        )
        self._metrics["train"]["num_tokens"] = [self._total_train_tokens]


def completion_loss(model: Any, inputs: dict[str, Any], labels: torch.Tensor) -> torch.Tensor:
    """Summed negative log-likelihood of the labelled tokens."""
    causal = model.get_base_model() if hasattr(model, "peft_config") else model
    hidden = causal.base_model(**inputs, use_cache=False).last_hidden_state[:, :-1]
    targets = labels[:, 1:]
    kept = targets != IGNORED
    hidden, targets = hidden[kept], targets[kept]
    head = causal.get_output_embeddings()
    losses = [
        F.cross_entropy(head(part).float(), wanted, reduction="sum")
        for part, wanted in zip(hidden.split(HEAD_CHUNK), targets.split(HEAD_CHUNK), strict=True)
    ]
    return torch.stack(losses).sum()
