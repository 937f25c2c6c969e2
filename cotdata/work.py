"""The work folder of an unfinished run: its journal, its lock, its files so far.

It lies in the output folder as `.work`, or for an output on another machine in
$COTDATA_HOME. It belongs to one run id; another run is refused it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from types import TracebackType
from typing import Any

from cotdata.errors import OutputExists
from cotdata.journal import Journal
from cotdata.locations import Location
from cotdata.options import home

Identity = dict[str, Any]


class WorkFolder:
    def __init__(self, out: Location, run_id: str, identity: Identity) -> None:
        self._out = out
        self.path = out.local / ".work" if out.local else home() / ".work" / run_id
        self._is_new_out = out.local is not None and not out.local.exists()
        self._identity = identity
        self._lock: int | None = None

    def __enter__(self) -> WorkFolder:
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OutputExists(
                "another process is writing this dataset",
                where=str(self._out),
                hint="wait for it, or choose another -o",
            ) from error
        self._claim()
        self.journal = Journal(self.path / "journal.sqlite")
        return self

    def _claim(self) -> None:
        """An interrupted run may only be resumed by the same run."""
        place = self.path / "run.json"
        if place.exists():
            found = json.loads(place.read_text())
            if found != self._identity:
                raise OutputExists(
                    "an unfinished run with other options is here: "
                    + "; ".join(differences(found, self._identity)),
                    where=str(self._out),
                    hint="finish it with its own options, delete the folder, or choose another -o",
                )
            return
        temporary = place.with_suffix(".tmp")
        temporary.write_text(json.dumps(self._identity, indent=1))
        temporary.replace(place)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if hasattr(self, "journal"):
            self.journal.close()
        if self._lock is not None:
            os.close(self._lock)

    def forget(self) -> None:
        """Drop what was done: the run can never be finished, or it already is."""
        shutil.rmtree(self.path, ignore_errors=True)
        out = self._out.local
        if self._is_new_out and out is not None and out.exists() and not any(out.iterdir()):
            out.rmdir()


def differences(found: Identity, asked: Identity) -> list[str]:
    """What sets two runs apart, in words: options first, then inputs."""
    lines = []
    if (found["stage"], found["stage_version"]) != (asked["stage"], asked["stage_version"]):
        lines.append(
            f"stage {found['stage']} v{found['stage_version']},"
            f" asked {asked['stage']} v{asked['stage_version']}"
        )
    for name in sorted(found["options"].keys() | asked["options"].keys()):
        there, here = found["options"].get(name), asked["options"].get(name)
        if there != here:
            lines.append(f"{name} is {there!r}, asked {here!r}")
    if [p["digest"] for p in found["parents"]] != [p["digest"] for p in asked["parents"]]:
        there = ", ".join(p["id"] for p in found["parents"])
        here = ", ".join(p["id"] for p in asked["parents"])
        lines.append(f"made from {there}, asked from {here}")
    return lines
