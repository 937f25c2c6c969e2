"""paraphrase: the same traces in a model's words.

Reads and writes traces; the new ones have origin `paraphrase`. A gate refuses a
text that changes the answer or the numbers, copies, solves the problem anew, is
cut off, or announces itself; after --tries refusals the trace is rejected with
the last reason. Every refused text is kept in the column `tries`.

    cotdata paraphrase d/human --model models/teacher -o d/HP
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import finish, new_app
from cotdata.engines import (
    Completion,
    Engine,
    Refusal,
    Request,
    Sampling,
    default_engine,
    engine_options,
    engine_spec,
)  # fmt: skip
from cotdata.journal import Outcome, failed, passed, rejected
from cotdata.modelref import ModelRef, model_ref
from cotdata.paraphrasing import PROMPT_SHA, gate, rewrite_prompt
from cotdata.progress import say
from cotdata.runner import Stage, run_stage
from cotdata.sampling import LazyEngine, generator, reply_columns
from cotdata.schema import PROBLEM_COLUMNS, Row, trace_id
from cotdata.seeds import sample_seed
from cotdata.store import Dataset, open_dataset

READS = (*(column.name for column in PROBLEM_COLUMNS), "trace_id", "trace")
WRITES = (
    "trace_id", "trace", "origin", "generator", "parent_trace_id", "finish_reason",
    "prompt_tokens", "completion_tokens", "reasoning", "tries", "verdict", "verdict_reason",
    "verifier", "final_answer", "answer_span", "answer_method", "steps",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    model: str
    engine: str
    tries: int = 3
    max_tokens: int = 512
    temperature: float = 0.7
    top_p: float = 1.0
    seed: int = 0
    engine_option: tuple[str, ...] = opt.execution(())


@dataclass(slots=True)
class Attempt:
    """A trace on its way through the gate, with the texts refused so far."""

    row: Row
    refused: list[Row] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"{self.row['trace_id']}:{len(self.refused)}"

    def refuse(self, text: str, reason: tuple[str, str]) -> int:
        """Note a refused text; how many there are now."""
        self.refused.append({"trace": text, "reason": reason[0], "detail": reason[1]})
        return len(self.refused)


def run(
    batches: Iterator[pa.RecordBatch], options: Options, *, model: ModelRef, engine: LazyEngine
) -> Iterator[Outcome]:
    rows = (row for batch in batches for row in batch.to_pylist())
    first = next(rows, None)
    if first is None:
        return
    opened = engine.get()
    fresh = (Attempt(row) for row in itertools.chain([first], rows))
    again: deque[Attempt] = deque()
    waiting: dict[str, Attempt] = {}

    def requests() -> Iterator[Request]:
        """Refused traces come before new ones, so few are ever held."""
        while attempt := again.popleft() if again else next(fresh, None):
            waiting[attempt.key] = attempt
            yield request_of(attempt, options)

    # The last refusals may come when no request is left to be pulled.
    while True:
        for reply in opened.generate(requests()):
            attempt = waiting.pop(reply.id)
            if isinstance(reply, Refusal):
                settle = rejected if reply.permanent else failed
                yield settle(attempt.row["trace_id"], reply.reason, reply.detail)
                continue
            reason = gate(attempt.row, reply.text.strip(), reply.finish_reason)
            if reason is None:
                yield _accepted(attempt, reply, options, model, opened)
            elif attempt.refuse(reply.text.strip(), reason) < options.tries:
                again.append(attempt)
            else:
                yield rejected(attempt.row["trace_id"], *reason, updates={"tries": attempt.refused})
        if not again:
            return


def request_of(attempt: Attempt, options: Options) -> Request:
    sampling = Sampling(
        max_tokens=options.max_tokens,
        temperature=options.temperature,
        top_p=options.top_p,
        seed=sample_seed(options.seed, attempt.row["trace_id"], len(attempt.refused)),
    )
    return Request(id=attempt.key, prompt=rewrite_prompt(attempt.row), sampling=sampling)


def _accepted(
    attempt: Attempt, reply: Completion, options: Options, model: ModelRef, engine: Engine
) -> Outcome:
    row, sampling = attempt.row, request_of(attempt, options).sampling
    made_by = {
        **generator(engine, model, sampling),
        "prompt_style": "chat",
        "prompt_sha": PROMPT_SHA,
        "num_shots": 0,
    }
    columns = {
        **reply_columns(reply),
        "trace": reply.text.strip(),
        "trace_id": trace_id(row["problem_id"], "paraphrase", row["trace_id"], *made_by.values()),
        "origin": "paraphrase",
        "generator": made_by,
        "parent_trace_id": row["trace_id"],
        "tries": attempt.refused,
    }
    return passed(row["trace_id"], columns)


def stage_for(model: ModelRef, engine: LazyEngine) -> Stage[Options]:
    return Stage(
        name="paraphrase",
        version=1,
        kind="trace",
        reads=READS,
        writes=WRITES,
        run=partial(run, model=model, engine=engine),
        preview=lambda row, _options: rewrite_prompt(row).messages[-1]["content"],
    )


def summary(dataset: Dataset) -> str:
    """How many texts the gate refused, by reason, and at which try traces passed."""
    reasons: Counter[str] = Counter()
    accepted: Counter[int] = Counter()
    for folder in ("data", "rejected"):
        for batch in dataset.batches(["tries"], folder=folder):
            for tries in batch["tries"].to_pylist():
                reasons.update(text["reason"] for text in tries or ())
                if folder == "data":
                    accepted[len(tries or ()) + 1] += 1
    lines = [f"  {n:>7,}  passed at try {number}" for number, n in sorted(accepted.items())]
    lines += [f"  {n:>7,}  texts refused: {reason}" for reason, n in reasons.most_common()]
    return "\n".join(lines)


app = new_app()


@app.command(epilog="Example: cotdata paraphrase d/human --model models/teacher -o d/HP")
def paraphrase(
    source: opt.Input,
    model: str = typer.Option(..., help="A model folder, a Hub name, or a server's model."),
    out: opt.Out = None,
    tries: int = typer.Option(3, min=1, help="Texts asked for before a trace is rejected."),
    max_tokens: int = typer.Option(512, min=1, help="Longest paraphrase in tokens."),
    temperature: float = typer.Option(0.7, min=0.0, help="0 is greedy, and every try alike."),
    top_p: float = typer.Option(1.0, min=0.0, max=1.0),
    engine: str = typer.Option("auto", help="vllm, transformers, openai or fake."),
    engine_option: list[str] = typer.Option([], metavar="KEY=VALUE", help="Passed to the engine."),
    seed: opt.Seed = 0,
    limit: opt.Limit = None,
    accept_failed: opt.AcceptFailed = False,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Say traces again in a model's words, and keep what says the same."""
    flags = opt.RunFlags(
        out=out, limit=limit, dry_run=dry_run, as_json=as_json, quiet=quiet,
        accept_failed=accept_failed,
    )  # fmt: skip
    engine = default_engine() if engine == "auto" else engine_spec(engine).name
    ref = model_ref(model, served=engine in ("openai", "fake"))
    options = Options(
        model=ref.name, engine=engine, tries=tries, max_tokens=max_tokens, temperature=temperature,
        top_p=top_p, seed=seed, engine_option=tuple(engine_option),
    )  # fmt: skip
    dataset = open_dataset(opt.resolve_input(source), kind="trace")
    with ExitStack() as stack:
        lazy = LazyEngine(engine, ref.place, engine_options(engine_option), stack)
        done = run_stage(stage_for(ref, lazy), dataset, options, flags, models=(ref,))
    if done is not None:
        say(summary(Dataset(done.location, done.manifest)), quiet=quiet)
    finish(done, flags)
