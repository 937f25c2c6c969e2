"""What several training runs of one arm say about the next run.

A table has one row per problem and one column per run. Both problems and runs
are draws: a two-way layout with random effects. A bootstrap over three runs
would see only two thirds of their variance and take a normal tail for a t tail,
so the runs' part is a t interval instead, with the noise that problems and
sampling explain taken off after scaling (Graybill and Wang's modified large
samples). It covers 95 to 99 percent: it errs on the wide side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRID = 100_001


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of the variance of a mean; `noise` of it is counted elsewhere."""

    variance: float
    freedom: int
    noise: float = 0.0


def problem_part(per_problem: Array) -> Part:
    n = len(per_problem)
    return Part(variance=float(per_problem.var(ddof=1)) / n, freedom=n - 1)


def run_part(table: Array) -> Part:
    num_problems, num_runs = table.shape
    rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    noise = (rest**2).sum() / ((num_problems - 1) * (num_runs - 1))
    return Part(
        variance=float(table.mean(axis=0).var(ddof=1)) / num_runs,
        freedom=num_runs - 1,
        noise=float(noise) / (num_problems * num_runs),
    )


def half_width(level: float, problems: Part, runs: list[Part]) -> float:
    z = t_quantile((1 + level) / 2, problems.freedom)
    square = z**2 * problems.variance
    for part in runs:
        t = t_quantile((1 + level) / 2, part.freedom)
        square += max(0.0, t**2 * part.variance - z**2 * part.noise)
    return float(np.sqrt(square))


def two_sided_p(value: float, problems: Part, runs: list[Part]) -> float:
    """One less the level whose interval just reaches 0."""
    low, high = 0.0, 1.0
    for _ in range(40):
        level = (low + high) / 2
        if half_width(level, problems, runs) < abs(value):
            low = level
        else:
            high = level
    return 1 - high


def t_quantile(probability: float, freedom: int) -> float:
    t, cumulated = _t_table(freedom)
    return float(np.interp(2 * probability - 1, cumulated, t))


@lru_cache(maxsize=16)
def _t_table(freedom: int) -> tuple[Array, Array]:
    """P(|T| < t) on a grid: with t = √f·tan θ the density is cos^(f-1) θ."""
    theta = np.linspace(0, min(np.pi / 2, 40 / np.sqrt(freedom)), GRID)[:-1]
    density = np.cos(theta) ** (freedom - 1)
    cumulated = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return np.sqrt(freedom) * np.tan(theta), cumulated / (cumulated[-1] + density[-1] / 2)
