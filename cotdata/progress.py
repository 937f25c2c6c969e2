"""Progress on stderr: a live bar on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

LINE_EVERY_S = 15.0


class Progress:
    """Counts settled rows and generated tokens; `total` None is an unknown total."""

    def __init__(self, title: str, *, total: int | None, done: int, quiet: bool) -> None:
        self._title = title
        self._total = total
        self._resumed = self._done = done
        self._tokens = 0
        self._start = self._last_line = time.monotonic()
        self._quiet = quiet
        console = Console(stderr=True)
        self._live = Live(console=console, transient=True, refresh_per_second=4)
        self._on_terminal = console.is_terminal and not quiet

    def __enter__(self) -> Progress:
        if self._on_terminal:
            self._live.start()
            self._live.update(Text(self.line()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._on_terminal:
            self._live.stop()

    def advance(self, *, rows: int = 1, tokens: int = 0) -> None:
        self._done += rows
        self._tokens += tokens
        now = time.monotonic()
        if self._on_terminal:
            if now - self._last_line > 0.25:
                self._last_line = now
                self._live.update(Text(self.line()))
        elif not self._quiet and now - self._last_line > LINE_EVERY_S:
            self._last_line = now
            print(self.line(), file=sys.stderr, flush=True)

    def line(self) -> str:
        seconds = max(time.monotonic() - self._start, 1e-6)
        rate = (self._done - self._resumed) / seconds
        of_total = f"/{self._total:,}" if self._total is not None else ""
        parts = [f"{self._title}: {self._done:,}{of_total} rows", f"{rate:,.1f} rows/s"]
        if self._tokens:
            parts.append(f"{self._tokens / seconds:,.0f} tokens/s")
        if self._total is not None and rate > 0:
            parts.append(f"ETA {duration((self._total - self._done) / rate)}")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"


def say(text: str, *, quiet: bool = False) -> None:
    """One line for people; stdout belongs to the result."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)
