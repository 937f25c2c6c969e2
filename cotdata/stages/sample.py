"""sample: traces from a model.

Reads problems, writes n traces of each with origin `model` and the `generator`
that made them. Completions are kept as they finish, so an interrupted run goes
on where it stopped. Each completion has a seed of its own, drawn from --seed,
the problem and its place; engines do not promise equal text for equal seeds.
A prompt longer than the model's context rejects that row as `prompt_too_long`.

    cotdata sample d/problems --model models/smollm2 -n 4 -o d/raw
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import finish, new_app
from cotdata.engines import (
    Refusal,
    default_engine,
    engine_options,
    engine_spec,
    open_engine,
)  # fmt: skip
from cotdata.journal import Outcome, failed, passed, rejected
from cotdata.modelref import model_ref
from cotdata.runner import Stage, run_stage
from cotdata.sampling import (
    READS,
    WRITES,
    Asked,
    AskedStyle,
    Plan,
    ask,
    asked_style,
    request_of,
    trace_columns,
)  # fmt: skip
from cotdata.schema import Row
from cotdata.store import open_dataset


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    model: str
    engine: str
    style: str
    shots: int = 0
    n: int = 1
    max_tokens: int = 512
    temperature: float = 0.7
    top_p: float = 1.0
    seed: int = 0
    engine_option: tuple[str, ...] = opt.execution(())


def run(batches: Iterator[pa.RecordBatch], options: Options, *, plan: Plan) -> Iterator[Outcome]:
    first = next(batches, None)
    if first is None:
        return
    engine = open_engine(options.engine, plan.model.place, engine_options(options.engine_option))
    with closing(engine):
        for asked, reply in ask(_again(first, batches), engine, plan):
            problem = asked.row["problem_id"]
            if isinstance(reply, Refusal):
                settle = rejected if reply.permanent else failed
                yield settle(problem, reply.reason, reply.detail, part=asked.part)
            else:
                yield passed(problem, trace_columns(asked, reply, engine, plan), part=asked.part)


def _again(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


def preview(row: Row, options: Options, *, plan: Plan) -> str:
    prompt = request_of(Asked(row=row, part=0), plan).prompt
    return prompt.text or "\n".join(f"[{m['role']}]\n{m['content']}" for m in prompt.messages)


def stage_for(plan: Plan) -> Stage[Options]:
    return Stage(
        name="sample",
        version=1,
        kind="trace",
        reads=READS,
        writes=WRITES,
        run=partial(run, plan=plan),
        parts=lambda options: options.n,
        preview=partial(preview, plan=plan),
    )


app = new_app()


@app.command(epilog="Example: cotdata sample d/problems --model models/smollm2 -n 4 -o d/raw")
def sample(
    source: opt.Input,
    model: str = typer.Option(..., help="A model folder, a Hub name, or a server's model."),
    out: opt.Out = None,
    n: int = typer.Option(1, "-n", "--n", min=1, help="Traces of each problem."),
    max_tokens: int = typer.Option(512, min=1, help="Longest completion in tokens."),
    temperature: float = typer.Option(0.7, min=0.0, help="0 is greedy."),
    top_p: float = typer.Option(1.0, min=0.0, max=1.0),
    shots: int = typer.Option(0, min=0, help="Worked examples before the problem."),
    style: AskedStyle = typer.Option("auto", help="Prompt form; auto: chat if the model has one."),
    engine: str = typer.Option(
        "auto", help="vllm, transformers, openai, fake; auto: the best here."
    ),
    engine_option: list[str] = typer.Option([], metavar="KEY=VALUE", help="Passed to the engine."),
    seed: opt.Seed = 0,
    limit: opt.Limit = None,
    accept_failed: opt.AcceptFailed = False,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Sample traces from a model."""
    flags = opt.RunFlags(
        out=out, limit=limit, dry_run=dry_run, as_json=as_json, quiet=quiet,
        accept_failed=accept_failed,
    )  # fmt: skip
    engine = default_engine() if engine == "auto" else engine_spec(engine).name
    ref = model_ref(model, served=engine in ("openai", "fake"))
    plan = Plan(
        model=ref, style=asked_style(style, ref, engine), num_shots=shots, n=n,
        max_tokens=max_tokens, temperature=temperature, top_p=top_p, seed=seed,
    )  # fmt: skip
    options = Options(
        model=ref.name, engine=engine, style=plan.style, shots=shots, n=n, max_tokens=max_tokens,
        temperature=temperature, top_p=top_p, seed=seed, engine_option=tuple(engine_option),
    )  # fmt: skip
    dataset = open_dataset(opt.resolve_input(source), kind="problem")
    finish(run_stage(stage_for(plan), dataset, options, flags, models=(ref,)), flags)
