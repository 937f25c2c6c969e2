"""Two arms on the same problems: the difference, its interval, and a p-value.

    compare(table_g, table_w, rng_of("G", "W"))

Which test is used follows from the data: McNemar's exact test for one greedy
sample and one run each, a paired bootstrap over problems for several samples,
a t test over problems and runs where an arm was trained more than once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cotdata.report.intervals import (
    LEVEL,
    NUM_RESAMPLES,
    percentiles,
    resampled_sums,
    wilson,
)
from cotdata.report.runs import Array, half_width, problem_part, run_part, two_sided_p

Test = Literal["McNemar exact", "paired bootstrap", "t over problems and runs"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """`num_first_better` and `num_second_better` count problems."""

    value: float
    low: float
    high: float
    n: int
    num_first_better: int
    num_second_better: int
    p: float
    test: Test


def compare(
    first: Array, second: Array, rng: np.random.Generator, *, times: int = NUM_RESAMPLES
) -> Comparison:
    """First minus second; rows are the same problems in the same order, columns runs."""
    differences = first.mean(axis=1) - second.mean(axis=1)
    num_first = int((differences > 0).sum())
    num_second = int((differences < 0).sum())
    single = first.shape[1] == second.shape[1] == 1
    if not single and len(differences) > 1:
        low, high, p = _over_runs(first, second)
        test: Test = "t over problems and runs"
    else:
        low, high, p = _bootstrap(differences, rng, times)
        test = "paired bootstrap"
    if single and np.isin(differences, (-1.0, 0.0, 1.0)).all():
        p, test = mcnemar_exact(num_first, num_second), "McNemar exact"
    return Comparison(
        value=float(differences.mean()),
        low=low,
        high=high,
        n=len(differences),
        num_first_better=num_first,
        num_second_better=num_second,
        p=p,
        test=test,
    )


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided binomial test that discordant problems fall either way alike."""
    n, k = only_first + only_second, min(only_first, only_second)
    tail = term = 1
    for i in range(k):
        term = term * (n - i) // (i + 1)
        tail += term
    return min(1.0, 2 * tail / (1 << n))


def _bootstrap(
    differences: Array, rng: np.random.Generator, times: int
) -> tuple[float, float, float]:
    n = len(differences)
    if not differences.any():
        bound = wilson(0, n).high
        return -bound, bound, 1.0
    means = resampled_sums(differences.reshape(-1, 1), rng, times)[:, 0] / n
    below, above = (means <= 0).sum(), (means >= 0).sum()
    low, high = percentiles(means)
    return low, high, min(1.0, float(2 * (min(below, above) + 1) / (times + 1)))


def _over_runs(first: Array, second: Array) -> tuple[float, float, float]:
    differences = first.mean(axis=1) - second.mean(axis=1)
    value = float(differences.mean())
    parts = [run_part(table) for table in (first, second) if table.shape[1] > 1]
    problems = problem_part(differences)
    half = half_width(LEVEL, problems, parts)
    if half == 0:
        bound = wilson(0, len(differences)).high
        return value - bound, value + bound, float(value == 0)
    return value - half, value + half, two_sided_p(value, problems, parts)


def holm(p_values: list[float]) -> list[float]:
    """Adjusted p-values of a family of tests, after Holm."""
    order = np.argsort(p_values, kind="stable")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted
