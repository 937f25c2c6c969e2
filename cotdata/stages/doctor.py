"""doctor: what this machine can do, and what to install for the rest.

cotdata doctor
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from importlib.util import find_spec

from cotdata import options as opt
from cotdata.command import new_app
from cotdata.engines import default_engine
from cotdata.manifest import package_versions
from cotdata.sandbox.probe import doctor_lines

EXTRAS = {
    "aiohttp": "the engine openai: pip install 'cotdata[openai]'",
    "trl": "the stage train: pip install 'cotdata[train]'",
    "vllm": "the engine vllm: pip install 'cotdata[vllm]', without a GPU: see ./install.sh",
}

app = new_app()


@app.command(epilog="Example: cotdata doctor")
def doctor(as_json: opt.AsJson = False) -> None:
    """Say what this machine can do."""
    found = {
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "gpu": shutil.which("nvidia-smi") is not None,
        "engine": default_engine(),
        "packages": package_versions(),
        "missing": {name: use for name, use in EXTRAS.items() if find_spec(name) is None},
        "sandbox": doctor_lines(),
    }
    if as_json:
        print(json.dumps(found))
        return
    print(f"Python {found['python']}, {found['cores']} cores, GPU: {_yes(bool(found['gpu']))}")
    print(f"engine for sample and eval: {found['engine']}")
    for name, use in EXTRAS.items():
        print(f"{name}: {'installed' if find_spec(name) else f'missing; for {use}'}")
    print("\n".join(doctor_lines()))


def _yes(value: bool) -> str:
    return "yes" if value else "no"
