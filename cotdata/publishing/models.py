"""A model folder, ready to be sent: weights, tokenizer and lineage, and nothing of the run.

Optimizer states, checkpoints and pickled arguments stay: they hold paths of the
machine, and nobody loads a model with them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from cotdata.errors import InputError
from cotdata.manifest import step_of
from cotdata.modelref import LINEAGE
from cotdata.publishing import Bundle
from cotdata.publishing.cards import Card, render

SENT = (".safetensors", ".json", ".jsonl", ".jinja", ".txt", ".model", ".yaml", ".yml")
KEPT_BACK = ("trainer_state.json",)
TAGS = ["cotdata", "chain-of-thought", "reasoning"]


def is_model(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("config.json", "adapter_config.json"))


def stage_model(model: Path, folder: Path, *, repo: str) -> Bundle:
    lineage = _lineage(model)
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(model.iterdir()):
        if path.is_file() and path.suffix in SENT and path.name not in KEPT_BACK:
            shutil.copyfile(path, folder / path.name)
    section = render(
        "model.md.j2",
        steps=[step_of(step) for step in lineage["steps"]],
        settings=lineage.get("training", {}).get("options", {}),
        packages=lineage.get("packages", {}),
    )
    meta = {
        "pretty_name": repo.partition("/")[2],
        "library_name": "peft" if (model / "adapter_config.json").exists() else "transformers",
        "pipeline_tag": "text-generation",
        "tags": TAGS,
    }
    return Bundle(
        folder=folder,
        kind="model",
        card=Card(title=repo, meta=meta, sections={"training": section}),
        owned=("*.safetensors", "*.safetensors.index.json"),
        splits={},
    )


def _lineage(model: Path) -> dict[str, Any]:
    place = model / LINEAGE
    found: dict[str, Any] = json.loads(place.read_text()) if place.exists() else {}
    if not found.get("steps"):
        raise InputError(
            f"the model has no lineage: {LINEAGE} is missing or names no steps",
            where=str(model),
            hint="publish a model that cotdata train has finished",
        )
    return found
