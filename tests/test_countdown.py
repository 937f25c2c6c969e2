"""Rulings on Countdown: exact reading, exact verdicts, solvable problems."""

import json
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotdata.countdown import Spec, generate, parse_spec
from cotdata.countdown_solver import solve, trace_of
from cotdata.errors import InputError, UsageError
from cotdata.expressions import BadExpression, evaluate, read
from cotdata.schema import Row
from cotdata.tasks import get_task

SHARED = Path(__file__).parents[2] / "shared"
CASES = SHARED / "cases" / "countdown.jsonl"
LINES = [json.loads(line) for line in CASES.read_text().splitlines()] if CASES.exists() else []
TASK = get_task("countdown")


def verdict(answer: str, numbers: list[int], target: int) -> str:
    return TASK.verify({"numbers": numbers, "target": target}, f"<answer>{answer}</answer>").verdict


@pytest.mark.skipif(not LINES, reason="no ../shared/cases/countdown.jsonl here")
@pytest.mark.parametrize("case", LINES, ids=lambda case: case["id"])
def test_a_hard_case_gets_its_verdict(case: Row) -> None:
    found = TASK.verify(case, case["output"])
    assert found.verdict in (case["expected_verdict"], *case.get("also_ok", ())), found


@pytest.mark.parametrize(
    "answer",
    [
        "4 × 6", "4 · 6", r"4 \times 6", r"$4 \cdot 6$", r"\boxed{4 * 6}", r"\(4*6\)", "[4]*6",
        "4 * 6 = 24", "24 = 4 * 6", "((4) * (6)).", "6*4", "4*\n6", "--4*6", r"\left(4\right) * 6",
    ],
)  # fmt: skip
def test_a_way_of_writing_a_product_is_read(answer: str) -> None:
    assert verdict(answer, [4, 6], 24) == "correct"


@pytest.mark.parametrize(
    "answer",
    [
        "4 ** 6", "4 // 6", "4 6", "4(6)", "(4)(6)", "4 x 6", "4.0 * 6", "4_0", "04 * 6", "4e0 * 6",
        "4 * 6 = 24 = 24", "4 * 6 = 25", "24 = 24", "4 * 6 + 0", "int(4) * 6", "4 * (6", "4 * 6)",
        "4 *", "* 4 * 6", "()", "4 * 6 24",
        "24", "4 * 6 # yes", "٤ * ٦", "４ * ６", "4² + 8", "4,6",
        "4 * 6 / 0", "4,00 * 6", "0x4 * 6", "True * 24", "4 * 6, 5", "4 * 6 or so", r"\sqrt{16}*6",
    ],
)  # fmt: skip
def test_what_is_no_plain_arithmetic_is_wrong(answer: str) -> None:
    assert verdict(answer, [4, 6], 24) == "wrong"


def test_fractions_are_exact() -> None:
    assert verdict("8 / (3 - 8 / 3)", [3, 3, 8, 8], 24) == "correct"
    assert verdict(r"\frac{8}{3 - \frac{8}{3}}", [3, 3, 8, 8], 24) == "correct"
    assert verdict("1 / 1000000 / 343", [1, 1000000, 343], 0) == "wrong"


def test_every_number_is_used_once_unless_the_task_is_the_subset_one() -> None:
    problem, trace = {"numbers": [2, 3, 4], "target": 12}, "<answer>3 * 4</answer>"
    assert TASK.verify(problem, trace).reason == "wrong_numbers"
    assert get_task("countdown_subset").verify(problem, trace).correct
    twice = "<answer>3 * 4 * 4 / 4</answer>"
    assert get_task("countdown_subset").verify(problem, twice).reason == "wrong_numbers"


def test_the_last_complete_tag_counts_and_all_are_counted() -> None:
    trace = "<answer>4+6</answer> no <answer>4*6</answer> or <answer>4-"
    found = TASK.verify({"numbers": [4, 6], "target": 24}, trace)
    assert (found.verdict, found.method) == ("correct", "answer_tag/3")
    assert trace[slice(*found.span)] == "4*6"


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        ("4 * 6", "no_answer_tag"),
        ("<answer>4 * 6", "open_answer_tag"),
        ("<answer> </answer>", "empty_answer"),
        ("<think>so <answer>4*6</answer>", "open_think"),
        ("<think><answer>4*6</answer></think> hm", "no_answer_tag"),
        ("</answer>4*6<answer>", "open_answer_tag"),
        ("<ANSWER>4*6</ANSWER>", "no_answer_tag"),
    ],
)
def test_a_trace_without_a_complete_tag_has_no_answer(trace: str, reason: str) -> None:
    found = TASK.verify({"numbers": [4, 6], "target": 24}, trace)
    assert (found.verdict, found.reason) == ("no_answer", reason)


def test_a_target_may_be_text() -> None:
    assert TASK.parse({"target": "24", "nums": ["4", 6]})["target"] == 24
    assert TASK.verify({"numbers": [4, 6], "target": "24"}, "<answer>4*6</answer>").correct


@pytest.mark.parametrize(
    "row",
    [
        {"target": 24}, {"nums": [4, 6]}, {"nums": [], "target": 1}, {"nums": "46", "target": 24},
        {"nums": [4.5], "target": 4}, {"nums": [4, 6], "target": "many"},
        {"nums": [4, True], "target": 4}, {"nums": [1], "target": 2**63},
    ],
)  # fmt: skip
def test_a_row_that_is_no_puzzle_is_refused(row: Row) -> None:
    with pytest.raises(InputError):
        TASK.parse(row)


def test_the_order_of_the_numbers_does_not_make_another_problem() -> None:
    one, other = (TASK.parse({"nums": nums, "target": 10}) for nums in ([4, 6], [6, 4]))
    assert TASK.identity(one) == TASK.identity(other)


trees = st.recursive(
    st.integers(0, 999).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(
        lambda t: f"({' '.join(t)})"
    ),
    max_leaves=12,
)


@given(trees)
def test_a_tree_is_worth_what_exact_arithmetic_says(text: str) -> None:
    spaced = text.replace("(", "( ").replace(")", " )")
    exact = " ".join(f"F({part})" if part.isdigit() else part for part in spaced.split())
    try:
        expected = eval(exact, {"F": Fraction})
    except ZeroDivisionError:
        with pytest.raises(BadExpression, match="division by zero"):
            evaluate(text)
    else:
        assert evaluate(text).value == expected


@given(st.text())
def test_any_text_gets_a_verdict(text: str) -> None:
    assert verdict(text, [4, 6], 24) in ("correct", "wrong", "no_answer")


@given(st.text("0123456789+-*/()=. {}\\frac<>answer$,", max_size=60))
def test_any_near_miss_gets_a_verdict(text: str) -> None:
    assert verdict(text, [4, 6], 24) in ("correct", "wrong", "no_answer")


@pytest.mark.parametrize("text", ["(" * 19_000, "9*" * 9_000 + "9", "1/7+" * 4_000 + "1"])
def test_long_texts_are_read_without_recursion(text: str) -> None:
    assert verdict(text, [4, 6], 24) == "wrong"


def test_a_longer_text_is_not_read() -> None:
    with pytest.raises(BadExpression, match="20,001 characters"):
        read("1" * 20_001)


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
    "text", ["n=many", "colour=red", "n", "min=9,max=3", "split=dev", "numbers=1"]
)
def test_a_spec_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_spec(f"countdown:{text}")


def test_too_many_distinct_puzzles_are_refused_with_the_way_on() -> None:
    with pytest.raises(UsageError, match="ask for fewer problems"):
        list(generate(Spec(num_problems=500, numbers=(2, 2), max=5)))


def test_the_solver_solves_what_can_be_solved() -> None:
    data = SHARED / "data" / "countdown_test_sample.jsonl"
    if not data.exists():
        pytest.skip("no ../shared/data here")
    rows = [TASK.parse(json.loads(line)) for line in data.read_text().splitlines()[:100]]
    traces = [TASK.human_trace(row) for row in rows]
    solved = [
        t is not None and TASK.verify(r, t).correct for r, t in zip(rows, traces, strict=True)
    ]
    assert sum(solved) >= 95


def test_the_solver_says_none_where_there_is_no_way() -> None:
    assert solve([1, 1], 50) is None
    assert (
        trace_of(solve([25, 5, 4], 80)) == "25 - 5 = 20\n20 * 4 = 80\n<answer>(25 - 5) * 4</answer>"
    )
