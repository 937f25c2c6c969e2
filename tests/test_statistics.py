"""Intervals, tests and pass@k against scipy, hand-made values and simulation."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cotdata.report.intervals import (
    estimate_mean,
    estimate_ratio,
    resampled_sums,
    rng_of,
    wilson,
)
from cotdata.report.paired import compare, holm, mcnemar_exact
from cotdata.report.passk import majority_at_k, pass_at_k, votes
from cotdata.report.runs import half_width, problem_part, run_part, t_quantile, two_sided_p

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def column(values: object) -> np.ndarray:
    return np.asarray(values, float).reshape(-1, 1)


@given(counts)
def test_wilson_is_scipys(pair: tuple[int, int]) -> None:
    ours, theirs = wilson(*pair), stats.binomtest(*pair).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_by_hand() -> None:
    seen = wilson(1, 10)
    assert (seen.low, seen.high) == pytest.approx((0.0178762131, 0.4041500268), abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_scipys_binomial_test(first: int, second: int) -> None:
    n = first + second
    expected = stats.binomtest(first, n).pvalue if n else 1.0
    assert mcnemar_exact(first, second) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_by_hand() -> None:
    assert mcnemar_exact(8, 1) == 2 * (1 + 9) / 2**9
    assert 0 < mcnemar_exact(3000, 2000) < 1e-40


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_steps_down_and_is_never_below_p(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(adjusted)[order]) >= 0)
    assert min(adjusted) == min(1.0, len(p_values) * min(p_values))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(counts, st.integers(1, 400))
def test_pass_at_k_is_one_minus_a_ratio_of_binomials(pair: tuple[int, int], k: int) -> None:
    c, n = pair
    k = min(k, n)
    expected = 1 - math.comb(n - c, k) / math.comb(n, k)
    assert pass_at_k(np.array([n]), np.array([c]), k)[0] == pytest.approx(expected, abs=1e-9)


def test_pass_at_k_stays_finite_for_many_samples() -> None:
    seen = pass_at_k(np.array([100_000]), np.array([1]), 50_000)[0]
    assert seen == pytest.approx(0.5)


@settings(max_examples=30)
@given(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=5, max_size=5), st.integers(1, 5))
def test_majority_at_k_is_the_mean_over_all_subsets(ballots: list[int], k: int) -> None:
    subsets = [np.array(subset) for subset in combinations(ballots, k)]
    expected = np.mean([majority_at_k(subset, k, rng_of()) for subset in subsets])
    assert majority_at_k(np.array(ballots), k, rng_of("m")) == pytest.approx(expected, abs=0.2)


def test_tied_majorities_share_the_win_and_right_answers_vote_as_one() -> None:
    cast = votes(
        ["correct", "correct", "wrong", "wrong", "no_answer"], ["1/2", "0.5", "3", " 3", None]
    )
    assert cast == [0, 0, 1, 1, -1]
    assert majority_at_k(np.array(cast), 5, rng_of()) == 0.5
    assert majority_at_k(np.array([-1, -1]), 2, rng_of()) == 0.0


@pytest.mark.parametrize("freedom", [1, 2, 4, 9, 100, 1318])
def test_t_quantiles_are_scipys(freedom: int) -> None:
    for probability in (0.6, 0.9, 0.975, 0.995):
        expected = stats.t.ppf(probability, freedom)
        assert t_quantile(probability, freedom) == pytest.approx(expected, rel=1e-3)


def test_the_p_value_over_one_run_each_is_the_paired_t_test() -> None:
    differences = rng_of("t").normal(0.1, 1, 200)
    seen = two_sided_p(float(differences.mean()), problem_part(differences), [])
    assert seen == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=1e-6)


@pytest.mark.parametrize("num_values", [4, 1000])
def test_resampling_has_the_mean_and_error_of_drawing_rows(num_values: int) -> None:
    values = rng_of("values").integers(0, num_values, 300) / num_values
    means = resampled_sums(column(values), rng_of("draws"))[:, 0] / 300
    assert means.mean() == pytest.approx(values.mean(), abs=0.002)
    assert means.std() == pytest.approx(values.std() / math.sqrt(300), rel=0.03)


def test_the_bootstrap_interval_is_scipys() -> None:
    values = rng_of("values").binomial(8, 0.4, 400) / 8
    ours = estimate_mean(column(values), rng_of("ours"))
    theirs = stats.bootstrap((values,), np.mean, method="percentile", random_state=rng_of("theirs"))
    interval = theirs.confidence_interval
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), abs=0.002)


def test_the_ratio_interval_is_scipys() -> None:
    parsed = rng_of("parsed").integers(1, 9, 300)
    correct = rng_of("correct").binomial(parsed, 0.5)
    ours = estimate_ratio(correct.astype(float), parsed.astype(float), rng_of("ours"))
    theirs = stats.bootstrap(
        (correct, parsed), lambda c, p, axis: c.sum(axis) / p.sum(axis), paired=True,
        method="percentile", vectorized=True, random_state=rng_of("theirs"),
    ).confidence_interval  # fmt: skip
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.003)


def test_the_paired_bootstrap_is_scipys() -> None:
    first, second = (rng_of(name).binomial(4, p, 300) / 4 for name, p in (("a", 0.5), ("b", 0.4)))
    ours = compare(column(first), column(second), rng_of("ours"))
    theirs = stats.bootstrap(
        (first - second,), np.mean, method="percentile", random_state=rng_of("theirs")
    ).confidence_interval
    assert ours.test == "paired bootstrap"
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.003)
    assert ours.p < 0.05


def test_greedy_arms_are_compared_by_mcnemar_on_their_discordant_problems() -> None:
    first = [1] * 30 + [0] * 20
    second = [1] * 22 + [0] * 25 + [1] * 3
    seen = compare(column(first), column(second), rng_of())
    assert (seen.num_first_better, seen.num_second_better, seen.test) == (8, 3, "McNemar exact")
    assert seen.p == pytest.approx(stats.binomtest(8, 11).pvalue)


def test_variance_over_runs_by_hand() -> None:
    """Two problems, two runs: a table whose analysis of variance fits on a card."""
    table = np.array([[1.0, 0.0], [1.0, 1.0]])
    part = run_part(table)
    assert (part.variance, part.freedom) == (0.0625, 1)
    assert part.noise == pytest.approx(0.25 / 4)
    assert problem_part(table.mean(axis=1)).variance == pytest.approx(0.0625)


def test_the_variance_between_runs_widens_the_interval() -> None:
    rng = rng_of("runs")
    alike = rng.binomial(1, 0.5, (300, 3)).astype(float)
    apart = rng.binomial(1, [0.2, 0.5, 0.8], (300, 3)).astype(float)
    widths = [half_width(0.95, problem_part(t.mean(axis=1)), [run_part(t)]) for t in (alike, apart)]
    assert widths[1] > 2 * widths[0]


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5])
def test_no_spread_is_not_certainty(value: float) -> None:
    table = np.full((40, 3), value)
    seen = estimate_mean(table, rng_of())
    assert seen.high - seen.low > 0.05
    same = compare(table, table, rng_of())
    assert (same.value, same.p) == (0.0, 1.0)
    assert same.low < -0.05 and same.high > 0.05


@settings(max_examples=50)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6))
def test_an_interval_holds_its_value_and_stays_in_range(
    problems: int, runs: int, samples: int, seed: int
) -> None:
    table = np.random.default_rng(seed).integers(0, samples + 1, (problems, runs)) / samples
    seen = estimate_mean(table, rng_of(seed))
    assert 0 <= seen.low <= seen.value <= seen.high <= 1


COVERAGE = [(100, 1, 0.05), (100, 4, 0.4), (400, 8, 0.4), (1319, 1, 0.6)]


@pytest.mark.parametrize("problems, samples, mean", COVERAGE)
def test_intervals_cover_the_truth_as_often_as_they_say(
    problems: int, samples: int, mean: float
) -> None:
    rng, hits, tries = rng_of("coverage", problems, samples), 0, 1500
    for _ in range(tries):
        difficulty = rng.beta(3 * mean, 3 * (1 - mean), problems)
        seen = estimate_mean(column(rng.binomial(samples, difficulty) / samples), rng, times=1000)
        hits += seen.low <= mean <= seen.high
    assert 0.93 <= hits / tries <= 0.97


def test_paired_intervals_cover_the_true_difference() -> None:
    rng, hits, tries = rng_of("paired"), 0, 1500
    for _ in range(tries):
        easy = rng.beta(1.2, 1.8, 200)
        first, second = rng.binomial(4, easy) / 4, rng.binomial(4, easy**2) / 4
        seen = compare(column(first), column(second), rng, times=1000)
        hits += seen.low <= 0.4 - (0.4**2 + 0.06) <= seen.high
    assert 0.93 <= hits / tries <= 0.97


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.05])
def test_intervals_over_runs_cover_at_least_what_they_say(spread: float) -> None:
    rng, hits, tries = rng_of("runs", spread), 0, 1000
    for _ in range(tries):
        chance = 0.2 + 0.6 * rng.beta(1.2, 1.8, (200, 1)) + rng.normal(0, spread, 3)
        seen = estimate_mean(rng.binomial(1, chance.clip(0, 1)).astype(float), rng)
        hits += seen.low <= 0.44 <= seen.high
    assert 0.94 <= hits / tries <= 0.995


def test_p_values_are_uniform_when_arms_are_equal() -> None:
    rng = rng_of("null")

    def one() -> float:
        easy = rng.beta(1.2, 1.8, 200)
        first, second = rng.binomial(4, easy) / 4, rng.binomial(4, easy) / 4
        return compare(column(first), column(second), rng, times=1000).p

    rejected = np.mean([one() < 0.05 for _ in range(1000)])
    assert 0.03 <= rejected <= 0.07
