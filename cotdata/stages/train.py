"""train: fine-tune a student on the traces of one dataset.

Reads traces, writes a model folder. The loss is on the trace alone, the prompt
is the one that `sample` and `eval` ask with, and the token that ends generation
is learned. Nothing is cut: traces over --max-length are left out and counted.
Interrupted training goes on from its last checkpoint with the same losses.

Before the first step the traces are linted (`cotdata/training/lint.py`): errors
stop the run with exit status 3, warnings are listed. --dry-run shows the findings,
one example with its trained tokens marked, and what memory the run will take.

    cotdata train d/W --student models/smollm2 -o runs/student-W
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from cotdata import options as opt
from cotdata.command import new_app, print_result
from cotdata.errors import GateFailed, OutputExists
from cotdata.manifest import Fates, Step, merge_lineages, run_id
from cotdata.modelref import ModelRef, folder_digest, model_ref
from cotdata.progress import duration, say
from cotdata.sampling import AskedStyle, asked_style
from cotdata.schema import Row
from cotdata.store import Dataset, open_dataset
from cotdata.training.checks import lint, planned_memory
from cotdata.training.lineage import read_lineage
from cotdata.training.options import Batching, Method, TrainOptions, preset_options
from cotdata.training.sft import TrainResult, finish_model, public_options, train_model

VERSION = 1
NOT_IN_ID = ("report_to", "keep_checkpoints", "save_every")

app = new_app()


@app.command(epilog="Example: cotdata train d/W --student models/smollm2 -o runs/student-W")
def train(
    source: opt.Input,
    student: str = typer.Option(..., help="A model folder or a Hub name."),
    out: opt.Out = None,
    preset: str | None = typer.Option(None, help="shape-of-thought: the paper's settings."),
    method: Method | None = typer.Option(None, help="All weights (the default), or LoRA adapters."),
    epochs: float | None = typer.Option(None, help="Passes over the traces; default 1."),
    lr: float | None = typer.Option(None, help="Peak learning rate; default by student's size."),
    batch_size: int | None = typer.Option(None, help="Traces per device and micro-batch."),
    grad_accum: int | None = typer.Option(None, help="Micro-batches per step."),
    max_length: int | None = typer.Option(None, help="Longest prompt and trace in tokens."),
    max_steps: int | None = typer.Option(None, help="Stop after so many steps."),
    weight_decay: float | None = typer.Option(None, help="Default 0."),
    warmup: float | None = typer.Option(None, help="Share of the steps; default 0.03."),
    scheduler: str | None = typer.Option(None, help="cosine (the default), linear, constant…"),
    batching: Batching | None = typer.Option(None, help="flat, padded or bfd packs."),
    shots: int = typer.Option(0, min=0, help="Worked examples before the problem."),
    style: AskedStyle = typer.Option("auto", help="Prompt form; auto: chat if the model has one."),
    lora_rank: int | None = typer.Option(None, help="Rank of LoRA adapters; default 16."),
    save_every: int | None = typer.Option(None, help="Steps between checkpoints."),
    keep_checkpoints: int | None = typer.Option(None, help="Checkpoints to keep at the end."),
    report_to: list[str] = typer.Option([], help="tensorboard, trackio or wandb."),
    trainer_option: list[str] = typer.Option(
        [], metavar="KEY=VALUE", help="Passed to TRL's SFTConfig."
    ),
    held_out: list[str] = typer.Option(
        [], metavar="DATASET", help="Problems of evaluation: none may be among the traces."
    ),
    seed: int | None = typer.Option(None, help="Seed of order and adapters; default 0."),
    limit: opt.Limit = None,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Fine-tune a student on traces."""
    ref = model_ref(student)
    given: dict[str, Any] = {
        "method": method, "epochs": epochs, "lr": lr, "batch_size": batch_size,
        "grad_accum": grad_accum, "max_length": max_length, "max_steps": max_steps,
        "weight_decay": weight_decay, "warmup": warmup, "scheduler": scheduler,
        "batching": batching, "lora_rank": lora_rank, "save_every": save_every,
        "keep_checkpoints": keep_checkpoints, "seed": seed,
        "report_to": tuple(report_to) or None, "extra": tuple(trainer_option) or None,
    }  # fmt: skip
    settings = preset_options(preset) if preset else {}
    settings |= {name: value for name, value in given.items() if value is not None}
    options = TrainOptions(
        student=student, num_shots=shots, prompt_style=asked_style(style, ref, "train"), **settings
    )
    dataset = open_dataset(opt.resolve_input(source), kind="trace")
    flags = opt.RunFlags(out=out, limit=limit, dry_run=dry_run, as_json=as_json, quiet=quiet)
    asked = {"student": ref.name, "preset": preset, "shots": shots or None, **given}
    asked["trainer_option"] = asked.pop("extra")
    command = opt.command_line("train", [dataset.id], asked, limit)
    problems = {problem for place in held_out for problem in _problem_ids(open_dataset(place))}
    _train(dataset, ref, options, flags, command, problems)


def _train(
    dataset: Dataset,
    ref: ModelRef,
    options: TrainOptions,
    flags: opt.RunFlags,
    command: str,
    held_out: set[str],
) -> None:
    parents = [dataset.parent, ref.parent]
    settings = {**public_options(options), "limit": flags.limit}
    deciding = {name: value for name, value in settings.items() if name not in NOT_IN_ID}
    run = run_id("train", VERSION, deciding, parents)
    out = Path(flags.out or opt.home() / run)
    found = read_lineage(out)
    if found is not None:
        if found.get("id") != run:
            raise OutputExists(
                f"another model is here: {found.get('id', 'an imported one')}",
                where=str(out),
                hint="choose another -o, or delete it; nothing is ever overwritten",
            )
        say("train: already done", quiet=flags.quiet)
        print_result(str(out), flags, {"id": run})
        return
    dataset.check_files()
    report = lint(lambda: _rows(dataset, flags.limit), options, held_out)
    for finding in report.findings:
        say(f"train: {finding.line()}", quiet=flags.quiet)
    if flags.dry_run:
        say(f"train: would fine-tune {ref.name} on {report.num_rows:,} traces into {out}")
        say(f"{report.rendered}\n{planned_memory(options, report.longest)}")
    if report.errors:
        raise GateFailed(
            "the traces are not fit to train on: " + report.errors[0].line(),
            where=str(dataset.location),
            hint="mend or filter them; --dry-run shows an example",
        )
    if flags.dry_run:
        return
    result = train_model(
        lambda: _rows(dataset, flags.limit),
        out,
        options,
        identity={"id": run, "parents": parents},
        quiet=flags.quiet,
    )
    step = Step(
        id=run,
        stage="train",
        stage_version=VERSION,
        options=deciding,
        parents=parents,
        digest=folder_digest(out),
        fates=_fates(result),
        command=command,
    )
    steps = merge_lineages([dataset.ancestors(), ref.ancestors(), [step]])
    record = {"id": run, "steps": [asdict(step) for step in steps], **result.record()}
    finish_model(out, record, result.options)
    rate = result.tokens / max(result.wall_s, 1e-9)
    say(
        f"train: {result.steps} steps, {result.tokens:,} tokens in {duration(result.wall_s)} "
        f"({rate:,.0f} tokens/s), loss {result.losses[0]:.3f} -> {result.losses[-1]:.3f}",
        quiet=flags.quiet,
    )
    print_result(str(out), flags, {"id": run, "loss": result.losses[-1], "steps": result.steps})


def _problem_ids(dataset: Dataset) -> Iterator[str]:
    for batch in dataset.batches(["problem_id"]):
        yield from batch["problem_id"].to_pylist()


def _rows(dataset: Dataset, limit: int | None) -> Iterator[Row]:
    rows = (row for batch in dataset.batches() for row in batch.to_pylist())
    return itertools.islice(rows, limit)


def _fates(result: TrainResult) -> Fates:
    found = result.coverage
    return Fates(
        read=found.rows,
        passed=found.used,
        rejected=found.rows - found.used,
        failed=0,
        written=0,
        reasons=dict(found.dropped),
    )
