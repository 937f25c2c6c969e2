"""Checkpoints that a kill -9 cannot spoil, and the last whole one.

A checkpoint is whole once the mark is in it: TRL writes its files one by one.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

MARK = "whole"
KEEP_FOR_RESUME = 2
SAVE_EVERY_S = 300.0
# What only a resumed run needs; a kept checkpoint is a model to evaluate.
RESUME_FILES = ("optimizer.pt", "scheduler.pt", "rng_state*.pth", "trainer_state.json",
                "training_args.bin", "scaler.pt", MARK)  # fmt: skip


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def checkpoints_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("checkpoint-*"), key=step_of)


def last_whole(folder: Path) -> Path | None:
    """Torn checkpoints are deleted on the way."""
    whole = None
    for checkpoint in checkpoints_in(folder):
        if (checkpoint / MARK).exists():
            whole = checkpoint
        else:
            shutil.rmtree(checkpoint)
    return whole


def keep_last(folder: Path, number: int) -> None:
    checkpoints = checkpoints_in(folder)
    for checkpoint in checkpoints[: max(0, len(checkpoints) - number)]:
        shutil.rmtree(checkpoint)


def keep_models(folder: Path, destination: Path, number: int) -> None:
    """The last `number` checkpoints become model folders of their own."""
    for checkpoint in checkpoints_in(folder)[-number:] if number else []:
        for pattern in RESUME_FILES:
            for file in checkpoint.glob(pattern):
                file.unlink()
        destination.mkdir(parents=True, exist_ok=True)
        checkpoint.replace(destination / f"step-{step_of(checkpoint)}")


class Checkpoints(TrainerCallback):  # type: ignore[misc]
    """Marks whole checkpoints, drops old ones and, unless TRL saves by steps, says when."""

    def __init__(self, folder: Path, *, by_clock: bool, keep: int) -> None:
        self._folder = folder
        self._by_clock = by_clock
        self._keep = max(keep, KEEP_FOR_RESUME)
        self._saved = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        due = time.monotonic() - self._saved > SAVE_EVERY_S
        if self._by_clock and due:
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if not state.is_world_process_zero:
            return
        (self._folder / f"checkpoint-{state.global_step}" / MARK).touch()
        keep_last(self._folder, self._keep)
        self._saved = time.monotonic()
