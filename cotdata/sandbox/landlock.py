"""Landlock: the kernel's own list of the files a process may open.

    ruleset = file_ruleset(readable=["/usr/lib/python3.11"], writable=["/dev/null"])
    restrict(ruleset)   # for good, and for every child

Everything not listed can be neither read nor written, made, renamed nor removed;
where the kernel's version knows them, TCP and signals to other processes are
refused too. It does not hide that a file exists, nor keep a file's mode from
being changed: `seccomp` does that.
"""

import ctypes
import os
from collections.abc import Iterable

from cotdata.sandbox.libc import check, syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
# How many file rights, from bit 0 up, each version of the interface knows.
NUM_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
NUM_FILE_RIGHTS_SINCE_5 = 16
ALL_TCP = 3
ALL_SCOPES = 3


class RulesetAttributes(ctypes.Structure):
    _fields_ = [
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32)]


def version() -> int:
    """The kernel's Landlock version; 0 where it is missing or switched off."""
    return max(0, syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION_FLAG)))


def file_ruleset(readable: Iterable[str], writable: Iterable[str]) -> int:
    """A ruleset as a file descriptor; paths that do not exist are left out."""
    abi = version()
    num_rights = NUM_FILE_RIGHTS.get(abi, NUM_FILE_RIGHTS_SINCE_5)
    network = ALL_TCP if abi >= 4 else 0
    ruleset = _create((1 << num_rights) - 1, network, ALL_SCOPES if abi >= 6 else 0)
    for path in readable:
        _allow(ruleset, path, READ_FILE | READ_DIR)
    for path in writable:
        _allow(ruleset, path, READ_FILE | WRITE_FILE)
    return ruleset


def scope_ruleset() -> int | None:
    """Keeps a child from signalling the fork server; None before version 6."""
    return _create(0, 0, ALL_SCOPES) if version() >= 6 else None


def restrict(ruleset: int) -> None:
    """For good, and only after `forbid_new_privileges`."""
    check(syscall(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)), "landlock")


def _create(files: int, network: int, scopes: int) -> int:
    attributes = RulesetAttributes(files, network, scopes)
    size = ctypes.sizeof(attributes) if scopes else 16 if network else 8
    made = syscall(
        CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    return check(made, "landlock ruleset")


def _allow(ruleset: int, path: str, rights: int) -> None:
    if not os.path.exists(path):
        return
    if not os.path.isdir(path):
        rights &= ~READ_DIR
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = PathBeneath(rights, parent)
    added = syscall(
        ADD_RULE,
        ctypes.c_int(ruleset),
        ctypes.c_int(RULE_PATH_BENEATH),
        ctypes.byref(rule),
        ctypes.c_uint32(0),
    )
    os.close(parent)
    check(added, f"landlock rule for {path}")
