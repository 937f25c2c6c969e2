"""The process-wide pool of sandboxes: any thread may run a job.

    configure(policy="require-full", num_workers=4)   # once, before the first job
    run_job(Job(code="def f(): return 1", tests=((("ask", ("f()",)),),)))

Workers start when first needed, at most one per running job, and end with this
process, however it ends. A job whose worker is lost is run again on a fresh one;
one that loses every worker while a harmless program does not is `lost` itself,
and a sandbox that even the harmless program loses is a SandboxError.
"""

import atexit
import os
import threading
from dataclasses import dataclass

from cotdata.errors import SandboxError
from cotdata.sandbox import worker
from cotdata.sandbox.probe import HARMLESS, Policy, find_level, warn_unsafe
from cotdata.sandbox.worker import Ending, Job, Level, Worker, WorkerLost

MAX_TRIES = 16


class Pool:
    def __init__(self, level: Level, num_workers: int) -> None:
        self.level = level
        self._room = threading.BoundedSemaphore(num_workers)
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._num_lost = 0
        self._lock = threading.Lock()

    def run(self, job: Job) -> Ending | None:
        """None for a job that no worker survives."""
        num_lost_before = self._num_lost
        with self._room:
            for _ in range(MAX_TRIES):
                try:
                    return self._run_once(job)
                except WorkerLost:
                    continue
            # Where other jobs lose their workers too, this one is not to blame.
            if self._num_lost > num_lost_before + MAX_TRIES:
                raise _machine_fault(self.level)
            self._check_harmless()
            return None

    def _run_once(self, job: Job) -> Ending:
        used = self._take()
        try:
            ending = used.run(job)
        except BaseException:
            self._drop(used)
            raise
        with self._lock:
            self._idle.append(used)
        return ending

    def _take(self) -> Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        started = Worker(self.level)
        with self._lock:
            self._all.add(started)
        return started

    def _drop(self, used: Worker) -> None:
        with self._lock:
            self._all.discard(used)
            self._num_lost += 1
        used.close()

    def _check_harmless(self) -> None:
        for _ in range(MAX_TRIES):
            try:
                self._run_once(HARMLESS)
            except WorkerLost:
                continue
            return
        raise _machine_fault(self.level)

    def worker_pids(self) -> list[int]:
        with self._lock:
            return [used.pid for used in self._all]

    def close(self) -> None:
        with self._lock:
            workers, self._all, self._idle = self._all, set(), []
        for used in workers:
            used.close()


def _machine_fault(level: Level) -> SandboxError:
    return SandboxError(
        f"the {level} sandbox loses every program, even a harmless one",
        hint="something on this machine ends the sandbox's processes; free memory and rerun",
    )


@dataclass(kw_only=True)
class _Settings:
    policy: Policy = "auto"
    num_workers: int = os.cpu_count() or 1
    pool: Pool | None = None


_settings = _Settings()
_lock = threading.RLock()


def configure(*, policy: Policy = "auto", num_workers: int | None = None) -> Level:
    """Set the process-wide policy and say which level it gives, or refuse."""
    with _lock:
        close()
        _settings.policy = policy
        _settings.num_workers = num_workers or os.cpu_count() or 1
        return current().level


def current() -> Pool:
    with _lock:
        if _settings.pool is None:
            level = find_level(_settings.policy)
            if level == "none":
                warn_unsafe()
            _settings.pool = Pool(level, _settings.num_workers)
        return _settings.pool


def run_job(job: Job) -> Ending | None:
    return current().run(job)


def close() -> None:
    with _lock:
        if _settings.pool is not None:
            _settings.pool.close()
        _settings.pool = None


def _forget() -> None:
    """A forked process has copies of the pipes but not the right to use them."""
    global _lock
    _lock = threading.RLock()
    _settings.pool = None
    worker.restart_starter()


atexit.register(close)
os.register_at_fork(after_in_child=_forget)
