"""One sandbox, seen from the trusted side: start it, give it jobs, hold the clock.

    with closing(Worker("kernel")) as worker:
        worker.run(Job(code="def f(): return 1", tests=([("ask", ("f()",))],)))

A worker that dies or falls silent raises WorkerLost; what that means for the job
is the pool's business. Not for use by two threads at once.
"""

import json
import os
import select
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Literal

from cotdata.errors import SandboxError
from cotdata.sandbox import bubblewrap, frames, layout
from cotdata.sandbox.forkserver import MAX_WALL_FACTOR, NOT_CONFINED, EndingKind

Level = Literal["full", "kernel", "none"]
Step = tuple[Literal["do"], str] | tuple[Literal["ask"], tuple[str, ...]]

DEFAULT_LIMIT_S = 5.0
START_LIMIT_S = 60.0
SILENCE_LIMIT_S = 5.0
BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from cotdata.sandbox.forkserver import main; "
    "del sys.path[0]; main(sys.argv[2], sys.argv[3:])"
)
# Hashing of text decides the order of sets: a fixed seed makes reruns agree.
ENVIRONMENT = {"PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}

# bubblewrap ends with the thread that started it, so one thread starts them all.
_starter = ThreadPoolExecutor(1, thread_name_prefix="cotdata-sandbox")


def restart_starter() -> None:
    """A forked process has the executor but not its thread."""
    global _starter
    _starter = ThreadPoolExecutor(1, thread_name_prefix="cotdata-sandbox")


class WorkerLost(Exception):
    """The sandbox ended, by a fault of the machine or by the program's doing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """`limit_s` is for loading and all tests together: that much wall time, or for
    a program that computes all along three times as much of its own CPU time.
    """

    code: str
    setup: str = ""
    tests: tuple[tuple[Step, ...], ...] = ()
    limit_s: float = DEFAULT_LIMIT_S


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """`code` is the exit code or minus the signal of a program that ended itself."""

    kind: EndingKind
    code: int | None
    lines: tuple[bytes, ...]


class Worker:
    def __init__(self, level: Level) -> None:
        self.level = level
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = _starter.submit(self._start).result()
        if self._answer(START_LIMIT_S) != b"ready":
            complaint = self._complaint()
            self.close()
            raise SandboxError(f"the {level} sandbox does not start", hint=complaint)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command(self.level),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            bufsize=0,
            cwd="/",
            env=ENVIRONMENT,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def run(self, job: Job) -> Ending:
        """The sandbox ends the job at its limit; this clock is for the sandbox."""
        message = {"code": job.code, "setup": job.setup, "tests": job.tests, "limit_s": job.limit_s}
        try:
            frames.send(self._fd("stdin"), json.dumps(message).encode())
            reply = self._answer(MAX_WALL_FACTOR * job.limit_s + SILENCE_LIMIT_S)
        except OSError as error:
            raise WorkerLost from error
        if reply is None:
            raise WorkerLost
        return _ending(reply)

    def _answer(self, limit_s: float) -> bytes | None:
        reader = self._fd("stdout")
        # Not `select`: it knows no file descriptor above 1023.
        waiting = select.poll()
        waiting.register(reader, select.POLLIN)
        return frames.receive(reader) if waiting.poll(limit_s * 1000) else None

    def _fd(self, name: Literal["stdin", "stdout"]) -> int:
        pipe: IO[bytes] = getattr(self._process, name)
        return pipe.fileno()

    def _complaint(self) -> str:
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with status {self._process.returncode}"

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._complaints):
            if pipe:
                pipe.close()


def command(level: Level) -> list[str]:
    python = layout.interpreter()
    package = layout.package_folder()
    # -I would hide the hash seed; with a cleared environment these equal it.
    inner = [python, "-s", "-S", "-P", "-c", BOOT, package, level, *layout.readable_files()]
    if level != "full":
        return inner
    own_code = os.path.join(package, "cotdata")
    places = [*layout.library_folders(), own_code]
    return bubblewrap.wrapped(inner, readable=places, executable=python)


def _ending(reply: bytes) -> Ending:
    header, *lines = reply.split(b"\n")
    kind, code = json.loads(header)
    if kind == "exited" and code in (NOT_CONFINED, -9):
        raise WorkerLost
    return Ending(kind=kind, code=code, lines=tuple(lines))
