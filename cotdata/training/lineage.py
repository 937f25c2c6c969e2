"""`cotdata.json`: what a model folder was made of; without it no run has finished.

It names no host: the student by its folder's name and digest, never its path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from cotdata.manifest import package_versions
from cotdata.modelref import LINEAGE

TRAINING_PACKAGES = ("accelerate", "peft", "tokenizers")


def read_lineage(folder: Path) -> dict[str, Any] | None:
    place = folder / LINEAGE
    if not place.exists():
        return None
    found: dict[str, Any] = json.loads(place.read_text())
    return found


def write_lineage(folder: Path, record: Mapping[str, Any]) -> None:
    """Written whole and to the disk before it gets its name."""
    temporary = folder / f"{LINEAGE}.tmp"
    with temporary.open("w") as file:
        file.write(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / LINEAGE)


def versions() -> dict[str, str]:
    found = package_versions()
    for name in TRAINING_PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
