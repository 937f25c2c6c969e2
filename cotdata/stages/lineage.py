"""lineage: how a dataset or a model came to be, oldest step first.

cotdata lineage runs/demo/W
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from cotdata import options as opt
from cotdata.command import new_app
from cotdata.manifest import Step
from cotdata.modelref import LINEAGE, model_ref
from cotdata.store import open_dataset

app = new_app()


@app.command(epilog="Example: cotdata lineage runs/demo/W")
def lineage(source: opt.Input, as_json: opt.AsJson = False) -> None:
    """Show how a dataset or a model came to be."""
    place = opt.resolve_input(source)
    if (Path(place) / LINEAGE).exists():
        steps = model_ref(place).steps
    else:
        steps = open_dataset(place).manifest.lineage()
    if as_json:
        print(json.dumps([asdict(step) for step in steps], ensure_ascii=False))
        return
    for step in steps:
        print("\n".join(_lines(step)))


def _lines(step: Step) -> list[str]:
    parents = ", ".join(parent["id"] for parent in step.parents)
    return [
        step.id,
        f"    from  {parents}",
        f"    by    {step.command}",
        f"    rows  {step.fates.line()}",
    ]
