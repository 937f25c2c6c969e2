"""Progress of a run on stderr: a live line on a terminal, else one now and then."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text
from transformers import TrainerCallback

from cotdata.progress import LINE_EVERY_S, duration


class Watch(TrainerCallback):  # type: ignore[misc]
    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._quiet = quiet
        self._live = Live(console=console, transient=True, refresh_per_second=4)
        self._on_terminal = console.is_terminal and not quiet
        self._said = 0.0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._start = self._said = time.monotonic()
        self._first_step = state.global_step
        self._first_tokens: float | None = None
        if self._on_terminal:
            self._live.start()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if self._quiet or "loss" not in logs:
            return
        line = self._line(state, logs)
        if self._on_terminal:
            self._live.update(Text(line))
        elif time.monotonic() - self._said > LINE_EVERY_S:
            self._said = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def stop(self) -> None:
        if self._on_terminal:
            self._live.stop()

    def _line(self, state: Any, logs: Any) -> str:
        tokens = logs.get("num_tokens", 0.0)
        if self._first_tokens is None:
            done = state.global_step - self._first_step
            self._first_tokens = tokens if self._first_step else 0.0
            assert done >= 0
        seconds = max(time.monotonic() - self._start, 1e-6)
        rate = (state.global_step - self._first_step) / seconds
        left = (state.max_steps - state.global_step) / rate if rate else math.inf
        eta = f", ETA {duration(left)}" if math.isfinite(left) else ""
        speed = (tokens - self._first_tokens) / seconds
        return (
            f"train: step {state.global_step:,}/{state.max_steps:,}, loss {logs['loss']:.4f}, "
            f"{speed:,.0f} tokens/s{eta}"
        )
