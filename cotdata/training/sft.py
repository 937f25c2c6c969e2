"""Supervised fine-tuning of a student on the traces of one arm.

    result = train_model(dataset.rows, Path("runs/G"), TrainOptions(student="models/smollm2"))
    finish_model(Path("runs/G"), {"id": run, "steps": steps, **result.record()}, result.options)

`train_model` may be killed at any time; called again with the same rows and
options it goes on from the last whole checkpoint, with the same losses as an
uninterrupted run. The folder is a finished model only after `finish_model`.
It does not check the traces: that is `lint`'s part.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import shutil
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cotdata.errors import InputError, MissingPackage, OutputExists
from cotdata.modelref import LINEAGE, model_ref
from cotdata.progress import say
from cotdata.training.examples import Coverage, ExampleBuilder, RowSource, write_examples
from cotdata.training.options import (
    TrainOptions,
    default_attention,
    extra_settings,
    has_fast_bf16,
    resolve,
)  # fmt: skip

WORK = ".work"
CHECKPOINTS = "checkpoints"
HISTORY = "training.jsonl"


@dataclass(frozen=True, kw_only=True)
class TrainResult:
    """`history` has one entry a step; `options` are the resolved ones."""

    steps: int
    tokens: int
    wall_s: float
    history: list[dict[str, float]]
    coverage: Coverage
    options: TrainOptions
    versions: dict[str, str]

    @property
    def losses(self) -> list[float]:
        return [entry["loss"] for entry in self.history]

    def record(self) -> dict[str, Any]:
        """The part of the lineage that is the same on every host."""
        losses = self.losses
        return {
            "training": {
                "options": public_options(self.options),
                "coverage": asdict(self.coverage),
                "steps": self.steps,
                "tokens": self.tokens,
                "first_loss": losses[0],
                "last_loss": losses[-1],
                "mean_loss": sum(losses) / len(losses),
            },
            "packages": self.versions,
            "wall_s": round(self.wall_s, 1),
        }


def public_options(options: TrainOptions) -> dict[str, Any]:
    """The options with the student's name in place of its path."""
    return {**asdict(options), "student": model_ref(options.student).name}


def train_model(
    rows: RowSource,
    out: Path,
    options: TrainOptions,
    *,
    identity: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> TrainResult:
    """Train and save into `out`. `identity` tells the training set and the student
    apart from others: an unfinished run with another one is not resumed.
    """
    _require_trl()
    from cotdata.training.students import load_student

    work = out / WORK
    claim(out, {**(identity or {}), "options": public_options(options)})
    bf16 = has_fast_bf16() if options.bf16 is None else options.bf16
    with quiet_libraries():
        student = load_student(
            options.student,
            bf16_weights=bf16 and options.method == "lora",
            attention=options.attention or default_attention(),
        )
        options = resolve(options, num_parameters=student.num_parameters)
        builder = ExampleBuilder(
            tokenizer=student.tokenizer,
            style=options.prompt_style,
            num_shots=options.num_shots,
            max_length=options.max_length,
            too_long=options.too_long,
        )
        write_examples(builder.examples(rows()), work / "examples.arrow")
        say(f"train: {builder.coverage.line()}", quiet=quiet)
        if not builder.coverage.used:
            raise InputError("no trace is left to train on", hint=builder.coverage.line())
        return _fit(student, out, options, builder.coverage, quiet=quiet)


def _fit(
    student: Any, out: Path, options: TrainOptions, coverage: Coverage, *, quiet: bool
) -> TrainResult:
    from cotdata.training.checkpoints import Checkpoints, last_whole
    from cotdata.training.lineage import versions
    from cotdata.training.students import save_student
    from cotdata.training.watch import Watch

    folder = out / WORK / CHECKPOINTS
    trainer = make_trainer(student, out / WORK, options)
    watch = Watch(quiet=quiet)
    trainer.add_callback(watch)
    trainer.add_callback(
        Checkpoints(folder, by_clock=options.save_every is None, keep=options.keep_checkpoints)
    )
    resumed = last_whole(folder)
    if resumed is not None:
        say(f"train: resuming from {resumed.name}", quiet=quiet)
    try:
        done = trainer.train(resume_from_checkpoint=str(resumed) if resumed else None)
    finally:
        watch.stop()
    history = [entry for entry in trainer.state.log_history if "loss" in entry]
    save_student(trainer.accelerator.unwrap_model(trainer.model), student, out)
    _write_history(out, history)
    return TrainResult(
        steps=trainer.state.global_step,
        tokens=int(history[-1].get("num_tokens", 0)),
        wall_s=float(done.metrics["train_runtime"]),
        history=history,
        coverage=coverage,
        options=options,
        versions=versions(),
    )


def make_trainer(student: Any, work: Path, options: TrainOptions) -> Any:
    from datasets import Dataset
    from transformers import PrinterCallback

    from cotdata.training.students import adapter_config
    from cotdata.training.trainer import CompletionTrainer

    trainer = CompletionTrainer(
        model=student.model,
        args=trainer_settings(work / CHECKPOINTS, options),
        train_dataset=Dataset.from_file(str(work / "examples.arrow")),
        processing_class=student.tokenizer,
        peft_config=adapter_config(options),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def trainer_settings(folder: Path, options: TrainOptions) -> Any:
    """Our options as an SFTConfig; `extra` has the last word."""
    import torch
    from trl import SFTConfig

    known = {field.name: None for field in dataclasses.fields(SFTConfig)}
    settings: dict[str, Any] = {
        "output_dir": str(folder),
        "learning_rate": options.lr,
        "num_train_epochs": options.epochs,
        "max_steps": options.max_steps or -1,
        "per_device_train_batch_size": options.batch_size,
        "gradient_accumulation_steps": options.grad_accum,
        "max_length": options.max_length if options.batching == "bfd" else None,
        "packing": options.batching == "bfd",
        "padding_free": options.batching == "flat",
        "weight_decay": options.weight_decay,
        "warmup_steps": options.warmup,
        "lr_scheduler_type": options.scheduler,
        "seed": options.seed,
        "data_seed": options.seed,
        "bf16": options.bf16,
        "gradient_checkpointing": options.gradient_checkpointing,
        "save_strategy": "no" if options.save_every is None else "steps",
        "save_steps": options.save_every or 0,
        "logging_steps": 1,
        "report_to": list(options.report_to),
        "disable_tqdm": True,
        "dataloader_pin_memory": torch.cuda.is_available(),
        "use_cpu": not torch.cuda.is_available(),
    }
    return SFTConfig(**{**settings, **extra_settings(options.extra, known)})


def claim(out: Path, identity: Mapping[str, Any]) -> None:
    """An unfinished run may only be resumed by the same run."""
    if (out / LINEAGE).exists():
        raise OutputExists("a finished model is here", where=out.name, hint="choose another -o")
    place = out / WORK / "run.json"
    text = json.dumps(identity, indent=1, sort_keys=True)
    if place.exists() and place.read_text() != text:
        raise OutputExists(
            "an unfinished training with other options or traces is here",
            where=out.name,
            hint="finish it with its own options, delete the folder, or choose another -o",
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.replace(place)


def finish_model(out: Path, record: Mapping[str, Any], options: TrainOptions) -> None:
    """The lineage last: with it the folder is a model, without it an unfinished run."""
    from cotdata.training.checkpoints import keep_models
    from cotdata.training.lineage import write_lineage

    keep_models(out / WORK / CHECKPOINTS, out / CHECKPOINTS, options.keep_checkpoints)
    write_lineage(out, record)
    shutil.rmtree(out / WORK)


def _write_history(out: Path, history: list[dict[str, float]]) -> None:
    lines = (json.dumps(entry, sort_keys=True) for entry in history)
    (out / HISTORY).write_text("".join(f"{line}\n" for line in lines))


def _require_trl() -> None:
    try:
        import trl  # noqa: F401
    except ImportError as error:
        raise MissingPackage("trl", "train") from error


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Their progress bars and notices would drown ours; their errors still come."""
    import datasets
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    datasets.disable_progress_bars()
    for name in ("trl", "accelerate", "peft"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"(transformers|trl|accelerate|torch|peft)\.")
        yield
