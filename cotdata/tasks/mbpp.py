r"""MBPP: short Python programs, judged by assertions (Google Research).

    verify({"tests": ["assert add(1, 2) == 3"]}, "```python\ndef add(a, b): return a + b\n```")

The program runs in `cotdata.sandbox`; the expected values stay outside it. The
first assertions of a problem can be shown to the model (`show_tests`): then they
no longer count. Without any, the prompt says only what the function is called.
"""

import contextlib
import functools
import json
from collections import Counter
from collections.abc import Sequence

from cotdata.errors import InputError
from cotdata.programs import locate
from cotdata.sandbox.assertions import program_call
from cotdata.sandbox.judge import Judgement, Plan, judge, read_tests
from cotdata.sandbox.pool import current
from cotdata.sandbox.worker import DEFAULT_LIMIT_S
from cotdata.schema import Row
from cotdata.tasks import HubSource, Shot, Task
from cotdata.verdicts import Verdict

VERIFIER = "mbpp/1"
LICENSE = "CC-BY-4.0"

INSTRUCTION = (
    "Think about the problem step by step, then give the complete program in one fenced block, "
    "like this:\n```python\n# your code\n```"
)
SPLIT_ENDS = ((10, "prompt"), (510, "test"), (600, "validation"), (974, "train"))


def parse(row: Row) -> Row:
    """The full layout, the sanitized one, or our own column names."""
    problem = row.get("problem") or row.get("text") or row.get("prompt")
    if not isinstance(problem, str):
        raise InputError("no problem text (columns: problem, text or prompt)")
    tests = [*_texts(row, "tests", "test_list"), *_texts(row, "challenge_test_list")]
    shown = _texts(row, "shown_tests")
    setup = "\n".join([*_texts(row, "test_imports"), *_texts(row, "test_setup", "test_setup_code")])
    try:
        read_tests([*shown, *tests], setup)
    except InputError as error:
        raise InputError(f"the assertions cannot decide anything: {error.what}") from error
    solution = row.get("solution") or row.get("code")
    task_id = row.get("source_id", row.get("task_id"))
    return {
        "problem": _unix(problem).strip(),
        "solution": _unix(solution) if solution else None,
        "tests": tests,
        "shown_tests": shown,
        "test_setup": setup or None,
        "split": row.get("split") or _split(task_id),
        "source_id": None if task_id is None else str(task_id),
    }


def show_tests(row: Row, num_shown: int) -> Row:
    """Move the first assertions into the prompt, leaving at least one to judge by."""
    every = [*(row.get("shown_tests") or ()), *(row.get("tests") or ())]
    if not 0 <= num_shown < len(every):
        raise InputError(f"{len(every)} assertions; showing {num_shown} leaves none to judge by")
    return {**row, "shown_tests": every[:num_shown], "tests": every[num_shown:]}


def question(row: Row) -> str:
    shown = row.get("shown_tests") or ()
    if shown:
        return "\n".join([row["problem"], "Your code should satisfy:", *shown])
    names = _signatures(tuple(row.get("tests") or ()))
    return "\n".join([row["problem"], *(f"Call the {_called(*name)}." for name in names[:1])])


def human_trace(row: Row) -> str | None:
    solution = row.get("solution")
    return f"```python\n{_unix(solution).strip()}\n```" if solution else None


def verify(problem: Row, trace: str, finish_reason: str | None = None) -> Verdict:
    tests, setup = tuple(problem.get("tests") or ()), problem.get("test_setup") or ""
    names = [name for name, _ in _signatures((*(problem.get("shown_tests") or ()), *tests))]
    program = locate(trace, names, is_cut=finish_reason == "length")
    if program is None:
        reason = "truncated" if finish_reason == "length" else "no_program"
        return Verdict(verdict="no_answer", reason=reason, verifier=VERIFIER)
    sandbox = current()
    stamp = f"{VERIFIER} sandbox={sandbox.level}"
    try:
        plan = _plan(tests, setup)
    except InputError as error:
        outcome, judge_place = Judgement(verdict="error", reason=error.what), "outside"
    else:
        job = plan.job(program.code, limit_s=DEFAULT_LIMIT_S)
        outcome, judge_place = judge(plan, sandbox.run(job)), plan.judge
    return Verdict(
        verdict=outcome.verdict,
        reason=outcome.reason,
        verifier=f"{stamp} judge={judge_place}",
        answer=program.code,
        span=program.span,
        method=program.method,
    )


@functools.lru_cache(maxsize=4096)
def _plan(tests: tuple[str, ...], setup: str) -> Plan:
    return read_tests(tests, _unix(setup))


@functools.lru_cache(maxsize=4096)
def _signatures(tests: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """What the tests call, the most called first: that is the function asked for."""
    calls: Counter[tuple[str, int]] = Counter()
    for test in tests:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            calls.update(filter(None, [program_call(test)]))
    return tuple(call for call, _ in calls.most_common())


def _called(name: str, size: int) -> str:
    arguments = "no arguments" if size == 0 else f"{size} argument{'s' if size > 1 else ''}"
    return f"function {name}; it takes {arguments}"


def _texts(row: Row, *columns: str) -> list[str]:
    for column in columns:
        value = row.get(column)
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = json.loads(value)
        if value is not None and len(value):
            return [_unix(value)] if isinstance(value, str) else [_unix(text) for text in value]
    return []


def _split(task_id: object) -> str | None:
    if not isinstance(task_id, int):
        return None
    return next((name for end, name in SPLIT_ENDS if task_id <= end), None)


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _shot(problem: str, tests: Sequence[str], thought: str, code: str) -> Shot:
    row: Row = {"problem": problem, "tests": list(tests), "shown_tests": []}
    return Shot(problem=row, trace=f"{thought}\n```python\n{code}\n```")


SHOTS = (
    _shot(
        "Write a function that counts the vowels in a word, whatever their case.",
        ["assert count_vowels('Otter') == 2", "assert count_vowels('rhythm') == 0"],
        "Lower the word once, then add one for each letter that is among the five vowels.",
        "def count_vowels(word):\n    return sum(letter in 'aeiou' for letter in word.lower())",
    ),
    _shot(
        "Write a function to find the longest stretch of equal neighbours in a list.",
        ["assert longest_stretch([4, 4, 1, 4]) == 2", "assert longest_stretch([]) == 0"],
        "Walk through the list and count how long the current stretch is. A new value starts the "
        "count again at 1; the best count seen is the answer, 0 for an empty list.",
        "def longest_stretch(items):\n    best = current = 0\n    previous = object()\n"
        "    for item in items:\n        current = current + 1 if item == previous else 1\n"
        "        best = max(best, current)\n        previous = item\n    return best",
    ),
    _shot(
        "Write a function to merge two price tables, keeping the lower price of each article.",
        ["assert cheaper({'tea': 3}, {'tea': 2, 'jam': 5}) == {'tea': 2, 'jam': 5}"],
        "Start from a copy of the first table. For every article of the second, keep the smaller "
        "of its price and the one already there, if there is one.",
        "def cheaper(first, second):\n    merged = dict(first)\n"
        "    for article, price in second.items():\n"
        "        merged[article] = min(price, merged.get(article, price))\n    return merged",
    ),
)

TASK = Task(
    name="mbpp",
    about="short Python programs, judged by assertions in a sandbox",
    instruction=INSTRUCTION,
    parse=parse,
    question=question,
    human_trace=human_trace,
    verify=verify,
    verifier=VERIFIER,
    shots=SHOTS,
    source=HubSource(
        repo="google-research-datasets/mbpp",
        license=LICENSE,
        config="full",
        splits=("train", "test", "validation", "prompt"),
    ),
    waits=True,
    runs_code=True,
    # Three texts of the published set stand for two problems each.
    identity=lambda row: (row["problem"], *(row["shown_tests"] or ()), *(row["tests"] or ())),
)
