"""An estimate with its 95% interval, over problems and over training runs.

The unit is the problem: samples of one problem are no independent evidence. A
table has one row per problem and one column per run (training seed) of an arm.

    estimate_mean(outcomes.reshape(-1, 1), rng_of("accuracy", "arm G"))

It knows nothing of arms, verdicts or files.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from cotdata.report.runs import Array, half_width, problem_part, run_part
from cotdata.seeds import stable_hash

Method = Literal["wilson", "bootstrap", "runs"]

LEVEL = 0.95
NUM_RESAMPLES = 10_000
CHUNK = 500
FEW = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """`n` is the number of problems, or for a share of answers that of answers."""

    value: float
    low: float
    high: float
    n: int
    method: Method


def rng_of(*name: object) -> np.random.Generator:
    return np.random.default_rng(stable_hash("report", *name))


def wilson(successes: float, n: int, level: float = LEVEL) -> Estimate:
    """Wilson's score interval of a proportion."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes <= 0 else max(0.0, float(centre - half))
    high = 1.0 if successes >= n else min(1.0, float(centre + half))
    return Estimate(value=share, low=low, high=high, n=n, method="wilson")


def resampled_sums(table: Array, rng: np.random.Generator, times: int = NUM_RESAMPLES) -> Array:
    """Column sums of `times` resamples of the rows, drawn with replacement.

    Few distinct rows are drawn together: how often each turns up is one multinomial
    draw, the same distribution as drawing row by row and ten times as quick.
    """
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    n, shares = len(table), counts / len(table)
    parts = []
    for start in range(0, times, CHUNK):
        size = min(CHUNK, times - start)
        if len(distinct) <= FEW:
            parts.append(rng.multinomial(n, shares, size=size) @ distinct)
        else:
            drawn = rng.integers(0, n, (size, n), dtype=np.int32)
            parts.append(np.stack([column[drawn].sum(axis=1) for column in table.T], axis=1))
    return np.concatenate(parts)


def percentiles(values: Array, level: float = LEVEL) -> tuple[float, float]:
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)


def estimate_mean(
    table: Array,
    rng: np.random.Generator,
    *,
    level: float = LEVEL,
    times: int = NUM_RESAMPLES,
) -> Estimate:
    """The mean of a share per problem (rows) and run (columns).

    One run of one sample: Wilson. One run of several samples: bootstrap over
    problems. Several runs: problems and runs both vary, see `mean_over_runs`.
    Without any spread all three would claim certainty, so Wilson speaks there.
    """
    num_problems, num_runs = table.shape
    plain = wilson(float(table.mean(axis=1).sum()), num_problems, level)
    one_greedy_sample = num_runs == 1 and np.isin(table, (0.0, 1.0)).all()
    if one_greedy_sample or num_problems == 1 or np.ptp(table) == 0:
        return plain
    if num_runs > 1:
        return mean_over_runs(table, level) or plain
    low, high = percentiles(resampled_sums(table, rng, times)[:, 0] / num_problems, level)
    return Estimate(
        value=float(table.mean()), low=low, high=high, n=num_problems, method="bootstrap"
    )


def estimate_ratio(
    top: Array, bottom: Array, rng: np.random.Generator, *, times: int = NUM_RESAMPLES
) -> Estimate | None:
    """Sum of `top` over sum of `bottom`, both per problem; None if `bottom` is empty."""
    total = int(bottom.sum())
    if total == 0:
        return None
    if bottom.max() <= 1 or top.sum() in (0, total):
        return wilson(float(top.sum()), total)
    sums = resampled_sums(np.column_stack([top, bottom]), rng, times)
    low, high = percentiles(sums[:, 0] / np.maximum(sums[:, 1], 1))
    return Estimate(value=float(top.sum() / total), low=low, high=high, n=total, method="bootstrap")


def mean_over_runs(table: Array, level: float = LEVEL) -> Estimate | None:
    """For new problems and new training runs alike, see `runs.py`; None without spread."""
    value = float(table.mean())
    half = half_width(level, problem_part(table.mean(axis=1)), [run_part(table)])
    if half == 0:
        return None
    return Estimate(
        value=value,
        low=max(0.0, value - half),
        high=min(1.0, value + half),
        n=len(table),
        method="runs",
    )
