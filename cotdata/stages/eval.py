"""eval: sample a model's answers to problems and verify them.

Reads problems, writes traces with their verdicts: one row per problem and
sample, so every tool for traces applies to results. Greedy by default; every
problem counts, and one without an answer counts as wrong in the report.

    cotdata eval runs/student --on d/test -o d/results
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import new_app, print_result
from cotdata.engines import default_engine, engine_options, engine_spec
from cotdata.errors import UsageError
from cotdata.journal import Outcome, failed, passed
from cotdata.modelref import model_ref
from cotdata.progress import say
from cotdata.runner import Finished, Stage, run_stage
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
from cotdata.schema import Row
from cotdata.store import Dataset, open_dataset
from cotdata.verdicts import VERDICT_COLUMNS, Verdict, verdict_columns
from cotdata.verifying import Candidate, default_workers, prepare, verify_all


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    model: str
    engine: str
    style: str
    shots: int = 0
    n: int = 1
    max_tokens: int = 512
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    verifiers: tuple[str, ...] = opt.derived(())
    engine_option: tuple[str, ...] = opt.execution(())
    workers: int = opt.execution(1)


def run(
    batches: Iterator[pa.RecordBatch], options: Options, *, plan: Plan, engine: LazyEngine
) -> Iterator[Outcome]:
    columns: dict[tuple[str, int], Row] = {}
    lost: list[Outcome] = []

    def candidates() -> Iterator[Candidate]:
        for reply in ask(batches, engine, plan):
            if reply.columns is None:
                lost.append(reply.lost())
                continue
            key, part = reply.problem_id, reply.asked.part
            columns[key, part] = reply.columns
            trace, finish = reply.columns["trace"], reply.columns["finish_reason"]
            yield Candidate(
                key=key, row=reply.asked.row, trace=trace, finish_reason=finish, part=part
            )

    for candidate, judgement in verify_all(candidates(), workers=options.workers):
        key, part = candidate.key, candidate.part
        if isinstance(judgement, Verdict):
            yield passed(key, columns.pop((key, part)) | verdict_columns(judgement), part=part)
        else:
            lost.append(failed(key, "machine_fault", str(judgement), part=part))
    yield from lost


def stage_for(plan: Plan, engine: LazyEngine) -> Stage[Options]:
    return Stage(
        name="eval",
        version=1,
        kind="trace",
        reads=READS,
        writes=(*WRITES, *VERDICT_COLUMNS),
        run=partial(run, plan=plan, engine=engine),
        parts=lambda options: options.n,
        preview=lambda row, _options: prompt_text(row, plan),
    )


app = new_app()


@app.command(epilog="Example: cotdata eval runs/student --on d/test -o d/results")
def eval(
    model: str = typer.Argument(..., help="A model folder or name."),
    on: list[str] = typer.Option(..., "--on", help="A dataset of problems; may be repeated."),
    out: opt.Out = None,
    n: int = typer.Option(1, "-n", "--n", min=1, help="Samples of each problem."),
    max_tokens: int = typer.Option(512, min=1, help="Longest completion in tokens."),
    temperature: float = typer.Option(0.0, min=0.0, help="0 is greedy."),
    top_p: float = typer.Option(1.0, min=0.0, max=1.0),
    shots: int = typer.Option(0, min=0, help="Worked examples before the problem."),
    style: AskedStyle = typer.Option("auto", help="Prompt form; auto: chat if the model has one."),
    engine: str = typer.Option("auto", help="vllm, transformers, openai or fake."),
    engine_option: list[str] = typer.Option([], metavar="KEY=VALUE", help="Passed to the engine."),
    workers: int = typer.Option(default_workers(), min=1, help="Checks at once."),
    fail_under: float | None = typer.Option(
        None, min=0.0, max=1.0, help="Exit status 3 if the accuracy on a set is lower."
    ),
    sandbox: opt.Sandbox = "auto",
    seed: opt.Seed = 0,
    limit: opt.Limit = None,
    accept_failed: opt.AcceptFailed = False,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Sample a model's answers to problems and verify them."""
    if n > 1 and temperature == 0:
        raise UsageError("greedy samples are all alike", hint="-n above 1 wants --temperature 0.7")
    engine = default_engine() if engine == "auto" else engine_spec(engine).name
    ref = model_ref(model, served=engine in ("openai", "fake"))
    plan = Plan(
        model=ref, style=asked_style(style, ref, engine), num_shots=shots, n=n,
        max_tokens=max_tokens, temperature=temperature, top_p=top_p, seed=seed,
    )  # fmt: skip
    accuracies = []
    with ExitStack() as stack:
        lazy = LazyEngine(engine, ref.place, engine_options(engine_option), stack)
        for place in on:
            dataset = open_dataset(opt.resolve_input(place), kind="problem")
            options = Options(
                model=ref.name, engine=engine, style=plan.style, shots=shots, n=n,
                max_tokens=max_tokens, temperature=temperature, top_p=top_p, seed=seed,
                verifiers=prepare(dataset.tasks(), sandbox=sandbox, workers=workers),
                engine_option=tuple(engine_option), workers=workers,
            )  # fmt: skip
            flags = opt.RunFlags(
                out=_out_for(out, place, len(on)), limit=limit, dry_run=dry_run, as_json=as_json,
                quiet=quiet, accept_failed=accept_failed,
            )  # fmt: skip
            done = run_stage(stage_for(plan, lazy), dataset, options, flags, models=(ref,))
            if done is not None:
                accuracies.append(_report(done, flags))
    if fail_under is not None and any(value < fail_under for value in accuracies):
        raise typer.Exit(3)


def _out_for(out: str | None, place: str, num_sets: int) -> str | None:
    if out is None or num_sets == 1:
        return out
    return f"{out}/{Path(place).name}"


def _report(done: Finished, flags: opt.RunFlags) -> float:
    counts: dict[str, int] = {}
    for batch in Dataset(done.location, done.manifest).batches(["verdict"]):
        for verdict in batch["verdict"].to_pylist():
            counts[verdict] = counts.get(verdict, 0) + 1
    total = max(sum(counts.values()), 1)
    accuracy = counts.get("correct", 0) / total
    shares = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    say(f"eval: accuracy {accuracy:.1%} of {total:,} ({shares})", quiet=flags.quiet)
    print_result(str(done.location), flags, {"id": done.manifest.id, "accuracy": accuracy})
    return accuracy
