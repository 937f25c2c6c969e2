"""The verdict on a program from what its sandbox said, decided outside it.

    plan = read_tests(["assert add(1, 2) == 3"], setup="")
    judge(plan, run_job(plan.job(code, limit_s=5)))   # Judgement(verdict="correct", …)

A test that is answered and fails makes the program wrong, whatever else happened;
a program that says nothing is judged by how it ended. A program that cannot be
loaded is an `error`: it gave no answer that could be right or wrong.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cotdata.errors import InputError
from cotdata.programs import parsed
from cotdata.sandbox.assertions import JudgePlace, TestPlan, read_test
from cotdata.sandbox.forkserver import NO_ANSWER
from cotdata.sandbox.values import Malformed, decode
from cotdata.sandbox.worker import Ending, Job
from cotdata.verdicts import VerdictName


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    verdict: VerdictName
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The tests of one problem; dead ones, which cannot fail, are left out."""

    tests: tuple[TestPlan, ...]
    setup: str

    def job(self, code: str, *, limit_s: float) -> Job:
        steps = tuple(test.steps for test in self.tests)
        return Job(code=code, setup=self.setup, tests=steps, limit_s=limit_s)

    @property
    def judge(self) -> JudgePlace:
        outside = all(test.judge == "outside" for test in self.tests)
        return "outside" if outside else "in_process"


TIMED_OUT = Judgement(verdict="timeout", reason="time_limit")
PASSED = Judgement(verdict="correct", reason="tests_passed")
FAILED = Judgement(verdict="wrong", reason="test_failed")
EXITS = Judgement(verdict="wrong", reason="program_exits")
# A first word that is not an answer, and what it makes of the program.
TROUBLES = {
    "unreadable": Judgement(verdict="error", reason="program_unreadable"),
    "setup_failed": Judgement(verdict="error", reason="setup_failed"),
    "out_of_memory": Judgement(verdict="error", reason="out_of_memory"),
    "needs_system": Judgement(verdict="error", reason="needs_system"),
    "exits": EXITS,
}


def read_tests(tests: Sequence[str], setup: str) -> Plan:
    """InputError, its text a reason code, for tests that decide nothing."""
    if not tests:
        raise InputError("no_tests")
    try:
        parsed(setup)
        plans = [read_test(test) for test in tests]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError("tests_unreadable") from error
    alive = tuple(plan for plan in plans if not plan.dead)
    if not alive:
        raise InputError("tests_dead")
    return Plan(tests=alive, setup=setup)


def judge(plan: Plan, ending: Ending | None) -> Judgement:
    if ending is None:
        return Judgement(verdict="error", reason="sandbox_lost")
    replies = [_reply(line) for line in ending.lines[: len(plan.tests) + 1]]
    if not replies or replies[0] != ["loaded"]:
        return _not_loaded(replies, ending)
    outcomes = [_outcome(test, reply) for test, reply in zip(plan.tests, replies[1:], strict=False)]
    answered = [outcome for outcome in outcomes if outcome is not None]
    failures = [outcome for outcome in answered if outcome.verdict == "wrong"]
    troubles = [outcome for outcome in answered if outcome.verdict != "correct"]
    if failures or troubles:
        return (failures or troubles)[0]
    return PASSED if len(answered) == len(plan.tests) else _silence(ending)


def _not_loaded(replies: list[list[Any]], ending: Ending) -> Judgement:
    first = replies[0] if replies else []
    if first == ["raised"]:
        return Judgement(verdict="error", reason="program_raises")
    return _trouble(first) or _silence(ending)


def _outcome(test: TestPlan, reply: list[Any]) -> Judgement | None:
    """None for a reply that is not one: the rest was not said."""
    match reply:
        case ["values", list(texts)] if len(texts) == sum(map(_num_asked, test.steps)):
            return PASSED if test.holds(_decoded(texts)) else FAILED
        case ["raised"]:
            return Judgement(verdict="wrong", reason="test_raises")
    return _trouble(reply)


def _trouble(reply: list[Any]) -> Judgement | None:
    return TROUBLES.get(reply[0]) if len(reply) == 1 and isinstance(reply[0], str) else None


def _silence(ending: Ending) -> Judgement:
    if ending.kind == "timeout":
        return TIMED_OUT
    if ending.kind == "exited" and ending.code is not None and ending.code < 0:
        return Judgement(verdict="error", reason="program_crashes")
    if ending.kind == "exited" and ending.code != NO_ANSWER:
        return EXITS
    return Judgement(verdict="error", reason="replies_missing")


def _num_asked(step: tuple[str, Any]) -> int:
    return len(step[1]) if step[0] == "ask" else 0


def _decoded(texts: list[Any]) -> list[Any]:
    try:
        return [decode(text) for text in texts]
    except Malformed:
        return []


def _reply(line: bytes) -> list[Any]:
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return reply if isinstance(reply, list) else []
