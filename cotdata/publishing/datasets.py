"""Datasets as configs of one repository, CONFIG/data/SPLIT-… each, ready to be sent.

    bundle = stage_datasets({"G": open_dataset("d/G")}, Path("out"), repo="org/name", shape="raw")

In raw shape CONFIG is a whole dataset that `hf:org/name@v1:CONFIG` reads, its
rejected rows in a config of their own. An export keeps the manifest of the
dataset it was made from as `source-manifest.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cotdata.cards import SIZES, hub_license
from cotdata.errors import InputError, UsageError
from cotdata.publishing import Bundle
from cotdata.publishing.cards import Card, render
from cotdata.publishing.exports import Shape, copy_dataset, export_columns, export_traces
from cotdata.publishing.facts import Facts, facts_of
from cotdata.schema import COLUMNS
from cotdata.store import Dataset

TAGS = ["cotdata", "chain-of-thought", "reasoning", "synthetic"]

Splits = dict[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """`path` is the folder in the repository that holds its files."""

    name: str
    path: str
    splits: Splits


def stage_datasets(
    datasets: Mapping[str, Dataset], folder: Path, *, repo: str, shape: Shape, num_shots: int = 0
) -> Bundle:
    configs: list[Config] = []
    sections = {}
    for name, dataset in datasets.items():
        dataset.check_files()
        if not dataset.num_rows:
            raise InputError("the dataset is empty: nothing to send", where=name)
        found = _stage(name, dataset, folder, shape, num_shots)
        configs += found
        sections[name] = _section(name, dataset, found[0].splits, repo, shape, num_shots)
    _require_distinct([config.name for config in configs])
    return Bundle(
        folder=folder,
        kind="dataset",
        card=Card(
            title=repo,
            meta=_meta(datasets, configs, repo),
            sections=sections,
            folders=tuple(f"{name}/" for name in datasets),
        ),
        owned=tuple(f"{name}/*" for name in datasets),
        splits={config.name: config.splits for config in configs},
    )


def _stage(name: str, dataset: Dataset, folder: Path, shape: Shape, num_shots: int) -> list[Config]:
    place = folder / name
    if shape == "raw":
        copy_dataset(dataset, place)
        data = Config(name=name, path=f"{name}/data", splits=_rows(dataset, "data"))
        lost = Config(
            name=f"{name}-rejected", path=f"{name}/rejected", splits=_rows(dataset, "rejected")
        )
        return [data, lost] if lost.splits else [data]
    if dataset.kind != "trace":
        raise InputError(
            f"problems hold no trace to write as {shape}",
            where=name,
            hint="publish problems with --shape raw",
        )
    splits = export_traces(dataset, place / "data", shape, num_shots)
    (place / "source-manifest.json").write_text(dataset.manifest.dumps(), encoding="utf-8")
    return [Config(name=name, path=f"{name}/data", splits=splits)]


def _require_distinct(names: list[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise UsageError(f"two configs are called {name!r}", hint="name one: NAME=DATASET")


def _rows(dataset: Dataset, folder: str) -> Splits:
    found: Counter[str] = Counter()
    for entry in dataset.files(folder):
        found[entry.path.partition("/")[2].rpartition("-of-")[0].rpartition("-")[0]] += entry.rows
    return dict(sorted(found.items()))


def _meta(datasets: Mapping[str, Dataset], configs: list[Config], repo: str) -> dict[str, Any]:
    licenses = {name for dataset in datasets.values() for name in dataset.manifest.licenses}
    total = sum(sum(config.splits.values()) for config in configs if config.name in datasets)
    found = {
        "pretty_name": repo.partition("/")[2],
        "license": sorted({hub_license(name) for name in licenses}),
        "language": ["en"],
        "task_categories": ["text-generation"],
        "size_categories": [next((name for limit, name in SIZES if total < limit), "1M<n<10M")],
        "tags": TAGS,
        "configs": [_config_meta(config) for config in configs],
    }
    return {key: value for key, value in found.items() if value}


def _config_meta(config: Config) -> dict[str, Any]:
    files = [{"split": split, "path": f"{config.path}/{split}-*"} for split in config.splits]
    return {"config_name": config.name, "data_files": files}


def _section(
    name: str, dataset: Dataset, splits: Splits, repo: str, shape: Shape, num_shots: int
) -> str:
    manifest = dataset.manifest
    steps = manifest.lineage()
    return render(
        "config.md.j2",
        name=name,
        m=manifest,
        num_rows=sum(splits.values()),
        splits=[f"{split} ({rows:,})" for split, rows in splits.items()],
        repo=repo,
        shape=shape,
        num_shots=num_shots,
        steps=steps,
        commands=[step.command for step in steps],
        facts=facts_of(dataset) if dataset.kind == "trace" else _no_facts(),
        columns=COLUMNS["problem"] if dataset.kind == "problem" else export_columns(shape),
    )


def _no_facts() -> Facts:
    return Facts(generators=Counter(), verifiers=Counter(), verdicts=Counter(), origins=Counter())
