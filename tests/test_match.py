"""Matched arms: same problems, same rows of each, near budgets, or a refusal."""

import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shell import Ran, cotdata
from toys import files_of

from cotdata.matching import Candidate, Match, MatchRule, imbalance, match
from cotdata.store import Dataset, open_dataset

Rows = dict[str, list[Candidate]]


def candidate(arm: str, problem: int, index: int, tokens: int) -> Candidate:
    return Candidate(row_id=f"{arm}-{problem}-{index}", problem_id=f"p{problem}", tokens=tokens)


def arm_rows(arm: str, sizes: list[list[int]]) -> list[Candidate]:
    return [
        candidate(arm, problem, index, tokens)
        for problem, rows in enumerate(sizes)
        for index, tokens in enumerate(rows)
    ]


SIZES = st.lists(st.lists(st.integers(1, 60), max_size=4), min_size=1, max_size=12)
ARMS = st.lists(SIZES, min_size=2, max_size=4).map(
    lambda arms: {f"arm{i}": arm_rows(f"arm{i}", sizes) for i, sizes in enumerate(arms)}
)
RULES = st.builds(
    MatchRule,
    per_problem=st.none() | st.integers(1, 3),
    tolerance=st.sampled_from([0.0, 0.05, 0.3, 5.0]),
    min_kept=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 3),
)


def problems_kept(rows: Rows, found: Match, arm: str) -> Counter[str]:
    return Counter(row.problem_id for row in rows[arm] if row.row_id in found.kept[arm])


def tokens_kept(rows: Rows, found: Match) -> list[int]:
    return [sum(r.tokens for r in rows[arm] if r.row_id in found.kept[arm]) for arm in rows]


@given(ARMS, RULES)
def test_every_row_is_kept_or_lost_for_one_reason(rows: Rows, rule: MatchRule) -> None:
    found = match(rows, rule)
    for arm, candidates in rows.items():
        assert not found.kept[arm] & found.lost[arm].keys()
        assert found.kept[arm] | found.lost[arm].keys() == {row.row_id for row in candidates}


@given(ARMS, RULES)
def test_arms_hold_the_same_problems_and_as_many_rows_of_each(rows: Rows, rule: MatchRule) -> None:
    found = match(rows, rule)
    counts = [problems_kept(rows, found, arm) for arm in rows]
    assert all(one == other for one, other in pairwise(counts))
    assert all(n <= (rule.per_problem or n) for n in counts[0].values())


@given(ARMS, RULES)
def test_budgets_are_within_the_tolerance_or_the_arms_are_refused(
    rows: Rows, rule: MatchRule
) -> None:
    found = match(rows, rule)
    assert found.refusal or imbalance(tokens_kept(rows, found)) <= rule.tolerance + 1e-9
    assert [b.tokens for b in found.balances] == tokens_kept(rows, found)


@given(ARMS, RULES, st.randoms())
def test_the_order_of_arms_and_rows_changes_nothing(
    rows: Rows, rule: MatchRule, rng: random.Random
) -> None:
    names = rng.sample(sorted(rows), len(rows))
    shuffled = {name: rng.sample(rows[name], len(rows[name])) for name in names}
    found, again = match(rows, rule), match(shuffled, rule)
    assert (found.kept, found.lost) == (again.kept, again.lost)


@given(ARMS, RULES)
def test_not_more_problems_are_dropped_than_allowed(rows: Rows, rule: MatchRule) -> None:
    found = match(rows, rule)
    shared = set.intersection(*({row.problem_id for row in arm} for arm in rows.values()))
    if not found.refusal:
        assert found.balances[0].problems >= rule.min_kept * len(shared)


def test_balanced_arms_keep_the_first_rows_by_hash_and_exchange_none() -> None:
    rows = {arm: arm_rows(arm, [[10, 10, 10]] * 5) for arm in "GW"}
    found = match({**rows, "H": arm_rows("H", [[10]] * 5)}, MatchRule())
    assert [(b.rows, b.exchanged) for b in found.balances] == [(5, 0)] * 3


def test_surplus_rows_are_exchanged_before_problems_are_dropped() -> None:
    rows = {"H": arm_rows("H", [[20]] * 50), "G": arm_rows("G", [[10, 20, 60, 70]] * 50)}
    found = match(rows, MatchRule(tolerance=0.05))
    assert found.refusal is None
    assert [b.problems for b in found.balances] == [50, 50]
    assert found.balances[0].exchanged > 0


def test_the_problems_that_set_the_arms_apart_are_dropped_last() -> None:
    rows = {"H": arm_rows("H", [[20]] * 10), "G": arm_rows("G", [[20]] * 9 + [[400]])}
    found = match(rows, MatchRule())
    assert found.lost["H"] == {"H-9-0": found.lost["G"]["G-9-0"]}
    assert found.lost["H"]["H-9-0"][0] == "budget"


def test_an_arm_of_longer_traces_throughout_is_refused_by_name() -> None:
    rows = {"H": arm_rows("H", [[20]] * 10), "G": arm_rows("G", [[40]] * 10)}
    refusal = match(rows, MatchRule()).refusal
    assert refusal is not None
    assert refusal.startswith("G is 100.0% longer than H (400 and 200 in all)")


def test_arms_without_a_problem_in_common_are_refused() -> None:
    rows = {"H": arm_rows("H", [[20]]), "G": arm_rows("G", [[], [20]])}
    assert match(rows, MatchRule()).refusal == "no problem is in all arms"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two arms of one model's traces, and the human one."""
    folder = tmp_path_factory.mktemp("match")
    cotdata("ingest", "countdown:n=30,numbers=2", "-o", "p", "-q", cwd=folder)
    sample = ("sample", "p", "--model", "m", "--engine", "fake", "-q")
    cotdata(*sample, "-n", 5, "-o", "A", cwd=folder)
    cotdata(*sample, "-n", 3, "--seed", 7, "--limit", 20, "-o", "B", cwd=folder)
    cotdata("human", "p", "-o", "H", "-q", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def arms(shop: Path) -> tuple[Ran, list[Dataset]]:
    ran = cotdata("match", "A", "B", "-o", "AB", cwd=shop)
    return ran, [open_dataset(str(shop / path)) for path in ran.out.split()]


def test_stdout_is_one_path_per_arm(arms: tuple[Ran, list[Dataset]]) -> None:
    assert (arms[0].code, arms[0].out) == (0, "AB/A\nAB/B\n")
    assert "completion_tokens" in arms[0].err.splitlines()[0]


def test_every_arm_names_all_arms_as_parents_and_the_rule(
    shop: Path, arms: tuple[Ran, list[Dataset]]
) -> None:
    inputs = {open_dataset(str(shop / name)).id for name in "AB"}
    for arm in arms[1]:
        assert {parent["id"] for parent in arm.manifest.parents} == inputs
        assert arm.manifest.options["arms"] == ["A", "B"]
        assert "hash order" in arm.manifest.options["rule"]
    assert len({arm.manifest.options["group"] for arm in arms[1]}) == 1


def test_the_rejected_rows_say_why(arms: tuple[Ran, list[Dataset]]) -> None:
    assert arms[1][0].manifest.fates.reasons == {"problem_not_in_all": 50, "surplus": 40}
    reasons = [row for b in arms[1][0].batches(["reject_reason"], folder="rejected")
               for row in b["reject_reason"].to_pylist()]  # fmt: skip
    assert Counter(reasons) == {"problem_not_in_all": 50, "surplus": 40}


def test_the_order_given_makes_the_same_files(shop: Path, arms: tuple[Ran, list[Dataset]]) -> None:
    ran = cotdata("match", "B", "A", "-o", "BA", "-q", cwd=shop)
    assert ran.out == "BA/A\nBA/B\n"
    assert files_of(shop / "BA") == files_of(shop / "AB")
    again = [open_dataset(str(shop / path)).id for path in ran.out.split()]
    assert again == [arm.id for arm in arms[1]]


def test_a_second_run_finds_the_arms(shop: Path, arms: tuple[Ran, list[Dataset]]) -> None:
    ran = cotdata("match", "A", "B", "-o", "AB", "--json", cwd=shop)
    assert json.loads(ran.out)["ids"] == [arm.id for arm in arms[1]]
    assert ran.err.count("already done") == 2


def test_arms_that_cannot_be_matched_are_refused_with_status_3(shop: Path) -> None:
    ran = cotdata("match", "A", "H", "-o", "refused", cwd=shop)
    assert (ran.code, ran.out) == (3, "")
    assert "refused: A is" in ran.err
    assert "characters" in ran.err.splitlines()[0]
    assert not (shop / "refused").exists()


def test_a_dry_run_shows_the_balance_and_writes_nothing(shop: Path) -> None:
    ran = cotdata("match", "A", "B", "-o", "dry", "--dry-run", cwd=shop)
    assert (ran.code, ran.out) == (0, "")
    assert "20 of 30" in ran.err
    assert not (shop / "dry").exists()


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["A"], "give two or more"),
        (["A", "A"], "two arms are called 'A'"),
        (["A", ".b=B"], "no name for a folder"),
        (["A", "p"], "this stage reads traces"),
        (["A", "nothing"], "no dataset here"),
    ],
)
def test_what_is_no_arm_is_refused(shop: Path, sources: list[str], message: str) -> None:
    ran = cotdata("match", *sources, "-o", "bad", cwd=shop)
    assert ran.code in (1, 2)
    assert message in ran.err
