r"""Countdown: reach a target with given numbers and + - * /, each number once.

A row of Jiayi-Pan/Countdown-Tasks-3to4 is {"target": 91, "nums": [58, 16, 17]}; a
trace ends with <answer>58 + 16 + 17</answer>. The last complete answer tag wins, and
how many there were stands in the method (`answer_tag/3`), so that texts that try
their luck can be filtered. There is no human solution: the solver's trace serves.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Literal

from cotdata.countdown_solver import solve, trace_of
from cotdata.errors import InputError
from cotdata.expressions import BadExpression, Expression, read
from cotdata.schema import Row
from cotdata.tasks import HubSource, Shot, Task
from cotdata.verdicts import Verdict

Rule = Literal["all", "subset"]

VERIFIER = "countdown/2"
INT64 = 1 << 63
WHOLE = re.compile(r"-?[0-9]+", re.ASCII)
OPEN, CLOSE = "<answer>", "</answer>"
OFTEN: dict[Rule, str] = {"all": "each once", "subset": "each at most once"}

INSTRUCTION = (
    "Write one operation a line, then the whole expression in answer tags, "
    "like <answer>1 + 2</answer>."
)


def parse(row: Row, *, rule: Rule = "all") -> Row:
    """The Hub's layout, or our own column names; numbers and target may be text."""
    numbers, target = _puzzle(row)
    problem = row.get("problem")
    return {
        "problem": problem
        if problem and isinstance(problem, str)
        else posed(numbers, target, rule),
        "numbers": numbers,
        "target": target,
        "answer": str(target),
        "solution": row.get("solution"),
        "split": row.get("split"),
        "source_id": row.get("source_id"),
    }


def _puzzle(row: Row) -> tuple[list[int], int]:
    numbers: Any = row["numbers"] if row.get("numbers") is not None else row.get("nums")
    if isinstance(numbers, str):
        numbers = _listed(numbers)
    if numbers is None or not hasattr(numbers, "__len__") or not len(numbers):
        raise InputError("no numbers (columns: numbers or nums)")
    if row.get("target") is None:
        raise InputError("no target (column: target)")
    found = [_whole(number) for number in numbers]
    if min(found) < 0:
        raise InputError(f"{min(found)} is negative: an expression cannot name it")
    return found, _whole(row["target"])


def _listed(text: str) -> object:
    """A list in a CSV cell."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        found = None
    if not isinstance(found, list):
        raise InputError(f"{text[:80]!r} is not a list of numbers, such as [3, 7]")
    return found


def _whole(value: object) -> int:
    if type(value) is int and -INT64 <= value < INT64:
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    if isinstance(value, bool) or len(text) > 20 or not WHOLE.fullmatch(text):
        raise InputError(f"{text[:80]!r} is not a whole number of 64 bits")
    number = int(text)
    if not -INT64 <= number < INT64:
        raise InputError(f"{text} is not a whole number of 64 bits")
    return number


def posed(numbers: list[int], target: int, rule: Rule) -> str:
    *others, last = map(str, numbers)
    given = f"{', '.join(others)} and {last}" if others else last
    return f"Use {given}, {OFTEN[rule]}, with + - * / to make {target}."


def question(problem: Row, *, rule: Rule = "all") -> str:
    return str(problem.get("problem") or posed(problem["numbers"], problem["target"], rule))


def human_trace(problem: Row, *, rule: Rule = "all") -> str | None:
    """The given solution, in answer tags if it is a bare expression; else the solver's."""
    solution = problem.get("solution")
    if not solution:
        found = solve(problem["numbers"], problem["target"], use_all=rule == "all")
        return trace_of(found) if found else None
    try:
        read(solution, target=problem["target"])
    except BadExpression:
        return str(solution)
    return f"{OPEN}{solution.strip()}{CLOSE}"


def verify(problem: Row, trace: str, finish_reason: str | None = None) -> Verdict:
    return judge(problem, trace, finish_reason, rule="all", verifier=VERIFIER)


def judge(
    problem: Row, trace: str, finish_reason: str | None, *, rule: Rule, verifier: str
) -> Verdict:
    try:
        numbers, target = _puzzle(problem)
    except InputError:
        return Verdict(verdict="error", reason="unreadable_problem", verifier=verifier)
    located = _locate(trace)
    if isinstance(located, str):
        reason = "truncated" if finish_reason == "length" else located
        return Verdict(verdict="no_answer", reason=reason, verifier=verifier)
    start, end, num_tags = located
    answer = trace[start:end]
    try:
        fault = _fault(read(answer, target=target), numbers, target, rule)
    except BadExpression as error:
        fault = error.reason
    return Verdict(
        verdict="wrong" if fault else "correct",
        reason=fault or "equal",
        verifier=verifier,
        answer=answer,
        span=(start, end),
        method=f"answer_tag/{num_tags}",
    )


def _fault(found: Expression, numbers: list[int], target: int, rule: Rule) -> str | None:
    if rule == "all" and sorted(found.numbers) != sorted(numbers):
        return "wrong_numbers"
    if rule == "subset" and Counter(found.numbers) - Counter(numbers):
        return "wrong_numbers"
    return None if found.value == target else "wrong_value"


def _locate(trace: str) -> tuple[int, int, int] | str:
    """Start and end of the last answer and the number of tags, or why there is none."""
    thought = trace.rfind("</think>")
    if trace.rfind("<think>") > thought:
        return "open_think"
    begin = thought + len("</think>") if thought >= 0 else 0
    last = trace.rfind(CLOSE, begin)
    start = trace.rfind(OPEN, begin, last) if last >= 0 else -1
    if start < 0:
        return "open_answer_tag" if trace.find(OPEN, begin) >= 0 else "no_answer_tag"
    inner = trace[start + len(OPEN) : trace.find(CLOSE, start)]
    answer = inner.strip()
    if not answer:
        return "empty_answer"
    start += len(OPEN) + inner.index(answer)
    return start, start + len(answer), trace.count(OPEN, begin)


def _shot(numbers: list[int], target: int, *lines: str) -> Shot:
    return Shot(problem=parse({"numbers": numbers, "target": target}), trace="\n".join(lines))


SHOTS = (
    _shot([6, 30], 36, "6 + 30 = 36", "<answer>6 + 30</answer>"),
    _shot([45, 12], 33, "45 - 12 = 33", "<answer>45 - 12</answer>"),
    _shot([7, 8], 56, "7 * 8 = 56", "<answer>7 * 8</answer>"),
    _shot([4, 92], 23, "92 / 4 = 23", "<answer>92 / 4</answer>"),
    _shot([3, 9, 20], 47, "3 * 9 = 27", "27 + 20 = 47", "<answer>3 * 9 + 20</answer>"),
    _shot(
        [2, 5, 11, 40], 26,
        "11 - 5 = 6", "40 / 2 = 20", "6 + 20 = 26", "<answer>11 - 5 + 40 / 2</answer>",
    ),
)  # fmt: skip

TASK = Task(
    name="countdown",
    about="reach a target with given numbers, each used exactly once",
    instruction=INSTRUCTION,
    parse=parse,
    question=question,
    human_trace=human_trace,
    verify=verify,
    verifier=VERIFIER,
    shots=SHOTS,
    source=HubSource(repo="Jiayi-Pan/Countdown-Tasks-3to4", license="unknown", splits=("train",)),
    identity=lambda row: (tuple(sorted(row["numbers"])), row["target"]),
)
