"""Rulings on the Countdown generator and solver."""

import json
import re
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotdata.countdown import Spec, generate, parse_spec
from cotdata.countdown_solver import solve, trace_of
from cotdata.errors import UsageError
from cotdata.tasks import get_task

DATA = Path(__file__).parents[2] / "shared" / "data"
TASK = get_task("countdown")
small_numbers = st.lists(st.integers(0, 12), min_size=1, max_size=4)


@pytest.mark.parametrize("split", ["train", "test"])
def test_generated_problems_are_distinct_and_their_solutions_right(split: str) -> None:
    rows = [TASK.parse(row) for row in generate(Spec(num_problems=400, split=split))]
    assert len({str(TASK.identity(row)) for row in rows}) == 400
    assert all(TASK.verify(row, TASK.human_trace(row)).correct for row in rows)


def test_no_test_puzzle_is_a_train_puzzle_whatever_the_seed() -> None:
    def puzzles(split: str, seed: int) -> set[str]:
        spec = Spec(num_problems=150, numbers=(2, 2), max=30, split=split, seed=seed)
        return {str(TASK.identity(TASK.parse(row))) for row in generate(spec)}

    train = puzzles("train", 0) | puzzles("train", 1)
    assert not train & (puzzles("test", 0) | puzzles("test", 7))


def test_a_longer_run_begins_with_a_shorter_one() -> None:
    longer = list(islice(generate(Spec(num_problems=90)), 30))
    assert longer == list(generate(Spec(num_problems=30)))


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ("n=many", "a number from 1"), ("n=0", "a number from 1"), ("n", "cannot read"),
        ("n=2-3", "wanted a number from 1"), ("colour=red", "unknown countdown setting 'colour'"),
        ("nubmers=3", "did you mean 'numbers'"), ("n=1,n=2", "set twice"), ("ops=^", "some of"),
        ("min=9,max=3", "above max=3"), ("max=1000001", "at most 1,000,000"), ("seed=-1", "from 0"),
        ("target=9-3", "from low to high"), ("split=dev", "train or test"), ("numbers=1", "2 to 6"),
        ("numbers=3-7", "up to 6"), ("numbers=4-3", "from low to high"), ("max=", "cannot read"),
    ],
)  # fmt: skip
def test_a_spec_that_makes_no_sense_is_refused(settings: str, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(f"countdown:{settings}")
    assert what in str(caught.value)


def test_a_spec_is_read_whole() -> None:
    text = "countdown:n=9,numbers=2+2+3-4,min=5,max=50,target=20,ops=+-,seed=3,split=test"
    assert parse_spec(text) == Spec(
        num_problems=9, numbers=(2, 2, 3, 4), min=5, max=50, target=(20, 20), ops="+-", seed=3,
        split="test",
    )  # fmt: skip


def test_what_a_spec_asks_for_is_made() -> None:
    rows = list(generate(parse_spec("countdown:n=80,numbers=2+4,min=5,max=50,target=9-40,ops=+-")))
    assert {len(row["nums"]) for row in rows} == {2, 4}
    assert all(5 <= number <= 50 for row in rows for number in row["nums"])
    assert all(9 <= row["target"] <= 40 for row in rows)
    assert not any(set("*/") & set(row["solution"].replace("</", "")) for row in rows)


def test_results_on_the_way_are_positive_whole_numbers() -> None:
    for row in generate(Spec(num_problems=100, numbers=(5, 6))):
        assert re.fullmatch(r"([0-9]+ [-+*/] [0-9]+ = [1-9][0-9]*\n)+<.*>", row["solution"])


def test_too_many_distinct_puzzles_are_refused_with_the_way_on() -> None:
    with pytest.raises(UsageError, match="ask for fewer problems"):
        list(generate(Spec(num_problems=500, numbers=(2, 2), max=5)))


def test_the_solver_solves_every_puzzle_of_the_hub() -> None:
    if not (data := DATA / "countdown_test_sample.jsonl").exists():
        pytest.skip("no ../shared/data here")
    for row in (TASK.parse(json.loads(line)) for line in data.read_text().splitlines()):
        assert TASK.verify(row, str(TASK.human_trace(row))).correct, row


def test_the_solver_goes_over_fractions_where_it_must() -> None:
    assert trace_of(solve([8, 3, 8, 3], 24)).splitlines() == [
        "8 / 3 = 8/3", "3 - (8/3) = 1/3", "8 / (1/3) = 24", "<answer>8 / (3 - 8 / 3)</answer>",
    ]  # fmt: skip


def test_the_solver_says_none_where_there_is_no_way() -> None:
    assert solve([1, 1], 50) is None
    assert solve([2, 3, 4], 12) is None
    assert solve([1] * 7, 7) is None


def test_the_solver_may_leave_numbers_out_if_asked() -> None:
    assert trace_of(solve([2, 3, 4], 12, use_all=False)).endswith("<answer>4 * 3</answer>")
    assert trace_of(solve([12, 3], 12, use_all=False)) == "<answer>12</answer>"


@given(small_numbers, st.randoms(use_true_random=False))
def test_the_order_of_the_numbers_does_not_change_the_way(
    numbers: list[int], random: Random
) -> None:
    shuffled = random.sample(numbers, len(numbers))
    assert solve(numbers, 7) == solve(shuffled, 7)


@given(small_numbers, st.data())
def test_what_can_be_made_is_found_and_true(numbers: list[int], data: st.DataObject) -> None:
    text = str(numbers[0])
    for number in numbers[1:]:
        text = f"({text} {data.draw(st.sampled_from('+-*'))} {number})"
    found = solve(numbers, eval(text))
    assert found is not None
    problem = {"numbers": numbers, "target": eval(text)}
    assert TASK.verify(problem, trace_of(found)).correct
