"""fake: a scripted engine, for tests, dry runs and chaos.

    cotdata sample d/p --model m --engine fake --engine-option latency_ms=20

A reply depends on the model's name, the prompt and the seed alone, so order, faults
and resumption do not change it. Without a script it guesses a number in every form
that a task looks for. With `script=FILE.jsonl` the first line whose `match` is part
of the prompt, or equal to the request's id, gives the `text` (and `reasoning`,
`finish_reason`). Faults are fractions of the requests: a 429, a 500 or a torn reply
costs a retry, a duplicate is dropped, and none of them reaches the caller; `fail`
and `refuse` do. It loads no model and measures nothing.
"""

from __future__ import annotations

import heapq
import itertools
import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cotdata.engines import Completion, EngineSpec, FinishReason, Refusal, Request
from cotdata.engines._options import read_options
from cotdata.errors import EngineError, InputError, UsageError
from cotdata.seeds import rng_for, stable_hash


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeOptions:
    """Latency has `jitter` as its share of randomness; `die_after` counts replies."""

    concurrency: int = 8
    latency_ms: float = 0.0
    jitter: float = 0.0
    rate_429: float = 0.0
    rate_500: float = 0.0
    torn: float = 0.0
    duplicate: float = 0.0
    out_of_order: float = 0.0
    reasoning: float = 0.0
    refuse: float = 0.0
    fail: float = 0.0
    cut: float = 0.0
    die_after: int | None = None
    context: int | None = None
    script: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    match: str
    text: str
    reasoning: str | None = None
    finish_reason: FinishReason = "stop"


@dataclass(frozen=True, order=True, slots=True)
class Due:
    """A request in flight; the number breaks ties in the order of asking."""

    at_s: float
    number: int
    request: Request


class FakeEngine:
    name = "fake"
    version = "1"
    revision: str | None = None
    has_chat_template = True

    def __init__(self, model: str, options: FakeOptions) -> None:
        self.model = model
        self.options = options
        self.lines = read_script(Path(options.script)) if options.script else []
        self.attempts = self.dropped = 0
        self.peak_in_flight = 0

    def close(self) -> None:
        pass

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion | Refusal]:
        numbered = enumerate(requests)
        in_flight: list[Due] = []
        replies = 0
        while True:
            room = self.options.concurrency - len(in_flight)
            for number, request in itertools.islice(numbered, room):
                heapq.heappush(in_flight, self._sent(number, request))
            self.peak_in_flight = max(self.peak_in_flight, len(in_flight))
            if not in_flight:
                return
            self._maybe_die(replies)
            due = heapq.heappop(in_flight)
            time.sleep(max(0.0, due.at_s - time.monotonic()))
            yield self._reply(due.request)
            replies += 1

    def _sent(self, number: int, request: Request) -> Due:
        """Faults delay a reply as retries would, and never change it."""
        options, draw = self.options, self._draw(request, "weather")
        tries = 1
        for rate in (options.rate_429, options.rate_500, options.torn):
            while draw.random() < min(rate, 0.95):
                tries += 1
        self.attempts += tries
        wobble = 1 + options.jitter * (2 * draw.random() - 1)
        late = 8 * wobble if draw.random() < options.out_of_order else wobble
        # Without latency the order itself is what is late.
        place = number + (draw.uniform(0, options.concurrency) if late > wobble else 0)
        wait_s = options.latency_ms / 1000 * late * tries
        at_s = time.monotonic() + wait_s if wait_s else place * 1e-9
        return Due(at_s, number, request)

    def _reply(self, request: Request) -> Completion | Refusal:
        draw = self._draw(request, "reply")
        self.dropped += draw.random() < self.options.duplicate
        refused = self._refused(request, draw.random())
        return refused or self._completion(request, draw)

    def _refused(self, request: Request, chance: float) -> Refusal | None:
        options = self.options
        length = num_words(request)
        too_long = options.context is not None and length > options.context
        if too_long or chance < options.refuse:
            detail = f"the prompt has {length} tokens"
            return Refusal(id=request.id, reason="prompt_too_long", detail=detail, permanent=True)
        if chance < options.refuse + options.fail:
            return Refusal(id=request.id, reason="server_error", detail="500", permanent=False)
        return None

    def _completion(self, request: Request, draw: random.Random) -> Completion:
        line = self._scripted(request) or guess(draw.randrange(100), draw.randrange(100))
        words = line.text.split(" ")
        limit = request.sampling.max_tokens
        if draw.random() < self.options.cut:
            limit = min(limit, max(1, len(words) // 2))
        cut = len(words) > limit
        thinks = draw.random() < self.options.reasoning
        return Completion(
            id=request.id,
            text=" ".join(words[:limit]),
            finish_reason="length" if cut else line.finish_reason,
            prompt_tokens=num_words(request),
            completion_tokens=min(len(words), limit),
            reasoning=line.reasoning or ("I think before I speak." if thinks else None),
        )

    def _scripted(self, request: Request) -> Line | None:
        asked = prompt_text(request)
        fits = (line for line in self.lines if line.match == request.id or line.match in asked)
        return next(fits, None)

    def _draw(self, request: Request, purpose: str) -> random.Random:
        asked = (self.model, prompt_text(request), request.sampling.seed)
        return rng_for(0, f"{stable_hash(*asked):x}", purpose)

    def _maybe_die(self, replies: int) -> None:
        if self.options.die_after is not None and replies >= self.options.die_after:
            raise EngineError(
                f"the fake engine died after {replies} replies, as asked by die_after",
                where=self.model,
            )


def guess(first: int, second: int) -> Line:
    """One number in every form that a task looks for."""
    total = first + second
    return Line(
        match="",
        text=f"I add {first} and {second}. {first} + {second} = {total}. "
        f"<answer>{first} + {second}</answer>\nThe answer is \\boxed{{{total}}}.\n#### {total}",
    )


def prompt_text(request: Request) -> str:
    prompt = request.prompt
    return prompt.text or "\n".join(f"{m['role']}: {m['content']}" for m in prompt.messages)


def num_words(request: Request) -> int:
    return len(prompt_text(request).split())


def read_script(path: Path) -> list[Line]:
    if not path.is_file():
        raise InputError("no such script of replies", where=str(path))
    return [
        _line(text, f"{path}:{number}")
        for number, text in enumerate(path.read_text().splitlines(), start=1)
        if text.strip()
    ]


def _line(text: str, where: str) -> Line:
    try:
        return Line(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"not a reply of a script: {error}",
            where=where,
            hint='a line is {"match": "part of the prompt", "text": "the reply"}',
        ) from error


def open_fake(model: str, options: Mapping[str, str]) -> FakeEngine:
    read = read_options(FakeOptions, "fake", options)
    if read.concurrency < 1:
        raise UsageError("--engine-option concurrency wants at least 1")
    return FakeEngine(model, read)


ENGINE = EngineSpec(
    name="fake",
    about="scripted replies and faults, no model",
    open=open_fake,
)
