"""Rulings on GSM8K, on every published problem."""

import itertools
import json
from pathlib import Path

import pytest

from cotdata.errors import InputError
from cotdata.schema import Row
from cotdata.tasks import get_task
from cotdata.tasks.gsm8k import normalise_answer_line, strip_calculator_marks

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = ("gsm8k_train.jsonl", "gsm8k_test.jsonl")
TASK = get_task("gsm8k")
needs_data = pytest.mark.skipif(not DATA.exists(), reason="no ../shared/data here")
every_file = pytest.mark.parametrize("name", FILES)


def problems(name: str) -> list[Row]:
    with (DATA / name).open() as lines:
        return [TASK.parse(json.loads(line)) for line in lines]


@needs_data
@every_file
def test_every_solution_verifies_as_published_and_as_a_trace(name: str) -> None:
    for row in problems(name):
        assert TASK.verify(row, row["solution"]).correct
        assert TASK.verify(row, TASK.human_trace(row) or "").correct


@needs_data
@every_file
def test_no_solution_verifies_against_the_next_problem_unless_equal(name: str) -> None:
    rows = problems(name)
    for row, other in itertools.pairwise(rows):
        same = row["answer"].replace(",", "") == other["answer"].replace(",", "")
        assert TASK.verify(row, other["solution"]).correct is same


@needs_data
@every_file
def test_a_trace_cut_before_its_last_line_has_no_answer(name: str) -> None:
    for row in problems(name):
        cut = row["solution"].rpartition("####")[0]
        assert TASK.verify(row, cut, "length").verdict == "no_answer"


@needs_data
@every_file
def test_a_trace_holds_no_mark_and_one_answer_line(name: str) -> None:
    for row in problems(name):
        trace = TASK.human_trace(row) or ""
        assert "<<" not in trace and "####" not in trace
        assert trace.endswith(f"\nThe answer is {row['answer']}.")


def test_marks_and_answer_line_are_rewritten_apart() -> None:
    text = "9 * 2 = <<9*2=18>>18\n#### 18"
    assert strip_calculator_marks(text) == "9 * 2 = 18\n#### 18"
    assert normalise_answer_line(text) == "9 * 2 = <<9*2=18>>18\nThe answer is 18."


@pytest.mark.parametrize(
    "row",
    [
        {"question": "q", "answer": "9 * 2 = 18\n#### 18"},
        {"problem": "q", "answer": "18", "solution": None},
        {"problem": "q", "answer": "18", "solution": "9 * 2 = 18\n#### 18"},
        {"problem": "q", "answer": 18},
    ],
)
def test_hub_columns_and_our_own_are_read(row: Row) -> None:
    assert TASK.parse(row)["answer"] == "18"


@pytest.mark.parametrize(
    "row",
    [
        {"answer": "#### 1"},
        {"question": "q"},
        {"question": "q", "answer": ""},
        {"question": "q", "answer": "9 * 2 = 18\nso eighteen"},
        {"question": "q", "answer": "9 * 2 = 18\n#### "},
        {"question": " ", "answer": "#### 1"},
    ],
)
def test_a_row_without_problem_or_answer_is_refused(row: Row) -> None:
    with pytest.raises(InputError):
        TASK.parse(row)
