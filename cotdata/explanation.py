"""Why a command would run, resume, stop or be refused, in words."""

from __future__ import annotations

import json
from dataclasses import asdict

from cotdata.locations import Location
from cotdata.options import home
from cotdata.store import read_manifest
from cotdata.work import Identity, differences


def explanation(out: Location, run: str, identity: Identity) -> str:
    manifest = read_manifest(out)
    if manifest is not None and manifest.id == run:
        return f"{run} is done: the command would print {out} and stop"
    if manifest is not None:
        found = differences(asdict(manifest), identity)
        return _lines(f"{out} holds {manifest.id}, so the command would be refused:", found)
    unfinished = out.child(".work/run.json")
    if out.local is not None and unfinished.exists():
        found = differences(json.loads((out.local / ".work/run.json").read_text()), identity)
        if not found:
            return f"{run} is unfinished: the command would resume it"
        return _lines(f"{out} holds an unfinished run; the command would be refused:", found)
    return _nearest(run, identity)


def _nearest(run: str, identity: Identity) -> str:
    """The stored run of the same stage that differs least."""
    best: tuple[str, list[str]] | None = None
    for place in Location.parse(str(home())).children():
        manifest = read_manifest(place)
        if manifest is not None and manifest.stage == identity["stage"]:
            found = differences(asdict(manifest), identity)
            if best is None or len(found) < len(best[1]):
                best = (manifest.id, found)
    if best is None:
        return f"{run} would run: no run of this stage is stored"
    return _lines(f"{run} would run: the nearest stored run, {best[0]}, differs:", best[1])


def _lines(head: str, differences: list[str]) -> str:
    return "\n".join([head, *(f"    {line}" for line in differences)])
