"""Loading a student and saving it so that it stops where it was taught to.

    student = load_student("models/smollm2", options)
    save_student(trained, student, Path("runs/G"))

The end token that training appends is the one written to the generation config,
so an engine needs no stop text of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cotdata.errors import InputError, MissingPackage
from cotdata.training.options import TrainOptions


@dataclass(frozen=True, kw_only=True)
class Student:
    """`stored_dtype` is that of the weights on disk; they are saved in it again."""

    model: Any
    tokenizer: Any
    stored_dtype: Any
    num_parameters: int


def load_tokenizer(place: str) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(place)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no tokenizer can be loaded from here: {str(error).splitlines()[0]}",
            where=place,
            hint="copy tokenizer.json and tokenizer_config.json of the model into the folder",
        ) from error
    if tokenizer.eos_token_id is None:
        raise InputError(
            "the tokenizer has no end token, so a student could not learn to stop",
            where=place,
            hint='set "eos_token" in tokenizer_config.json',
        )
    return tokenizer


def load_student(place: str, *, bf16_weights: bool, attention: str) -> Student:
    """Full fine-tuning keeps float32 weights; frozen weights under adapters need not."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    tokenizer = load_tokenizer(place)
    stored = AutoConfig.from_pretrained(place).dtype or torch.float32
    model = AutoModelForCausalLM.from_pretrained(
        place,
        dtype=torch.bfloat16 if bf16_weights else torch.float32,
        attn_implementation=attention,
    )
    number = sum(parameter.numel() for parameter in model.parameters())
    return Student(model=model, tokenizer=tokenizer, stored_dtype=stored, num_parameters=number)


def adapter_config(options: TrainOptions) -> Any:
    """Low-rank adapters on every linear layer but the head, or None for all weights."""
    if options.method == "full":
        return None
    try:
        from peft import LoraConfig
    except ImportError as error:
        raise MissingPackage("peft", "train") from error
    return LoraConfig(
        r=options.lora_rank,
        lora_alpha=options.lora_alpha,
        lora_dropout=options.lora_dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def save_student(model: Any, student: Student, folder: Path) -> None:
    eos = student.tokenizer.eos_token_id
    base = getattr(model, "base_model", model) if hasattr(model, "peft_config") else model
    base.config.eos_token_id = eos
    generation = base.generation_config
    generation.eos_token_id = eos
    if hasattr(model, "peft_config"):
        model.save_pretrained(folder)
    else:
        model.to(student.stored_dtype).save_pretrained(folder)
    generation.save_pretrained(folder)
    student.tokenizer.save_pretrained(folder)
