"""What decides a fine-tuning run, and the defaults filled in for a given student.

    resolve(TrainOptions(student="models/smollm2"), num_parameters=134_515_008)

Settings without a field of their own go to TRL's SFTConfig through `extra`,
checked by name there.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cotdata.errors import UnknownName, UsageError
from cotdata.prompts import PromptStyle

Method = Literal["full", "lora"]
Batching = Literal["flat", "padded", "bfd"]
TooLong = Literal["drop", "refuse"]

LORA_LR = 2e-4


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainOptions:
    """A field that is None is chosen by `resolve`, and recorded as chosen.

    `batch_size` counts examples per device and micro-batch. `batching`: `flat`
    joins a micro-batch's examples end to end without padding (worth it with flash
    attention), `padded` pads them, `bfd` fills packs of `max_length` tokens, so
    that `batch_size` counts packs. `save_every` counts steps; None saves by the
    clock. `extra` are SFTConfig fields.
    """

    student: str
    method: Method = "full"
    prompt_style: PromptStyle = "plain"
    num_shots: int = 0
    lr: float | None = None
    epochs: float = 1.0
    max_steps: int | None = None
    batch_size: int = 16
    grad_accum: int = 1
    max_length: int = 2048
    too_long: TooLong = "drop"
    weight_decay: float = 0.0
    warmup: float = 0.03
    scheduler: str = "cosine"
    seed: int = 0
    batching: Batching | None = None
    gradient_checkpointing: bool | None = None
    bf16: bool | None = None
    attention: str | None = None
    lora_rank: int = 16
    lora_alpha: int = 32
    lora_dropout: float = 0.0
    save_every: int | None = None
    keep_checkpoints: int = 0
    report_to: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


def preset_options(name: str) -> dict[str, Any]:
    """The fields that a preset sets; the command line's own options override them."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return dict(PRESETS[name])


# From the training script that the paper's authors released.
PRESETS: dict[str, dict[str, Any]] = {
    "shape-of-thought": {
        "method": "full",
        "lr": 1e-6,
        "epochs": 10.0,
        "batch_size": 4,
        "grad_accum": 16,
        "max_length": 1024,
        "weight_decay": 0.05,
        "warmup": 0.1,
        "scheduler": "linear",
        "seed": 42,
    },
}


def default_lr(method: Method, num_parameters: int) -> float:
    """Small students need larger steps; adapters need larger ones than weights."""
    if method == "lora":
        return LORA_LR
    if num_parameters < 500_000_000:
        return 1e-4
    return 1e-5 if num_parameters < 5_000_000_000 else 5e-6


def resolve(options: TrainOptions, *, num_parameters: int) -> TrainOptions:
    """Every None that decides the result replaced by what this machine calls for."""
    import torch

    has_gpu = torch.cuda.is_available()
    attention = options.attention or default_attention()
    chosen = {
        "lr": default_lr(options.method, num_parameters),
        "batching": "flat" if "flash" in attention else "padded",
        "gradient_checkpointing": has_gpu,
        "bf16": has_fast_bf16(),
        "attention": attention,
    }
    missing = {name: value for name, value in chosen.items() if getattr(options, name) is None}
    return dataclasses.replace(options, **missing)


def has_fast_bf16() -> bool:
    """Without bfloat16 instructions a CPU takes 30 times as long as in float32."""
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def default_attention() -> str:
    import torch
    from transformers.utils import is_flash_attn_2_available

    return (
        "flash_attention_2" if torch.cuda.is_available() and is_flash_attn_2_available() else "sdpa"
    )


def extra_settings(pairs: Iterable[str], known: Mapping[str, Any]) -> dict[str, Any]:
    """Repeated `key=value` as SFTConfig fields; values are read as Python literals."""
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(f"a trainer option wants key=value, not {pair!r}")
        if key not in known:
            raise UnknownName("trainer option", key, known)
        settings[key] = _literal(value)
    return settings


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (ValueError, SyntaxError):
        return text
