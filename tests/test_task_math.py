r"""Rulings on MATH, on every problem at hand."""

import itertools
import json
from pathlib import Path

import pytest

from cotdata.equivalence import compare
from cotdata.errors import InputError
from cotdata.schema import Row
from cotdata.tasks import get_task

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = ("math_train_1500.jsonl", "math500_test.jsonl")
TASK = get_task("math")
needs_data = pytest.mark.skipif(not DATA.exists(), reason="no ../shared/data here")
every_file = pytest.mark.parametrize("name", FILES)


def problems(name: str) -> list[Row]:
    with (DATA / name).open() as lines:
        return [TASK.parse(json.loads(line)) for line in lines]


@needs_data
@every_file
def test_every_solution_verifies(name: str) -> None:
    for row in problems(name):
        assert TASK.verify(row, TASK.human_trace(row) or "").correct
        assert TASK.verify(row, rf"\boxed{{{row['answer']}}}").correct


@needs_data
@every_file
def test_no_key_verifies_against_its_neighbour_unless_equal(name: str) -> None:
    rows = problems(name)
    for row, other in itertools.pairwise(rows):
        verdict = TASK.verify(row, rf"\boxed{{{other['answer']}}}")
        same = compare(row["answer"], other["answer"]).equal is True
        assert verdict.verdict == ("correct" if same else "wrong")


@needs_data
def test_neighbours_held_equal_are_so_on_sight() -> None:
    rows = [row for name in FILES for row in problems(name)]
    pairs = [(a["answer"], b["answer"]) for a, b in itertools.pairwise(rows)]
    equal = {pair for pair in pairs if compare(*pair).equal and pair[0] != pair[1]}
    assert equal == {(r"25^\circ", "25"), ("5", "x=5")}


@needs_data
def test_level_and_subject_are_kept_as_text() -> None:
    train, test = (problems(name)[0] for name in FILES)
    assert (train["level"], train["subject"]) == ("Level 5", "Algebra")
    assert (test["level"], test["subject"]) == ("Level 2", "Precalculus")
    assert test["source_id"] == "test/precalculus/807.json"


@pytest.mark.parametrize(
    "row",
    [
        {"problem": "p", "solution": r"so $\boxed{\frac12}$."},
        {"problem": "p", "answer": r"\frac12"},
        {"problem": "p", "answer": r"\frac12", "solution": r"so $\boxed{\frac{1}{2}}$."},
    ],
)
def test_the_gold_answer_is_the_column_or_the_last_box(row: Row) -> None:
    assert TASK.parse(row)["answer"] == r"\frac12"


@pytest.mark.parametrize(
    "row",
    [
        {"problem": "p", "solution": "so one half."},
        {"problem": "p", "solution": r"so \boxed{}."},
        {"problem": "p", "solution": r"so \boxed{\frac12"},
        {"problem": "p"},
        {"solution": r"\boxed{1}"},
        {"problem": "p", "answer": r"\frac{1"},
    ],
)
def test_a_row_without_problem_or_readable_gold_is_refused(row: Row) -> None:
    with pytest.raises(InputError):
        TASK.parse(row)


def test_a_problem_may_bring_its_solution_only() -> None:
    assert TASK.verify({"solution": r"so $\boxed{4}$."}, r"\boxed{2+2}").correct
