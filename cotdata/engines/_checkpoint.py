"""What a model folder or Hub name holds, as the in-process engines need it.

    found = find_checkpoint("runs/student-lora")   # an adapter: its base model is named inside
    tokenizer = load_tokenizer(found.tokenizer)

It reads configuration and tokenizer, never weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cotdata.errors import InputError, MissingPackage

TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "tekken.json",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """`base` holds the weights; `adapter` is a LoRA folder laid over them, or None."""

    base: str
    adapter: Path | None
    tokenizer: str


def need_package(package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise MissingPackage(package, extra)


def find_checkpoint(model: str) -> Checkpoint:
    folder = Path(model)
    record = folder / "adapter_config.json"
    if not record.is_file():
        return Checkpoint(base=model, adapter=None, tokenizer=model)
    base = json.loads(record.read_text()).get("base_model_name_or_path") or ""
    if not base or (base.startswith((".", "/")) and not Path(base).is_dir()):
        raise InputError(
            f"this adapter's base model {base!r} is not there",
            where=str(record),
            hint="set base_model_name_or_path to the folder or Hub name of its base model",
        )
    own = any((folder / name).exists() for name in TOKENIZER_FILES)
    return Checkpoint(base=base, adapter=folder, tokenizer=model if own else base)


def load_tokenizer(place: str) -> Any:
    need_package("transformers", "transformers")
    from transformers import AutoTokenizer

    folder = Path(place)
    if folder.is_dir() and not any((folder / name).exists() for name in TOKENIZER_FILES):
        raise InputError(
            "the model folder has no tokenizer",
            where=place,
            hint="copy the tokenizer files of its base model (tokenizer.json, …) into the folder",
        )
    try:
        return AutoTokenizer.from_pretrained(place)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"its tokenizer cannot be read: {error}", where=place) from error


def slow_at_bfloat16() -> bool:
    """Whether this CPU emulates bfloat16, at a tenth of its float32 speed."""
    import torch

    able = torch.cpu.get_capabilities()
    return not any(able.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))


def lora_rank(adapter: Path) -> int:
    config = json.loads((adapter / "adapter_config.json").read_text())
    return max([int(config["r"]), *map(int, config.get("rank_pattern", {}).values())])


def end_ids(tokenizer: Any, generation_config: Any) -> frozenset[int]:
    """Every token that ends a completion: the tokenizer's and the generation config's."""
    named = getattr(generation_config, "eos_token_id", None)
    ends = named if isinstance(named, list) else [named]
    return frozenset(end for end in (*ends, tokenizer.eos_token_id) if end is not None)


def context_length(config: Any) -> int:
    text = config.get_text_config()
    return int(getattr(text, "max_position_embeddings", 0) or getattr(text, "n_positions", 1024))


def too_long(length: int, context: int) -> str:
    return f"the prompt has {length} tokens, the model takes {context} with at least one reply"
