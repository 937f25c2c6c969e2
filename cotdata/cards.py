"""The data card of a dataset, from its manifest: `README.md`, always written.

The `configs` block makes `datasets.load_dataset(FOLDER)` see `data/`, and
`rejected/` under its own name; without it a loader would guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cotdata.schema import COLUMNS

if TYPE_CHECKING:
    from cotdata.manifest import Manifest

CARD = "README.md"
HUB_LICENSES = {"mit", "apache-2.0", "cc-by-4.0", "unknown"}
SIZES = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")]


def card_of(manifest: Manifest) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701
        loader=PackageLoader("cotdata", "."), undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("card.md.j2").render(
        m=manifest,
        configs=_configs(manifest),
        licenses=sorted({hub_license(name) for name in manifest.licenses}),
        size=next((name for limit, name in SIZES if manifest.fates.written < limit), "1M<n<10M"),
        columns=COLUMNS[manifest.kind],
        commands=[step.command for step in manifest.lineage()],
    )


def hub_license(name: str) -> str:
    slug = name.lower().replace(" ", "-")
    return slug if slug in HUB_LICENSES else "other"


def _configs(manifest: Manifest) -> dict[str, list[tuple[str, str]]]:
    """Config name to its (split, glob) pairs; a config without files is left out."""
    configs = {}
    for config, folder in (("default", "data"), ("rejected", "rejected")):
        names = {
            entry.path.removeprefix(f"{folder}/").split("-")[0]
            for entry in manifest.files
            if entry.path.startswith(f"{folder}/")
        }
        if names:
            configs[config] = [(split, f"{folder}/{split}-*") for split in sorted(names)]
    return configs
