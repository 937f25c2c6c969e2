"""seccomp: a filter in the kernel that refuses system calls by number.

    install(server_filter("x86_64"))   # for good, and for every child

Refused calls fail with EPERM, so a program sees an ordinary OSError. Signals to
other processes are said to be sent and are not. A foreign instruction set ends
the process.
"""

import ctypes
import errno
import struct
from collections.abc import Iterable

from cotdata.sandbox.libc import LIBC, check
from cotdata.sandbox.syscalls import FORBIDDEN_CALLS, Machine, number_of

PR_SET_SECCOMP = 22
MODE_FILTER = 2

# Classic BPF, as the kernel's filter.h has it.
LOAD, JUMP_IF_EQUAL, JUMP_IF_SET, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000

NUMBER_AT, ARCH_AT, FIRST_ARGUMENT_AT, UPPER_HALF = 0, 4, 16, 4
AUDIT_ARCH: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
CLONE_THREAD = 0x00010000

Program = tuple[bytes, ...]


class ProgramHeader(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def server_filter(arch: Machine) -> bytes:
    """What neither the fork server nor its children may call."""
    return b"".join([*_start(arch), *_refuse(FORBIDDEN_CALLS, arch, errno.EPERM), _give(ALLOW)])


def child_filter(arch: Machine) -> bytes:
    """On top of the server's: no new process, no signal, no limits of others."""
    signals = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
    rules = [
        *_refuse(("fork", "vfork"), arch, errno.EPERM),
        # glibc then falls back to clone, whose flags a filter can read.
        *_refuse(("clone3",), arch, errno.ENOSYS),
        *_refuse((*signals, "pidfd_send_signal"), arch, 0),
        *_when("clone", arch, _only_threads()),
        *_when("prlimit64", arch, _only_own_process()),
    ]
    return b"".join([*_start(arch), *rules, _give(ALLOW)])


def install(program: bytes) -> None:
    header = ProgramHeader(len(program) // 8, program)
    check(LIBC.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(header), 0, 0), "seccomp")


def _start(arch: Machine) -> Program:
    same_arch = (_op(LOAD, ARCH_AT), _op(JUMP_IF_EQUAL, AUDIT_ARCH[arch], 1, 0), _give(KILL))
    if arch == "aarch64":
        return (*same_arch, _op(LOAD, NUMBER_AT))
    no_x32 = (_op(JUMP_IF_AT_LEAST, X32_BIT, 0, 1), _give(KILL))
    return (*same_arch, _op(LOAD, NUMBER_AT), *no_x32)


def _refuse(names: Iterable[str], arch: Machine, code: int) -> list[bytes]:
    numbers = [number for name in names if (number := number_of(name, arch)) is not None]
    return [op for n in numbers for op in (_op(JUMP_IF_EQUAL, n, 0, 1), _give(FAIL | code))]


def _when(name: str, arch: Machine, body: Program) -> Program:
    number = number_of(name, arch)
    return () if number is None else (_op(JUMP_IF_EQUAL, number, 0, len(body)), *body)


def _only_threads() -> Program:
    allow_if_thread = _op(JUMP_IF_SET, CLONE_THREAD, 0, 1)
    return (_op(LOAD, FIRST_ARGUMENT_AT), allow_if_thread, _give(ALLOW), _give(FAIL | errno.EPERM))


def _only_own_process() -> Program:
    """The first argument, a process id, is 0 in both halves."""
    return (
        _op(LOAD, FIRST_ARGUMENT_AT),
        _op(JUMP_IF_EQUAL, 0, 0, 3),
        _op(LOAD, FIRST_ARGUMENT_AT + UPPER_HALF),
        _op(JUMP_IF_EQUAL, 0, 0, 1),
        _give(ALLOW),
        _give(FAIL | errno.EPERM),
    )


def _give(action: int) -> bytes:
    return _op(RETURN, action)


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
