"""TRL's SFTTrainer, with our loss on a CPU and steps whose micro-batches fit together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc
import torch
from torch.utils.data import Sampler
from trl import SFTTrainer

from cotdata.seeds import rng_for
from cotdata.training.examples import IGNORED
from cotdata.training.loss import completion_loss


class CompletionTrainer(SFTTrainer):  # type: ignore[misc]
    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        if not self._takes_own_loss() or return_outputs:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        labels = inputs["labels"]
        given = {name: value for name, value in inputs.items() if name != "labels"}
        with self.accelerator.autocast():
            loss = completion_loss(model, given, labels)
        self._count_tokens(given)
        trained = (labels[:, 1:] != IGNORED).sum()
        return loss / torch.as_tensor(trained if num_items_in_batch is None else num_items_in_batch)

    def _takes_own_loss(self) -> bool:
        """A wrapped model (DDP, FSDP) must be called as a whole."""
        is_alone = bool(self.accelerator.num_processes == 1)
        return is_alone and self.args.device.type == "cpu" and self.args.loss_type == "nll"

    def _count_tokens(self, inputs: dict[str, Any]) -> None:
        mask, ids = inputs.get("attention_mask"), inputs["input_ids"]
        self._total_train_tokens += ids.numel() if mask is None else int(mask.sum())
        self._metrics["train"]["num_tokens"] = [self._total_train_tokens]

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        dataset = self.train_dataset if train_dataset is None else train_dataset
        args = self.args
        if args.train_sampling_strategy != "random":
            return super()._get_train_sampler(dataset)
        num_in_step = args.train_batch_size * args.gradient_accumulation_steps * args.world_size
        return StepSampler(example_lengths(dataset), num_in_step=num_in_step, seed=args.seed)


def example_lengths(dataset: Any) -> list[int]:
    tables = dataset.with_format("arrow").iter(1000)
    return [n for table in tables for n in pc.list_value_length(table["input_ids"]).to_pylist()]


class StepSampler(Sampler[int]):  # type: ignore[misc]
    """Each epoch a new order; the examples of one step go by length, so that its
    micro-batches need little padding. Which examples share a step stays random.
    """

    def __init__(self, lengths: list[int], *, num_in_step: int, seed: int) -> None:
        self._lengths = lengths
        self._num_in_step = num_in_step
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self)))
        rng_for(self._seed, f"epoch-{self._epoch}", "train_order").shuffle(order)
        for start in range(0, len(order), self._num_in_step):
            yield from sorted(
                order[start : start + self._num_in_step], key=self._lengths.__getitem__
            )
