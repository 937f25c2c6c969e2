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
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import finish, new_app
from cotdata.engines import default_engine, engine_options, engine_spec
from cotdata.journal import Outcome, passed
from cotdata.modelref import model_ref
from cotdata.runner import Stage, run_stage
from cotdata.sampling import (
    READS,
    WRITES,
    AskedStyle,
    LazyEngine,
    Plan,
    ask,
    asked_style,
    prompt_text,
)  # fmt: skip
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


def run(
    batches: Iterator[pa.RecordBatch], options: Options, *, plan: Plan, engine: LazyEngine
) -> Iterator[Outcome]:
    for reply in ask(batches, engine, plan):
        if reply.columns is None:
            yield reply.lost()
        else:
            yield passed(reply.problem_id, reply.columns, part=reply.asked.part)


def stage_for(plan: Plan, engine: LazyEngine) -> Stage[Options]:
    return Stage(
        name="sample",
        version=1,
        kind="trace",
        reads=READS,
        writes=WRITES,
        run=partial(run, plan=plan, engine=engine),
        parts=lambda options: options.n,
        preview=lambda row, _options: prompt_text(row, plan),
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
    with ExitStack() as stack:
        lazy = LazyEngine(engine, ref.place, engine_options(engine_option), stack)
        done = run_stage(stage_for(plan, lazy), dataset, options, flags, models=(ref,))
    finish(done, flags)
