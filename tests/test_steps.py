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
SCRAPS = (
    ["$", "\\$5", "\\[", "\\]", "\\begin{align}", "\\end{align}", "\\\\", "\\boxed{", "}", "{"]
    + ["\n", "\r\n", "\n\n", " ", "\t", "\r", "\f", "\u2028", "é", "a. B", "The answer is 7."]
    + ["#### 7", "<answer>", "</answer>", "3+4=7", "<<3+4=7>>", "[asy]", "[/asy]", "```", "else:\n"]
    + ["```python\n", "if x:\n", "    y = 'é'\n", "x = 1; y = 2\n", "def f():\n"]
)
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
