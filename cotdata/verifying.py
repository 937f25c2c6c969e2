"""Verdicts on a stream of traces, several at once where a task waits for workers.

    for candidate, verdict in verify_all(candidates, workers=2): ...

Order is kept. A machine fault is no verdict: it comes out as the error itself.
Where code cannot be isolated at all, `prepare` refuses before the first trace.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from cotdata import mathpool
from cotdata.errors import EngineError, SandboxError
from cotdata.sandbox.pool import configure
from cotdata.sandbox.probe import Policy
from cotdata.schema import Row
from cotdata.tasks import Task, get_task
from cotdata.verdicts import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A trace to be judged; `row` holds its problem's columns, `key` and `part` come back."""

    key: str
    row: Row
    trace: str
    finish_reason: str | None = None
    part: int = 0


Fault = EngineError | SandboxError
Judgement = Verdict | Fault


def prepare(tasks: Iterable[str], *, sandbox: Policy, workers: int) -> tuple[str, ...]:
    """What the verdicts on these tasks depend on: the rules and the sandbox's level."""
    found = [get_task(name) for name in sorted(tasks)]
    rules = [task.verifier for task in found]
    if any(task.waits and not task.runs_code for task in found):
        mathpool.configure(num_workers=workers)
    if any(task.runs_code for task in found):
        rules.append(f"sandbox={configure(policy=sandbox, num_workers=workers)}")
    return tuple(rules)


def judge(task: Task, candidate: Candidate) -> Judgement:
    try:
        return task.verify(candidate.row, candidate.trace, candidate.finish_reason)
    except (EngineError, SandboxError) as fault:
        return fault


def verify_all(
    candidates: Iterable[Candidate], *, workers: int
) -> Iterator[tuple[Candidate, Judgement]]:
    waiting: deque[tuple[Candidate, Future[Judgement]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for candidate in candidates:
            task = get_task(candidate.row["task"])
            if not task.waits and not waiting:
                yield candidate, judge(task, candidate)
                continue
            waiting.append((candidate, pool.submit(judge, task, candidate)))
            # A few candidates per worker are ready, so that a slow one holds up none.
            if len(waiting) >= 8 * workers:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()


def default_workers() -> int:
    return len(os.sched_getaffinity(0))
