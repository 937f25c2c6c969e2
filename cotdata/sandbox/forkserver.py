"""The long-lived process inside the sandbox: one job in, one fork, one ending out.

    python -s -S -P -c "from cotdata.sandbox.forkserver import main; main('kernel')"

Reads jobs from standard input, writes endings to standard output, and ends when
its input does. It confines itself before the first job and each child once more
after the fork. The standard library is loaded once, here, so a fork costs about
a millisecond. It does not judge: replies pass through unread.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import stat
import sys
import time
from typing import Any, Literal

from cotdata.sandbox import candidate, frames, landlock, libc, seccomp, syscalls

EndingKind = Literal["finished", "exited", "timeout", "flood"]

NOBODY = 65534
MAX_REPLY_BYTES = 2 * 2**20
MAX_MEMORY_BYTES = 2**29
MAX_OPEN_FILES = 64
LAST_REPLY = b'["end"]\n'
EXIT_GRACE_S = 0.2
# A program that computed for less than this share of the time between was waiting.
BUSY_SHARE, LOOK_EVERY_S = 0.01, 2.0
CPU_FACTOR, MAX_WALL_FACTOR = 3, 12
# Exit codes of a child that could not start, or could not answer, its job.
NOT_CONFINED, NO_ANSWER = 70, 71

# What programs of this kind import most; each megabyte more slows every fork.
PRELOADED = (
    *("__future__", "bisect", "cmath", "collections.abc", "copy", "functools", "heapq"),
    *("itertools", "math", "operator", "random", "re", "string", "typing"),
)
# Modules inside modules, for where all of the library is loaded.
PARTS = (
    *("_strptime", "concurrent.futures", "encodings.ascii", "encodings.cp1252", "encodings.idna"),
    *("encodings.latin_1", "encodings.utf_16", "importlib.resources", "os.path", "unittest.mock"),
    *("urllib.parse", "xml.etree.ElementTree"),
)
# Modules that do something when they are imported, or need a screen.
LEFT_OUT = {"antigravity", "idlelib", "lib2to3", "this", "tkinter", "turtle", "turtledemo"}


class Confinement:
    """What each child adds to the confinement it inherits."""

    def __init__(self, level: str) -> None:
        self.active = level != "none"
        arch = syscalls.machine()
        self.filter = seccomp.child_filter(arch) if self.active and arch else b""
        self.scope = landlock.scope_ruleset() if self.active else None

    def enter(self) -> None:
        if not self.active:
            return
        libc.die_with_parent()
        if self.scope is not None:
            landlock.restrict(self.scope)
        seccomp.install(self.filter)


class Clock:
    """Wall time for a program that waits, CPU time for one that computes.

    Otherwise a busy machine would turn slow right programs into timeouts. From
    the limit on the program is looked at again and again: has it computed since?
    """

    def __init__(self, child: int, limit_s: float) -> None:
        self.child, self.limit_s = child, limit_s
        self.started = time.monotonic()
        self.next_look = self.started + max(0.0, limit_s - LOOK_EVERY_S)
        self.seen_s: float | None = None

    def left_s(self) -> float:
        """0 when the time is up, else when to ask again."""
        now = time.monotonic()
        if now < self.next_look:
            return self.next_look - now
        used, before = self._cpu_s(), self.seen_s
        self.seen_s, self.next_look = used, now + LOOK_EVERY_S
        if before is None:
            return LOOK_EVERY_S
        is_idle = used - before < BUSY_SHARE * LOOK_EVERY_S
        is_spent = used > CPU_FACTOR * self.limit_s
        is_late = now - self.started > MAX_WALL_FACTOR * self.limit_s
        return 0.0 if is_idle or is_spent or is_late else LOOK_EVERY_S

    def _cpu_s(self) -> float:
        try:
            # The clock of another process, numbered as the kernel does it.
            return time.clock_gettime((~self.child << 3) | 2)
        except OSError:
            return 0.0


def main(level: str, readable: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    preload(level)
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    confinement = Confinement(level)
    limit_resources(level)
    if level != "none":
        confine_server(readable)
    gc.disable()
    gc.freeze()
    frames.send(1, b"ready")
    while (job := frames.receive(0)) is not None:
        frames.send(1, run(json.loads(job), confinement, nowhere))


def preload(level: str) -> None:
    """All of the standard library where the user to be could not read it later."""
    more: list[str] = []
    if level == "kernel" and os.getuid() == 0 and not is_open_to_all(os.path.dirname(os.__file__)):
        public = {name for name in sys.stdlib_module_names if not name.startswith("_")}
        more = [*sorted(public - LEFT_OUT), *PARTS]
    for name in (*PRELOADED, *more):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def is_open_to_all(folder: str) -> bool:
    while os.stat(folder).st_mode & stat.S_IXOTH:
        if folder == os.path.dirname(folder):
            return True
        folder = os.path.dirname(folder)
    return False


def limit_resources(level: str) -> None:
    """The server needs no more than a child may have, and children inherit it."""
    limits = [
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ]
    if level != "none":
        limits.append((resource.RLIMIT_FSIZE, 0))
    for limit, value in limits:
        resource.setrlimit(limit, (value, value))


def confine_server(readable: list[str]) -> None:
    arch = syscalls.machine()
    if arch is None:
        raise OSError("no list of system calls for this processor")
    drop_root()
    libc.forbid_new_privileges()
    libc.die_with_parent()
    landlock.restrict(landlock.file_ruleset(readable, [os.devnull]))
    seccomp.install(seccomp.server_filter(arch))


def drop_root() -> None:
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def run(job: dict[str, Any], confinement: Confinement, nowhere: int) -> bytes:
    """One child from fork to reaping; its ending and all that it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _be_child(job, confinement, nowhere, writer)
    os.close(writer)
    said, kind = _listen(reader, Clock(child, job["limit_s"]))
    os.close(reader)
    code = _own_end(child) if kind == "exited" else None
    if code is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return json.dumps([kind, code]).encode() + b"\n" + said


def _be_child(job: dict[str, Any], confinement: Confinement, nowhere: int, pipe: int) -> None:
    end = os._exit
    code = NOT_CONFINED
    try:
        os.setsid()
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        confinement.enter()
        os.closerange(3, pipe)
        os.closerange(pipe + 1, MAX_OPEN_FILES)
        gc.enable()
        code = NO_ANSWER
        candidate.answer(job, pipe)
        code = 0
    finally:
        end(code)


def _listen(reader: int, clock: Clock) -> tuple[bytes, EndingKind]:
    said = bytearray()
    while True:
        left = clock.left_s()
        ready, _, _ = select.select([0, reader], [], [], left)
        if 0 in ready:
            # Nobody writes in mid-job, so the parent is gone; the child follows.
            os._exit(0)
        if not ready:
            if left > 0:
                continue
            return bytes(said), "timeout"
        part = os.read(reader, 2**16)
        said += part
        if said.endswith(LAST_REPLY):
            return bytes(said), "finished"
        if not part:
            return bytes(said), "exited"
        if len(said) > MAX_REPLY_BYTES:
            return bytes(said), "flood"


def _own_end(child: int) -> int | None:
    """The exit code, or minus the signal, of a child that closed its pipe."""
    moment = time.monotonic() + EXIT_GRACE_S
    while time.monotonic() < moment:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None
