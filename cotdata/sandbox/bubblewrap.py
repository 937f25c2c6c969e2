"""bubblewrap: namespaces and a file system that hold the interpreter and no more.

    wrapped(["python3", "-c", "…"], readable=["/usr/lib"], executable="/usr/bin/python3.11")

The root is an empty, read-only tmpfs; there is no home, no /proc, no network
and no capability. It wraps the fork server once, so a job costs nothing more.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from cotdata.sandbox.layout import DEVICES


def path() -> str | None:
    return shutil.which("bwrap")


def wrapped(inner: Sequence[str], *, readable: Iterable[str], executable: str) -> list[str]:
    return [
        path() or "bwrap",
        *_isolation(),
        *_open_parents([*readable, executable]),
        *(part for place in (*readable, executable) for part in _bound(place)),
        *(part for device in DEVICES for part in ("--dev-bind", device, device)),
        *("--remount-ro", "/", "--chdir", "/", "--"),
        *inner,
    ]


def _isolation() -> list[str]:
    spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    common = [*spaces, "--unshare-cgroup-try", "--die-with-parent", "--new-session"]
    if os.getuid() != 0:
        return [*common, "--unshare-user", "--cap-drop", "ALL"]
    # A user namespace maps one user, so root could not become another in it: the
    # fork server drops root itself, and keeps these two capabilities until then.
    keep = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*common, "--cap-drop", "ALL", *keep]


def _open_parents(places: Iterable[str]) -> list[str]:
    """Their modes would be copied, and a home may be closed to others."""
    parents = {str(parent) for place in places for parent in Path(place).parents}
    return [part for parent in sorted(parents) for part in ("--perms", "0755", "--dir", parent)]


def _bound(place: str) -> tuple[str, ...]:
    if os.path.islink(place):
        return ("--symlink", os.readlink(place), place)
    return ("--ro-bind-try", place, place)
