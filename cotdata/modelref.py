"""Which model a path or name means: its name for people, its digest for ids.

A folder is known by its content, not by where it lies: config and tokenizer in
full, weights by size and by samples, so that a retrained model of the same shape
is another model while an 18 GB checkpoint is told apart in a second.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cotdata.errors import InputError
from cotdata.manifest import Step, step_of

LINEAGE = "cotdata.json"
SAMPLE_BYTES = 1 << 16
NUM_SAMPLES = 64


@dataclass(frozen=True, kw_only=True)
class ModelRef:
    """`place` is what an engine opens; `steps` the lineage of a model trained here."""

    place: str
    name: str
    digest: str
    id: str
    steps: list[Step] = field(default_factory=list)

    @property
    def parent(self) -> dict[str, str]:
        return {"id": self.id, "digest": self.digest, "stage": "train" if self.steps else "model"}

    def ancestors(self) -> list[Step]:
        return self.steps


def model_ref(model: str, *, served: bool = False) -> ModelRef:
    """`served`: the name of a model on a server, which is all that is known of it."""
    folder = Path(model)
    if served or not folder.exists():
        if not served and (model.startswith((".", "/")) or model.count("/") != 1):
            raise InputError(
                "no such model folder",
                where=model,
                hint="give a folder, a Hub name such as org/model, or make one with: "
                "cotdata model import smollm2 -o models/smollm2",
            )
        return ModelRef(place=model, name=model, digest=model, id=model)
    if not (folder / "config.json").exists() and not (folder / "adapter_config.json").exists():
        raise InputError("no model here: config.json is missing", where=model)
    lineage = _lineage(folder)
    digest = folder_digest(folder)
    name = folder.resolve().name
    return ModelRef(
        place=model,
        name=name,
        digest=digest,
        id=lineage.get("id", f"{name}-{digest[:12]}"),
        steps=[step_of(record) for record in lineage.get("steps", [])],
    )


def _lineage(folder: Path) -> dict[str, Any]:
    place = folder / LINEAGE
    found: dict[str, Any] = json.loads(place.read_text()) if place.exists() else {}
    return found


def folder_digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in (".safetensors", ".bin"):
            digest.update(f"{path.name} {path.stat().st_size} {_sampled(path)}".encode())
        elif path.suffix in (".json", ".jinja", ".txt", ".model") and path.name != LINEAGE:
            digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sampled(path: Path) -> str:
    digest, size = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as file:
        for number in range(NUM_SAMPLES):
            file.seek(max(0, size - SAMPLE_BYTES) * number // (NUM_SAMPLES - 1))
            digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()


def has_chat_template(ref: ModelRef) -> bool:
    """Read off the folder; for a Hub name the tokenizer is loaded."""
    folder = Path(ref.place)
    if not folder.is_dir():
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(ref.place).chat_template is not None
    if any(folder.glob("chat_template.*")):
        return True
    config = folder / "tokenizer_config.json"
    return config.exists() and bool(json.loads(config.read_text()).get("chat_template"))
