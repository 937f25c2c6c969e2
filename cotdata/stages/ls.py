"""ls: the datasets and models in a folder, one line each.

cotdata ls runs
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from cotdata import options as opt
from cotdata.command import new_app
from cotdata.errors import InputError
from cotdata.locations import Location
from cotdata.manifest import MANIFEST
from cotdata.modelref import LINEAGE, model_ref
from cotdata.store import read_manifest

app = new_app()


@app.command(epilog="Example: cotdata ls runs")
def ls(
    folder: str = typer.Argument(None, help="Default: $COTDATA_HOME.", show_default=False),
    as_json: opt.AsJson = False,
) -> None:
    """List datasets and models in a folder."""
    root = Path(folder) if folder else opt.home()
    if not root.is_dir():
        raise InputError("no such folder", where=str(root))
    found = [record for record in map(_record, _places(root)) if record]
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    for record in found:
        print("{path:<32} {what:<12} {rows:>10}  {id}  {state}".format(**record).rstrip())


def _places(root: Path) -> list[Path]:
    """The folder itself and two levels below it: OUT, and OUT/<arm>."""
    return [root, *sorted(p for p in (*root.glob("*"), *root.glob("*/*")) if p.is_dir())]


def _record(place: Path) -> dict[str, Any] | None:
    if (place / MANIFEST).exists():
        manifest = read_manifest(Location.parse(str(place)))
        assert manifest is not None
        rows = f"{manifest.fates.written:,}"
        what = f"{manifest.kind}s"
        return {"path": str(place), "what": what, "rows": rows, "id": manifest.id, "state": ""}
    if (place / ".work").exists():
        run = json.loads((place / ".work" / "run.json").read_text())
        state = "unfinished: its command resumes"
        return {"path": str(place), "what": run["stage"], "rows": "", "id": "", "state": state}
    if (place / LINEAGE).exists() or (place / "model.safetensors").exists():
        model = model_ref(str(place))
        return {"path": str(place), "what": "model", "rows": "", "id": model.id, "state": ""}
    return None
