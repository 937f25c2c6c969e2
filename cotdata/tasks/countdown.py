r"""Countdown: reach a target with given numbers and + - * /, each number once.

A row of Jiayi-Pan/Countdown-Tasks-3to4 is {"target": 91, "nums": [58, 16, 17]}; a
trace ends with <answer>58 + 16 + 17</answer>. The last complete answer tag wins, and
how many there were stands in the method (`answer_tag/3`), so that texts that try
their luck can be filtered. There is no human solution: the solver's trace serves.
"""

from __future__ import annotations

import re
from collections import Counter

from cotdata.countdown import solve, trace_of
from cotdata.errors import InputError
from cotdata.expressions import BadExpression, Expression, read
from cotdata.schema import Row
from cotdata.tasks import HubSource, Shot, Task
from cotdata.verdicts import Verdict

VERIFIER = "countdown/1"
INT64 = 1 << 63
WHOLE = re.compile(r"-?[0-9]+", re.ASCII)

INSTRUCTION = (
    "Write one operation a line, then the whole expression in answer tags, "
    "like <answer>1 + 2</answer>."
)


def parse(row: Row) -> Row:
    """The Hub's layout, or our own column names; a target may be text."""
    numbers = row.get("numbers", row.get("nums"))
    if not isinstance(numbers, list) or not numbers:
        raise InputError("no numbers (columns: numbers or nums)")
    if "target" not in row:
        raise InputError("no target (column: target)")
    numbers = [_whole(number) for number in numbers]
    target = _whole(row["target"])
    return {
        "problem": row.get("problem") or posed(numbers, target),
        "numbers": numbers,
        "target": target,
        "answer": str(target),
        "solution": row.get("solution"),
        "split": row.get("split"),
        "source_id": row.get("source_id"),
    }


def _whole(value: object) -> int:
    if isinstance(value, bool) or not WHOLE.fullmatch(str(value).strip()):
        raise InputError(f"{value!r} is not a whole number")
    number = int(str(value))
    if not -INT64 <= number < INT64:
        raise InputError(f"{value} does not fit into 64 bits")
    return number


def posed(numbers: list[int], target: int) -> str:
    given = ", ".join(map(str, numbers[:-1]))
    return f"Use {given} and {numbers[-1]}, each once, with + - * / to make {target}."


def question(problem: Row) -> str:
    return str(problem.get("problem") or posed(problem["numbers"], problem["target"]))


def human_trace(problem: Row) -> str | None:
    if problem.get("solution"):
        return str(problem["solution"])
    found = solve(problem["numbers"], problem["target"])
    return trace_of(found) if found else None


def verify(problem: Row, trace: str, finish_reason: str | None = None) -> Verdict:
    return judge(problem, trace, is_subset_allowed=False, verifier=VERIFIER)


def judge(problem: Row, trace: str, *, is_subset_allowed: bool, verifier: str) -> Verdict:
    located = _locate(trace)
    if isinstance(located, str):
        return Verdict(verdict="no_answer", reason=located, verifier=verifier)
    start, end, num_tags = located
    answer, method = trace[start:end].strip(), f"answer_tag/{num_tags}"
    try:
        found = read(answer, target=int(problem["target"]))
        reason = _fault(found, problem, is_subset_allowed)
    except BadExpression as error:
        reason = error.reason
    return Verdict(
        verdict="wrong" if reason else "correct",
        reason=reason or "equal",
        verifier=verifier,
        answer=answer,
        span=(start, end),
        method=method,
    )


def _fault(found: Expression, problem: Row, is_subset_allowed: bool) -> str | None:
    given = [int(number) for number in problem["numbers"]]
    if is_subset_allowed:
        if Counter(found.numbers) - Counter(given):
            return "wrong_numbers"
    elif sorted(found.numbers) != sorted(given):
        return "wrong_numbers"
    return None if found.value == int(problem["target"]) else "wrong_value"


def _locate(trace: str) -> tuple[int, int, int] | str:
    """Start and end of the last answer and the number of tags, or why there is none."""
    thought = trace.rfind("</think>")
    if trace.rfind("<think>") > thought:
        return "open_think"
    begin = thought + len("</think>") if thought >= 0 else 0
    end = trace.rfind("</answer>", begin)
    start = trace.rfind("<answer>", begin, end) if end >= 0 else -1
    if start < 0:
        return "open_answer_tag" if trace.find("<answer>", begin) >= 0 else "no_answer_tag"
    start += len("<answer>")
    if not trace[start:end].strip():
        return "empty_answer"
    return start, end, trace.count("<answer>", begin)


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
    source=HubSource(
        repo="Jiayi-Pan/Countdown-Tasks-3to4", license="Apache-2.0", splits=("train",)
    ),
    identity=lambda row: (sorted(row["numbers"]), row["target"]),
)
