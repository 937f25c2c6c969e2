"""Where the interpreter and what it needs lie on this machine.

    interpreter()      # "/usr/bin/python3.11", with no virtual environment around it
    library_folders()  # what the sandbox may read

No site-packages: programs get the standard library.
"""

import os
import sys
from pathlib import Path

DEVICES = (os.devnull, "/dev/urandom")
LOADER_PATHS = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
LOADER_CACHE = "/etc/ld.so.cache"
TIME_ZONES = ("/etc/localtime", "/usr/share/zoneinfo")


def interpreter() -> str:
    return os.path.realpath(sys.executable)


def library_folders() -> list[str]:
    own = [str(Path(sys.base_prefix) / name) for name in ("lib", "lib64")]
    places = dict.fromkeys([*LOADER_PATHS, *own, LOADER_CACHE, *TIME_ZONES])
    return [place for place in places if os.path.exists(place)]


def readable_files() -> list[str]:
    """For Landlock: the links followed, and the random device added."""
    return [*dict.fromkeys(map(os.path.realpath, library_folders())), "/dev/urandom"]


def package_folder() -> str:
    """The folder that `import cotdata` is found in."""
    return str(Path(__file__).parents[2])
