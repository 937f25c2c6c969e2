"""What this machine can isolate, found out by trying to break out.

    find_level("auto")   # "full", "kernel", or a SandboxError that says what is missing

A canary program tries to read a planted file, write and delete beside it, reach
a listening port, fork and start a program; each must fail, and a harmless
program must pass. A level counts only if all of that holds on a live worker.
"""

import functools
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cotdata.errors import CotdataError, SandboxError
from cotdata.sandbox import bubblewrap, landlock, syscalls
from cotdata.sandbox.values import Malformed, decode
from cotdata.sandbox.worker import Ending, Job, Level, Worker, WorkerLost

Policy = Literal["auto", "require-full", "unsafe-none"]

HARMLESS = Job(code="def add(a, b):\n    return a + b\n", tests=((("ask", ("add(1, 2)",)),),))

# What a problem's text says, and what to do about it.
REMEDIES = {
    "not installed": "apt install bubblewrap (also dnf, pacman, apk)",
    "uid map": "allow user namespaces: on Ubuntu 24.04 give bwrap an AppArmor profile, or "
    "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    "namespace": "this container forbids namespaces: start it with --security-opt "
    "seccomp=unconfined, or stay at level kernel",
    "Landlock": "it needs Linux 5.13 or later, started with landlock among its lsm=, and in a "
    "container a seccomp profile that knows it",
}
LAST_RESORT = "use Linux on x86_64 or aarch64, or a virtual machine of your own"

ESCAPES = """
import os, socket
def tries(folder, port):
    def read(): open(folder + "/planted").read()
    def write(): open(folder + "/written", "w").close()
    def delete(): os.remove(folder + "/planted")
    def mode(): os.chmod(folder + "/planted", 0o666)
    def connect():
        with socket.socket() as tried: tried.connect(("127.0.0.1", port))
    def fork():
        child = os.fork()
        if child == 0: os._exit(0)
        os.waitpid(child, 0)
    def run(): os.posix_spawn("/bin/true", ["true"], {})
    done = []
    for attempt in (read, write, mode, delete, connect, fork, run):
        try: attempt()
        except OSError: continue
        done.append(attempt.__name__)
    return done
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """`problem` is None for a level that holds."""

    level: Level
    problem: str | None


def find_level(policy: Policy) -> Level:
    if policy == "unsafe-none":
        return "none"
    full = examine("full")
    if full.problem is None:
        return "full"
    if policy == "require-full":
        raise _refusal([full])
    kernel = examine("kernel")
    if kernel.problem is None:
        return "kernel"
    raise _refusal([full, kernel])


@functools.cache
def examine(level: Level) -> Finding:
    """Once per process: the machine does not change under a run."""
    missing = missing_layer(level)
    return Finding(level=level, problem=missing or _try_to_escape(level))


def missing_layer(level: Level) -> str | None:
    if sys.platform != "linux":
        return f"{sys.platform} has neither Landlock nor seccomp"
    if syscalls.machine() is None:
        return f"no list of system calls for {os.uname().machine}"
    if landlock.version() == 0:
        return "Landlock is missing or off"
    if level == "full" and bubblewrap.path() is None:
        return "bubblewrap is not installed"
    return None


def escapes(level: Level) -> list[str]:
    """The attempts that succeed at a level; raises where it does not work at all."""
    with _canaries() as (folder, port), closing(Worker(level)) as worker:
        if _value(worker.run(HARMLESS)) != 3:
            raise SandboxError("a harmless program does not pass")
        attempt = Job(code=ESCAPES, tests=((("ask", (f"tries({folder!r}, {port})",)),),))
        done = _value(worker.run(attempt))
        if not isinstance(done, list):
            raise SandboxError("the canary program does not finish")
        return done


def _try_to_escape(level: Level) -> str | None:
    try:
        done = escapes(level)
    except CotdataError as error:
        return f"{error.what}: {error.hint}" if error.hint else error.what
    except WorkerLost:
        return "the sandbox ends in mid-program"
    return f"a program could still {', '.join(done)}" if done else None


@contextmanager
def _canaries() -> Iterator[tuple[str, int]]:
    """Open to every user, so that only the sandbox can be what protects them."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as listener:
        os.chmod(folder, 0o777)  # noqa: S103
        planted = Path(folder) / "planted"
        planted.write_text("secret")
        planted.chmod(0o666)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield folder, listener.getsockname()[1]


def _value(ending: Ending) -> object:
    try:
        replies = [json.loads(line) for line in ending.lines if line]
        return decode(replies[1][1][0])
    except (ValueError, IndexError, TypeError, Malformed):
        return None


def doctor_lines() -> list[str]:
    """The level that holds here, what the next one lacks, and how to get it."""
    full, kernel = examine("full"), examine("kernel")
    if full.problem is None:
        return ["sandbox: full (bubblewrap, Landlock, seccomp)"]
    if kernel.problem is None:
        return [
            "sandbox: kernel (Landlock, seccomp; without bubblewrap)",
            f"  for full: {full.problem}; {remedy(full.problem)}",
        ]
    return [
        f"sandbox: none, so code is not verified: {kernel.problem}",
        f"  {remedy(kernel.problem)}",
    ]


def remedy(problem: str) -> str:
    return next((advice for sign, advice in REMEDIES.items() if sign in problem), LAST_RESORT)


def _refusal(findings: list[Finding]) -> SandboxError:
    problems = "; ".join(f"{finding.level}: {finding.problem}" for finding in findings)
    return SandboxError(
        f"code cannot be isolated here ({problems})",
        hint=f"{remedy(problems)}; or, in a machine to throw away, --sandbox unsafe-none",
    )


def warn_unsafe() -> None:
    sys.stderr.write("warning: --sandbox unsafe-none runs unread code with all your rights\n")
