"""Rulings on where steps are cut."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SHARED
from hypothesis import given
from hypothesis import strategies as st

from cotdata.latex import is_balanced
from cotdata.steps import RULES, Piece, core, segment

CASES = SHARED / "cases" / "flaws.jsonl"
TASKS = [*RULES, "no such task"]
SCRAPS = [
    "$",
    "\\$5",
    "\\[",
    "\\]",
    "\\begin{align}",
    "\\end{align}",
    "\\\\",
    "\\boxed{",
    "}",
    "{",
    "\n",
    "\r\n",
    "\n\n",
    " ",
    "\t",
    "\r",
    "\x0c",
    "\u2028",
    "é",
    "a. B",
    "The answer is 7.",
    "#### 7",
    "<answer>",
    "</answer>",
    "3+4=7",
    "<<3+4=7>>",
    "[asy]",
    "[/asy]",
    "```",
    "else:\n",
    "```python\n",
    "if x:\n",
    "    y = 'é'\n",
    "x = 1; y = 2\n",
    "def f():\n",
]  # fmt: skip
TEXTS = st.text() | st.lists(st.sampled_from(SCRAPS)).map("".join)


def steps(trace: str, task: str, kind: str = "step") -> list[str]:
    return [trace[slice(*core(trace, p))] for p in segment(trace, task) if p.kind == kind]


def traces(folder: Path) -> Iterator[tuple[str, str]]:
    columns = {"gsm8k": "answer", "math": "solution", "mbpp": "code", "aqua": "rationale"}
    for path in sorted(folder.glob("*.jsonl")):
        task = path.name.split("_")[0].removesuffix(".jsonl").replace("math500", "math")
        for row in map(json.loads, path.read_text().split("\n")[:-1]):
            if task == "bbm":
                yield "gsm8k", "\n".join(row["steps"])
            elif task in columns:
                yield task, row[columns[task]]


@pytest.mark.parametrize("task", TASKS)
@given(trace=TEXTS)
def test_pieces_join_to_any_text(task: str, trace: str) -> None:
    pieces = segment(trace, task)
    assert "".join(trace[p.start : p.end] for p in pieces) == trace
    assert all(p.start <= start <= end <= p.end for p in pieces for start, end in p.protected)


def test_pieces_join_to_every_public_trace(shared_data: Path) -> None:
    num_traces = 0
    for task, trace in traces(shared_data):
        num_traces += 1
        assert "".join(trace[p.start : p.end] for p in segment(trace, task)) == trace
    assert num_traces > 14_000


def test_an_empty_trace_has_no_piece_and_a_blank_one_no_step() -> None:
    assert segment("", "math") == []
    assert segment(" \n ", "gsm8k") == [Piece(start=0, end=3, kind="glue")]


def test_formulas_of_public_solutions_are_never_cut_open(shared_data: Path) -> None:
    for task, trace in traces(shared_data):
        if task == "math" and is_balanced(trace):
            for piece in segment(trace, task):
                text = trace[piece.start : piece.end]
                assert piece.kind in ("row", "glue") or is_balanced(text), text


def test_every_reference_program_has_steps_that_are_whole_statements(shared_data: Path) -> None:
    for task, trace in traces(shared_data):
        if task == "mbpp":
            found = [p for p in segment(trace, task) if p.is_step]
            assert found
            assert all(p.start == 0 or trace[p.start - 1] in " \t\n;:" for p in found)


CUT = {
    "seg-gsm-1": (2, "#### 72"),
    "seg-gsm-crlf": (2, "#### 13"),
    "seg-gsm-oneline": (2, "The answer is 4.5."),
    "seg-math-dollar": (3, None),
    "seg-math-align": (5, None),
    "seg-math-pmatrix": (2, None),
    "seg-math-unbalanced": (2, None),
    "seg-cd-1": (2, "<answer>(25 - 5) * 4</answer>"),
    "cd-search": (2, "<answer>(25 - 5) * 4</answer>"),
}


def test_every_case_is_cut_as_ruled(shared_cases: Path) -> None:
    cases = map(json.loads, (shared_cases / "flaws.jsonl").read_text().splitlines())
    found = {}
    for case in (case for case in cases if case["operation"] == "segment"):
        pieces = segment(case["trace"], case["task"])
        answers = steps(case["trace"], case["task"], "answer")
        found[case["id"]] = (sum(p.is_step for p in pieces), answers[0] if answers else None)
    assert found == CUT


def test_titles_prices_and_abbreviations_end_no_step() -> None:
    trace = "Mr. Lee paid $3.50 for 2.5 lbs. He paid $1.00 more, i.e. $4.50. The answer is 4.5."
    assert steps(trace, "gsm8k") == [
        "Mr. Lee paid $3.50 for 2.5 lbs.",
        "He paid $1.00 more, i.e. $4.50.",
    ]


def test_rows_of_align_are_rows_and_its_ends_are_glue() -> None:
    trace = "\\begin{align*}\nx &= 5 \\\\[2pt]\n&= 3.\n\\end{align*}"
    assert steps(trace, "math", "row") == ["x &= 5 \\\\[2pt]", "&= 3."]
    assert steps(trace, "math", "glue") == ["\\begin{align*}", "\\end{align*}"]


@pytest.mark.parametrize("inner", ["pmatrix", "cases", "array", "aligned"])
def test_rows_of_inner_environments_cut_nothing(inner: str) -> None:
    trace = f"\\[\\begin{{{inner}}} 1 \\\\ 2. A \\end{{{inner}}} = 3.\\]\nThe first is $1$."
    assert len(steps(trace, "math")) == 2


def test_a_paragraph_with_an_odd_dollar_is_one_step() -> None:
    assert len(steps("Let $x = 3 and y. Then x+y = 7.\n\nSo $x$. Then $y$.", "math")) == 3


def test_a_drawing_is_kept_whole_and_is_no_step() -> None:
    trace = "See.\n\n[asy]\ndraw(A. B);\n\nlabel(C);\n[/asy]\n\nSo $x$."
    assert steps(trace, "math") == ["See.", "So $x$."]


def test_a_box_is_protected_within_its_sentence() -> None:
    trace = "Thus \\boxed{15} it is."
    (piece,) = segment(trace, "math")
    assert [trace[slice(*span)] for span in piece.protected] == ["\\boxed{15}"]


def test_what_tests_call_is_no_step_of_a_program() -> None:
    trace = 'import re\r\ndef f(x):\r\n    """Doc."""\r\n    # why\r\n    if x: return 1\r\n    else:\r\n        y = "é"; return y\r\n'  # noqa: E501
    assert steps(trace, "mbpp") == ["if x:", "return 1", 'y = "é"', "return y"]


def test_prose_around_a_program_is_cut_into_sentences() -> None:
    trace = "We add. Then we return.\n```python\ndef f(a):\n    return a + 1\n```\nDone."
    assert steps(trace, "mbpp") == ["We add.", "Then we return.", "return a + 1", "Done."]


def test_an_unreadable_program_has_no_steps() -> None:
    assert steps("def f(:\n    return 1\n", "mbpp") == []


def test_a_countdown_line_is_cut_into_clauses_with_an_equation() -> None:
    trace = "25 - 5 = 20, then 20 * 4 = 80. <answer>(25 - 5) * 4</answer>"
    assert steps(trace, "countdown") == ["25 - 5 = 20,", "then 20 * 4 = 80."]


def test_an_answer_within_the_last_line_is_a_piece_of_its_own() -> None:
    trace = "She has 3.\nSo 3+5 = 8, so the answer is 8."
    assert steps(trace, "gsm8k", "answer") == ["so the answer is 8."]


@pytest.mark.parametrize(
    "answer",
    ["#### 8", "**Answer:** 8", "Final answer: $8", "So the answer is \\boxed{8}.", "$\\boxed{8}$"],
)
def test_an_answer_may_be_stated_in_many_ways(answer: str) -> None:
    assert steps(f"We add 3+4 = 7. Then 7+1 = 8. {answer}", "gsm8k", "answer") == [answer]
    assert steps(f"We add 3+4 = 7.\nThen 7+1 = 8.\n\n{answer}\n", "gsm8k", "answer") == [answer]
