"""Plug-ins are files: `tasks/gsm8k.py` exports TASK and is called gsm8k.

load_plugin("task", "gsm8k")          # the constant TASK of cotdata/tasks/gsm8k.py
load_plugin("task", "./my_task.py")   # the same from a file outside the package
"""

import functools
import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import Any, Literal

from cotdata.errors import InputError, UnknownName

Kind = Literal["task", "flaw", "engine"]
FOLDERS: dict[Kind, str] = {"task": "tasks", "flaw": "flaws", "engine": "engines"}


def plugin_names(kind: Kind) -> list[str]:
    folder = Path(__file__).parent / FOLDERS[kind]
    return sorted(m.name for m in pkgutil.iter_modules([str(folder)]) if not m.name.startswith("_"))


@functools.cache
def load_plugin(kind: Kind, name: str) -> Any:
    if name.endswith(".py"):
        return _constant_of_file(kind, Path(name))
    if name not in plugin_names(kind):
        raise UnknownName(kind, name, plugin_names(kind))
    module = importlib.import_module(f"cotdata.{FOLDERS[kind]}.{name}")
    return getattr(module, kind.upper())


def _constant_of_file(kind: Kind, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f"no such {kind} file", where=str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, kind.upper()):
        raise InputError(f"the file exports no {kind.upper()}", where=str(path))
    return getattr(module, kind.upper())
