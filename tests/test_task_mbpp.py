"""MBPP: how rows are read and asked, where programs are found, what decides."""

import ast
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotdata.errors import InputError
from cotdata.programs import locate
from cotdata.prompts import build_prompt
from cotdata.sandbox import pool, probe
from cotdata.sandbox.assertions import read_test
from cotdata.schema import Row
from cotdata.tasks import get_task
from cotdata.tasks.mbpp import show_tests

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = ["mbpp.jsonl", "mbpp_sanitized.jsonl"]
TASK = get_task("mbpp")
ADD = "def add(a, b):\n    return a + b\n"
PATCHED = "import builtins; builtins.abs = lambda x: 0\ndef f(): return 9"
NAMED = "import collections as c\ndef f(): return c.namedtuple('P', 'x y')(1, 2)"
COUNTER = "import collections as c\ndef f(): return c.Counter('a')"
ROW: Row = {
    "problem": "Write a function to add two numbers.",
    "tests": ["assert add(1, 2) == 3", "assert add(0, 5) == 5"],
    "shown_tests": [],
    "test_setup": None,
}

with_data = pytest.mark.skipif(not DATA.exists(), reason="no ../shared/data here")
here = pytest.mark.skipif(
    probe.examine("kernel").problem is not None, reason="no Landlock or seccomp on this machine"
)


@pytest.fixture(autouse=True, scope="module")
def close_pool() -> Iterator[None]:
    yield
    pool.close()


def rows_of(file: str) -> list[Row]:
    lines = (DATA / file).read_text().split("\n")
    return [TASK.parse(json.loads(line)) for line in lines if line]


def verdict_of(trace: str, finish_reason: str | None = None, **columns: object) -> str:
    return TASK.verify({**ROW, **columns}, trace, finish_reason).verdict


def fenced(code: str, info: str = "python") -> str:
    return f"```{info}\n{code}```\n"


def verdicts_of_references(rows: list[Row]) -> dict[str, str]:
    def judged(row: Row) -> tuple[str, str]:
        return row["source_id"], TASK.verify(row, TASK.human_trace(row) or "").verdict

    with ThreadPoolExecutor(2) as threads:
        return dict(threads.map(judged, rows))


def inverted(row: Row) -> Row:
    """Every assertion turned into its opposite."""
    trees = [ast.parse(test.strip()) for test in row["tests"]]
    for tree in trees:
        for statement in tree.body:
            if isinstance(statement, ast.Assert):
                statement.test = ast.UnaryOp(ast.Not(), statement.test)
    return {**row, "tests": [ast.unparse(tree) for tree in trees]}


@here
@with_data
@pytest.mark.parametrize("file", FILES)
def test_every_reference_is_correct(file: str) -> None:
    verdicts = verdicts_of_references(rows_of(file))
    assert {row: v for row, v in verdicts.items() if v != "correct"} == {}


@here
@with_data
@pytest.mark.parametrize("file", FILES)
def test_every_reference_fails_the_opposite_tests(file: str) -> None:
    verdicts = verdicts_of_references([inverted(row) for row in rows_of(file)])
    assert {row: v for row, v in verdicts.items() if v != "wrong"} == {}


@with_data
@pytest.mark.parametrize(("file", "num_rows"), [("mbpp.jsonl", 974), ("mbpp_sanitized.jsonl", 427)])
def test_both_layouts_are_read_whole(file: str, num_rows: int) -> None:
    rows = rows_of(file)
    assert len(rows) == num_rows
    assert all(row["tests"] and row["solution"] and row["split"] for row in rows)


@with_data
def test_one_test_of_the_full_set_cannot_be_judged_outside() -> None:
    inside = [
        row["source_id"]
        for row in rows_of("mbpp.jsonl")
        if any(read_test(test).judge == "in_process" for test in row["tests"])
    ]
    assert inside == ["596"]


def test_our_own_columns_are_read_unchanged() -> None:
    assert {**ROW, **TASK.parse(ROW)} | ROW == {**TASK.parse(ROW), **ROW}
    assert TASK.parse({**ROW, "tests": ROW["tests"][1:], "shown_tests": ROW["tests"][:1]})[
        "shown_tests"
    ] == ["assert add(1, 2) == 3"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"problem": None}, "no problem text"),
        ({"tests": []}, "no_tests"),
        ({"tests": ["assert add(1,"]}, "tests_unreadable"),
        ({"tests": ["assert (add(1, 2) == 4, 'oops')"]}, "tests_dead"),
    ],
)
def test_a_row_that_decides_nothing_is_refused(columns: Row, message: str) -> None:
    with pytest.raises(InputError, match=message):
        TASK.parse({**ROW, **columns})


def test_the_question_names_the_function_and_no_value() -> None:
    asked = TASK.question({**ROW, "tests": ["assert set(pick((31, 47))) == set((59,))"]})
    assert "function pick" in asked and "1 argument" in asked
    assert not any(value in asked for value in ("31", "47", "59"))


def test_a_shown_test_is_in_the_prompt_and_does_not_count() -> None:
    row = show_tests(ROW, 1)
    assert (
        "assert add(1, 2) == 3"
        in build_prompt(TASK, row, style="chat", num_shots=0).messages[0]["content"]
    )
    assert "assert add(0, 5)" not in TASK.question(row)
    assert TASK.verify(row, "def add(a, b):\n    return 5").correct


def test_at_least_one_test_is_left_to_judge_by() -> None:
    with pytest.raises(InputError, match="none to judge by"):
        show_tests(ROW, 2)


@here
@pytest.mark.parametrize("shot", TASK.shots, ids=lambda shot: shot.problem["problem"][:40])
def test_our_own_examples_are_right(shot: object) -> None:
    assert TASK.verify(shot.problem, shot.trace).correct  # type: ignore[attr-defined]


def test_a_human_trace_is_the_reference_in_one_fence() -> None:
    trace = TASK.human_trace({"solution": "def f():\r\n\treturn 1\r\n"})
    assert trace == "```python\ndef f():\n\treturn 1\n```"
    assert TASK.human_trace({"solution": None}) is None


@pytest.mark.parametrize(
    "text",
    [
        ADD,
        fenced(ADD),
        fenced(ADD, ""),
        fenced(ADD, "py"),
        fenced(ADD, "Python"),
        fenced(ADD).replace("```", "~~~"),
        fenced(ADD).replace("```", "````"),
        fenced(ADD).replace("\n", "\r\n"),
        "\ufeff" + ADD,
        "```python\n\ufeff" + ADD + "```",
        "Here is the code:\n" + fenced(ADD) + "It adds two numbers.",
        "Here: " + fenced(ADD),
        fenced("def add(a, b):\n    return a - b\n") + "No, that is wrong:\n" + fenced(ADD),
        fenced(ADD) + "Use it like this:\n" + fenced("print(add(1, 2))\n"),
        fenced(ADD) + "Output:\n" + fenced("3\n", "text"),
        fenced("pip install numpy\n", "bash") + fenced(ADD),
        "1. First:\n\n   ```python\n   def add(a, b):\n       return a + b\n   ```\n",
        ADD + "```\nThis adds two numbers.",
        "```python\n" + ADD,
        "Sure, here you go:\n\n" + ADD + "\nThis function adds them.",
        "I would write it like this.\n\n" + ADD,
        "<think>def add(a, b): return 0</think>\n" + fenced(ADD),
        "<answer>\n" + ADD + "</answer>",
        "[BEGIN]\n" + ADD + "[DONE]",
        "from __future__ import annotations\n" + ADD,
        "import sys\n\nadd = lambda a, b: a + b\n",
        ADD + "\nif __name__ == '__main__':\n    print(add(int(input()), 1))\n",
        ADD + "print('ready', add(1, 1))\n",
        ADD + 'TEXT = """\n```python\nnot this\n"""\n',
    ],
)
@here
def test_the_program_is_found_in_its_wrapping(text: str) -> None:
    assert verdict_of(text) == "correct", locate(text, ["add"])


@given(
    before=st.text("abc .\n", max_size=40),
    after=st.text("abc .\n", max_size=40),
    body=st.lists(st.sampled_from(["x = 1", "y = '''a\nb'''", "# `tick`", "\tz = 2"]), min_size=1),
)
def test_a_fenced_program_is_found_byte_for_byte(before: str, after: str, body: list[str]) -> None:
    code = "def add(a, b):\n    return a\n" + "\n".join(body) + "\n"
    text = f"{before}\n```python\n{code}```\n{after}"
    found = locate(text, ["add"])
    assert found and found.code == code == text[slice(*found.span)]


@given(st.text())
def test_any_text_has_a_program_or_none(text: str) -> None:
    found = locate(text, ["add"])
    assert found is None or 0 <= found.span[0] <= found.span[1] <= len(text)


@pytest.mark.parametrize(
    ("trace", "finish_reason"),
    [
        ("", None),
        ("I do not know.", None),
        ("```python\n```", None),
        ("<think>" + fenced(ADD), None),
        ("```python\n" + ADD, "length"),
        (ADD, "length"),
        (fenced(ADD) + "or better\n```python\ndef add(a", "length"),
    ],
)
@here
def test_a_text_without_a_whole_program_is_no_answer(trace: str, finish_reason: str | None) -> None:
    assert verdict_of(trace, finish_reason) == "no_answer"


@here
def test_a_program_with_doubtful_escapes_brings_no_warning() -> None:
    code = ADD + "PATTERN = '\\d'\n"
    assert verdict_of(code, tests=["assert add('\\d', '') == '\\\\d'"]) == "correct"


@pytest.mark.parametrize(
    "text",
    [
        "`" * 150_000 + "x",
        "``` " * 40_000,
        "x = 1" + "+1" * 60_000,
        "x = " + "-" * 100_000 + "1",
        "x = a" + ".b" * 60_000,
        "def f(x):\n  return 1\nblah blah blah\n" * 2000,
        "if x:\n pass\n" + "elif x:\n pass\n" * 10_000,
        ADD * 20_000,
    ],
    ids=range(8),
)
def test_a_hostile_text_is_searched_in_bounded_time(text: str) -> None:
    found = locate(text, ["add"])
    assert found is None or len(found.code) <= len(text)


@here
def test_a_whole_fence_counts_though_the_text_was_cut() -> None:
    assert verdict_of(fenced(ADD) + "This is", "length") == "correct"


@pytest.mark.parametrize(
    ("trace", "verdict", "reason"),
    [
        ("def add(a, b):\n    return a - b", "wrong", "test_failed"),
        ("def add(a, b):\n    return 3 if a else 6", "wrong", "test_failed"),
        ("def sum_up(a, b):\n    return a + b", "wrong", "test_raises"),
        ("def add(a, b):\n    raise SystemExit(0)", "wrong", "program_exits"),
        ("def add(a, b):\n    return add(a, b)", "wrong", "test_raises"),
        ("def add(a, b):\n    yield a + b", "wrong", "test_failed"),
        ("def add(a, b):\n    return a +", "error", "program_unreadable"),
        (ADD + "raise ValueError", "error", "program_raises"),
        ("import os\n" + ADD + "os.fork()", "error", "needs_system"),
        (
            "def add(a, b):\n    x = []\n    while True: x.append('x' * 10**7)",
            "error",
            "out_of_memory",
        ),
        (
            "def add(a, b):\n    return 4 if a else add(a, b) or [0 for _ in iter(int, 1)]",
            "wrong",
            "test_failed",
        ),
        ("def add(a, b):\n    import time; time.sleep(99)", "timeout", "time_limit"),
    ],
)
@here
def test_how_a_program_fails_is_told_apart(trace: str, verdict: str, reason: str) -> None:
    given = TASK.verify(ROW, trace)
    assert (given.verdict, given.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        ([], "no_tests"),
        (["assert add(1,"], "tests_unreadable"),
        (["assert (add(1, 2) == 4, 'oops')"], "tests_dead"),
        (["assert True"], "tests_dead"),
    ],
)
@here
def test_without_a_test_that_can_fail_the_verdict_is_error(tests: list[str], reason: str) -> None:
    given = TASK.verify({**ROW, "tests": tests}, ADD)
    assert (given.verdict, given.reason) == ("error", reason)


@pytest.mark.parametrize(
    ("test", "code", "verdict"),
    [
        ("assert f() == 0.1 + 0.2", "def f(): return 0.30000000000000004", "correct"),
        ("assert math.isclose(f(), 2.0, rel_tol=0.01)", "def f(): return 2.001", "correct"),
        ("assert math.isclose(f(), 2.0, rel_tol=0.01)", "def f(): return 2.1", "wrong"),
        ("assert abs(f() - 3.14) < 1e-2", PATCHED, "wrong"),
        ("assert set(f()) == set([1, 2])", "def f(): return (2, 1, 1)", "correct"),
        ("assert sorted(f()) == [1, 2]", "def f(): return {2, 1}", "correct"),
        ("assert list(f()) == [1, 2]", "def f():\n  yield 1\n  yield 2", "correct"),
        ("assert 3 == f()", "def f(): return 3", "correct"),
        ("assert f() in (1, 2)", "def f(): return 2", "correct"),
        ("assert f() is None", "def f(): pass", "correct"),
        ("assert f() is True", "def f(): return 1", "wrong"),
        ("assert not f()", "def f(): return []", "correct"),
        ("assert f()", "def f(): return 0", "wrong"),
        ("assert f() != 4", "def f(): return 4", "wrong"),
        ("assert f() == (1, 2)", "def f(): return [1, 2]", "wrong"),
        ("assert f() == (1, 2)", NAMED, "correct"),
        ("assert f() == {'a': 1}", COUNTER, "correct"),
        ("assert f() == float('inf')", "def f(): return float('inf')", "correct"),
        ("assert f() == 10**30", "def f(): return 10**30", "correct"),
        ("assert sum(10, 15) == 25", "def sum(a, b): return a + b", "correct"),
        ("x = [3, 1]\nassert f(x) == [1, 3]", "f = sorted", "correct"),
        ("for i in (1, 2):\n    assert f(i) == i", "def f(i): return i", "correct"),
        ("for i in (1, 2):\n    assert f(i) == i", "def f(i): return 1", "wrong"),
        ("assert all(f(i) == i for i in (1, 2))", "def f(i): return i", "correct"),
    ],
)  # fmt: skip
@here
def test_the_shapes_of_tests(test: str, code: str, verdict: str) -> None:
    assert verdict_of(code, tests=[test], test_setup="import math") == verdict


@here
@pytest.mark.parametrize("setup", ["import math", "LIMIT = 8"])
def test_setup_before_the_program_is_seen_by_it(setup: str) -> None:
    code = (
        "FLOOR = math.floor if 'math' in globals() else LIMIT\ndef add(a, b):\n    return a + b\n"
    )
    assert verdict_of(code, test_setup=setup) == "correct"


@here
def test_setup_that_needs_the_program_comes_after_it() -> None:
    row = {"test_setup": "node = Node(3)", "tests": ["assert value(node) == 3"]}
    code = "class Node:\n    def __init__(self, v): self.v = v\ndef value(n): return n.v\n"
    assert verdict_of(code, **row) == "correct"
    assert TASK.verify({**ROW, **row}, ADD).reason == "setup_failed"


@here
def test_a_verdict_names_sandbox_judge_and_place() -> None:
    given = TASK.verify(ROW, "Sure:\n" + fenced(ADD))
    assert given.verifier.startswith("mbpp/1 sandbox=") and given.verifier.endswith("judge=outside")
    assert (given.method, given.answer, given.span) == ("fence", ADD, (16, 16 + len(ADD)))
    given = TASK.verify({**ROW, "tests": ["assert add(1, 2) == add(2, 1)"]}, ADD)
    assert given.verifier.endswith("judge=in_process")
