r"""Worker processes for computer algebra, with the clock on this side.

    ask(r"2\sqrt3", r"\sqrt{12}")            # Reply(kind="equal")
    ask("7", r"\int_0^1 …", limit_s=3)       # Reply(kind="timeout") after three seconds

Any thread may ask, and no signal handler is set. A worker starts when first needed as
a fresh interpreter, so nothing of this process (threads, locks, CUDA) is copied; it is
killed at the limit, replaced when it dies, and ends when this process does. The limit
is on the worker's own CPU time, at most ten times that in wall time, so that a
busy machine changes no verdict. A pair whose worker dies is tried again alone.
"""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from cotdata.errors import EngineError

DEFAULT_LIMIT_S = 3.0
RAW_LIMIT_S = 10.0
START_LIMIT_S = 120.0
MAX_WALL_FACTOR = 10
MAX_JOBS = 2_000
# A segmentation fault is the pair's own doing; a kill may come from anywhere.
MAX_TRIES: dict[int, int] = {signal.SIGKILL: 10, signal.SIGTERM: 10}
BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from cotdata.mathworker import main; main()"
)

ReplyKind = Literal["equal", "different", "timeout", "fault"]
JobKind = Literal["same", "raw"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """`fault`: the pair cost every worker its life or its memory, even alone."""

    kind: ReplyKind


class _Died(Exception):
    """A worker is gone; the argument is its exit status."""


class Worker:
    def __init__(self) -> None:
        self.num_jobs = 0
        # Hashing of text orders sympy's sets: a fixed seed makes reruns agree.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", BOOT, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=environment,
            start_new_session=True,
        )
        self._unread = b""
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def _wait_until_ready(self) -> None:
        if self._line(time.monotonic() + START_LIMIT_S) is None:
            raise EngineError("a worker for computer algebra does not start")

    def run(self, job: dict[str, Any]) -> Reply:
        self.num_jobs += 1
        limit_s = job["limit_s"]
        self._write(json.dumps(job).encode() + b"\n")
        start, used = time.monotonic(), self._cpu_s()
        deadline, last = start + limit_s, start + MAX_WALL_FACTOR * limit_s
        while True:
            line = self._line(deadline)
            if line is not None:
                return _reply(json.loads(line))
            missing = limit_s - (self._cpu_s() - used)
            if missing <= 0.05 or time.monotonic() >= last:
                self.close()
                return Reply(kind="timeout")
            deadline = min(time.monotonic() + missing, last)

    def _write(self, data: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            while data:
                data = data[pipe.write(data) :]
        except OSError as error:
            raise _Died(self._process.wait()) from error

    def _line(self, deadline: float) -> bytes | None:
        """One line of the worker's, or None at the deadline."""
        pipe = self._process.stdout
        assert pipe is not None
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while b"\n" not in self._unread:
            left_ms = max(0.0, deadline - time.monotonic()) * 1000
            if not poll.poll(left_ms):
                return None
            piece = os.read(pipe.fileno(), 65536)
            if not piece:
                raise _Died(self._process.wait())
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _cpu_s(self) -> float:
        try:
            with open(f"/proc/{self.pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _reply(message: dict[str, Any]) -> Reply:
    equal = message.get("equal")
    if equal is None:
        return Reply(kind="fault")
    return Reply(kind="equal" if equal else "different")


class Pool:
    def __init__(self, num_workers: int) -> None:
        self.num_workers = num_workers
        self._room = threading.Semaphore(num_workers)
        self._alone = threading.Lock()
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()

    def run(self, job: dict[str, Any]) -> Reply:
        with self._places(1):
            reply, status = self._try(job)
        tries = 1
        while reply.kind == "fault" and tries < MAX_TRIES.get(_signal(status), 2):
            tries += 1
            with self._alone, self._places(self.num_workers):
                reply, status = self._try(job)
        return reply

    @contextmanager
    def _places(self, count: int) -> Iterator[None]:
        for _ in range(count):
            self._room.acquire()
        try:
            yield
        finally:
            self._room.release(count)

    def _try(self, job: dict[str, Any]) -> tuple[Reply, int]:
        used = self._take()
        try:
            reply = used.run(job)
        except _Died as death:
            self._drop(used)
            status = death.args[0]
            is_over_time = status == -signal.SIGXCPU
            return Reply(kind="timeout" if is_over_time else "fault"), status
        except BaseException:
            self._drop(used)
            raise
        if reply.kind in ("timeout", "fault") or used.num_jobs >= MAX_JOBS:
            self._drop(used)
        else:
            with self._lock:
                self._idle.append(used)
        return reply, 0

    def _take(self) -> Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        started = _started()
        with self._lock:
            self._all.add(started)
        return started

    def _drop(self, used: Worker) -> None:
        with self._lock:
            self._all.discard(used)
        used.close()

    def worker_pids(self) -> list[int]:
        with self._lock:
            return [used.pid for used in self._all]

    def close(self) -> None:
        with self._lock:
            workers, self._all, self._idle = self._all, set(), []
        for used in workers:
            used.close()


def _signal(status: int) -> int:
    return -status if status < 0 else 0


def _started() -> Worker:
    for _ in range(MAX_TRIES[signal.SIGKILL]):
        try:
            return Worker()
        except _Died as death:
            status = death.args[0]
    raise EngineError(
        f"workers for computer algebra end at once (status {status})",
        hint="check the packages math-verify and sympy, and free memory",
    )


_pool: Pool | None = None
_pool_lock = threading.Lock()


def configure(*, num_workers: int) -> None:
    """Set how many workers there may be at once; by default one for each core."""
    global _pool
    with _pool_lock:
        if _pool is not None:
            _pool.close()
        _pool = Pool(num_workers)


def current() -> Pool:
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = Pool(len(os.sched_getaffinity(0)))
        return _pool


def ask(
    reference: str, answer: str, *, kind: JobKind = "same", limit_s: float = DEFAULT_LIMIT_S
) -> Reply:
    job = {"kind": kind, "reference": reference, "answer": answer, "limit_s": limit_s}
    return current().run(job)


def close() -> None:
    if _pool is not None:
        _pool.close()


def _forget() -> None:
    """A forked process must neither use nor close its parent's workers."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


atexit.register(close)
os.register_at_fork(after_in_child=_forget)
