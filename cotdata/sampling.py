"""Asking a model about problems: what `sample` and `eval` share.

Problems become requests with a seed of their own; completions become trace
columns. A plan fixes everything that decides the prompts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from cotdata.engines import Completion, Engine, Refusal, Request, Sampling, open_engine
from cotdata.journal import Outcome, failed, rejected
from cotdata.modelref import ModelRef, has_chat_template
from cotdata.prompts import PromptStyle, build_prompt, prompt_sha, stop_texts
from cotdata.schema import PROBLEM_COLUMNS, Row, trace_id
from cotdata.seeds import sample_seed
from cotdata.tasks import get_task

AskedStyle = Literal["auto", "chat", "plain"]

READS = tuple(column.name for column in PROBLEM_COLUMNS)
WRITES = (
    "trace_id", "trace", "origin", "generator", "sample_index", "finish_reason",
    "prompt_tokens", "completion_tokens", "reasoning",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How problems are asked. `n` samples of each, their seeds drawn from `seed`."""

    model: ModelRef
    style: PromptStyle
    num_shots: int
    n: int
    max_tokens: int
    temperature: float
    top_p: float
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A problem row and which of its samples is wanted."""

    row: Row
    part: int

    @property
    def key(self) -> str:
        return f"{self.row['problem_id']}:{self.part}"


def asked_style(style: AskedStyle, model: ModelRef, engine: str) -> PromptStyle:
    """Auto is chat where the model has a chat template; a server applies its own."""
    if style != "auto":
        return style
    if engine in ("openai", "fake"):
        return "chat"
    return "chat" if has_chat_template(model) else "plain"


@dataclass
class LazyEngine:
    """Loads the model when the first request comes, and keeps it for later sets."""

    name: str
    place: str
    options: dict[str, str]
    stack: ExitStack
    opened: Engine | None = None

    def get(self) -> Engine:
        if self.opened is None:
            self.opened = open_engine(self.name, self.place, self.options)
            self.stack.callback(self.opened.close)
        return self.opened


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A settled request: the trace's columns, or why there is no trace."""

    asked: Asked
    columns: Row | None = None
    refusal: Refusal | None = None

    @property
    def problem_id(self) -> str:
        return str(self.asked.row["problem_id"])

    def lost(self) -> Outcome:
        assert self.refusal is not None
        settle = rejected if self.refusal.permanent else failed
        return settle(
            self.problem_id, self.refusal.reason, self.refusal.detail, part=self.asked.part
        )


def ask(batches: Iterator[pa.RecordBatch], engine: LazyEngine, plan: Plan) -> Iterator[Reply]:
    """Each reply with its problem, as they finish; rows are pulled on demand."""
    first = next(batches, None)
    if first is None:
        return
    opened = engine.get()
    waiting: dict[str, Asked] = {}

    def requests() -> Iterator[Request]:
        for batch in itertools.chain([first], batches):
            for row in batch.to_pylist():
                asked = Asked(row=row, part=row.pop("part", 0))
                waiting[asked.key] = asked
                yield request_of(asked, plan)

    for reply in opened.generate(requests()):
        asked = waiting.pop(reply.id)
        if isinstance(reply, Refusal):
            yield Reply(asked=asked, refusal=reply)
        else:
            yield Reply(asked=asked, columns=trace_columns(asked, reply, opened, plan))


def prompt_text(row: Row, plan: Plan) -> str:
    """The prompt of one problem, for eyes."""
    prompt = request_of(Asked(row=row, part=0), plan).prompt
    return prompt.text or "\n".join(f"[{m['role']}]\n{m['content']}" for m in prompt.messages)


def request_of(asked: Asked, plan: Plan) -> Request:
    task = get_task(asked.row["task"])
    sampling = Sampling(
        max_tokens=plan.max_tokens,
        temperature=plan.temperature,
        top_p=plan.top_p,
        seed=sample_seed(plan.seed, asked.row["problem_id"], asked.part),
        stop=stop_texts(plan.style),
    )
    prompt = build_prompt(task, asked.row, style=plan.style, num_shots=plan.num_shots)
    return Request(id=asked.key, prompt=prompt, sampling=sampling)


def trace_columns(asked: Asked, reply: Completion, engine: Engine, plan: Plan) -> Row:
    task = get_task(asked.row["task"])
    sha = prompt_sha(task, style=plan.style, num_shots=plan.num_shots)
    sampling = request_of(asked, plan).sampling
    place = (plan.model.digest, sha, plan.temperature, plan.top_p, plan.max_tokens, sampling.seed)
    return {
        "trace_id": trace_id(asked.row["problem_id"], "model", *place, asked.part),
        "origin": "model",
        "generator": {
            **generator(engine, plan.model, sampling),
            "prompt_style": plan.style,
            "prompt_sha": sha,
            "num_shots": plan.num_shots,
        },
        "sample_index": asked.part,
        **reply_columns(reply),
    }


def reply_columns(reply: Completion) -> Row:
    return {
        "trace": reply.text,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "reasoning": reply.reasoning,
    }


def generator(engine: Engine, model: ModelRef, sampling: Sampling) -> Row:
    return {
        "model": model.name,
        "revision": engine.revision or model.digest[:12],
        "engine": engine.name,
        "engine_version": engine.version,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed,
    }
