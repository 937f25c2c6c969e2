"""What a dataset is and how it came to be: `manifest.json`.

It names no host: no absolute path, no user, no token. Its `ancestors` repeat the
lineage of every parent, so that a dataset explains itself when its parents are
gone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

from cotdata.errors import DamagedDataset, NewerFormat
from cotdata.schema import RowKind

FORMAT = 1
MANIFEST = "manifest.json"
PACKAGES = ("cotdata", "pyarrow", "datasets", "transformers", "trl", "vllm", "math-verify", "torch")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileEntry:
    path: str
    sha256: str
    bytes: int
    rows: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Fates:
    """Every input row has exactly one fate; `written` counts output rows."""

    read: int
    passed: int
    rejected: int
    failed: int
    written: int
    reasons: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.read == self.passed + self.rejected + self.failed, self

    def line(self) -> str:
        why = ", ".join(f"{n:,} {reason}" for reason, n in self.reasons.items())
        lost = f" ({why})" if why else ""
        return (
            f"{self.read:,} read = {self.passed:,} passed + {self.rejected:,} rejected"
            f" + {self.failed:,} failed{lost}; {self.written:,} rows written"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One stage's run: what makes its output the output it is, and what came of it."""

    id: str
    stage: str
    stage_version: int
    options: dict[str, Any]
    parents: list[dict[str, str]]
    digest: str
    fates: Fates
    command: str


@dataclass(frozen=True, kw_only=True)
class Manifest(Step):
    """`digest` is over the rows of `data/`, whatever their order or files."""

    kind: RowKind
    files: list[FileEntry]
    licenses: list[str]
    sources: list[str]
    packages: dict[str, str]
    started: str
    ended: str
    wall_s: float
    tokens: dict[str, int]
    ancestors: list[Step]
    format: int = FORMAT

    def dumps(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def loads(cls, record: Mapping[str, Any], where: str) -> Manifest:
        if record.get("format", 0) > FORMAT:
            raise NewerFormat(
                f"manifest format {record['format']}; this cotdata reads up to {FORMAT}",
                where=where,
                hint="upgrade with: pip install -U cotdata",
            )
        try:
            fields = dict(record)
            fields["fates"] = Fates(**fields["fates"])
            fields["files"] = [FileEntry(**entry) for entry in fields["files"]]
            fields["ancestors"] = [step_of(step) for step in fields["ancestors"]]
            return cls(**fields)
        except (KeyError, TypeError) as error:
            raise DamagedDataset(f"the manifest is damaged: {error}", where=where) from error

    def lineage(self) -> list[Step]:
        """This run and its ancestors, the oldest first."""
        own = Step(**{name: getattr(self, name) for name in Step.__dataclass_fields__})
        return [*self.ancestors, own]


def step_of(record: Mapping[str, Any]) -> Step:
    return Step(**{**record, "fates": Fates(**record["fates"])})


def run_id(
    stage: str, version: int, options: Mapping[str, Any], parents: list[dict[str, str]]
) -> str:
    """`STAGE-` and 12 hex digits that change with whatever changes the result."""
    digests = [parent["digest"] for parent in parents]
    content = json.dumps([stage, version, options, digests], sort_keys=True)
    return f"{stage}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def merge_lineages(lineages: list[list[Step]]) -> list[Step]:
    """All steps once, each after its own parents."""
    return list({step.id: step for lineage in lineages for step in lineage}.values())


def package_versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
