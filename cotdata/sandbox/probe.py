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

ESCAPES = """
import os, socket
def tries(folder, port):
    def read(): open(folder + "/planted").read()
    def write(): open(folder + "/written", "w").close()
    def delete(): os.remove(folder + "/planted")
    def mode(): os.chmod(folder + "/planted", 0o666)
    def connect(): socket.create_connection(("127.0.0.1", port), 2).close()
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
        return "Landlock is missing or off (it needs Linux 5.13 and lsm=landlock)"
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
        return str(error)
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


def _refusal(findings: list[Finding]) -> SandboxError:
    problems = "; ".join(f"{f.level}: {f.problem}" for f in findings)
    return SandboxError(
        f"code cannot be isolated here ({problems})",
        hint="see `cotdata doctor`; in a container or VM of your own, --sandbox unsafe-none",
    )


def warn_unsafe() -> None:
    text = "warning: --sandbox unsafe-none runs unread code with this user's rights\n"
    sys.stderr.write(text)
