"""How long traces are: histograms of several arms over the same bins.

distributions({"G": np.array([12, 80, 41])}, "tokens").arms[0].median
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Unit = Literal["tokens", "characters"]

NUM_BINS = 40
# The longest few go to the last bin, else one of them would flatten all others.
LAST_BIN_FROM = 99.0


@dataclass(frozen=True, kw_only=True)
class Distribution:
    name: str
    n: int
    mean: float
    p05: float
    median: float
    p95: float
    longest: int
    counts: list[int]


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """`edges` are shared; the last bin also holds all that is longer."""

    unit: Unit
    edges: list[int]
    arms: list[Distribution]


def distributions(lengths: Mapping[str, NDArray[np.int64]], unit: Unit) -> Lengths | None:
    """None where no arm has any length."""
    known = {name: values for name, values in lengths.items() if len(values)}
    if not known:
        return None
    top = max(float(np.percentile(values, LAST_BIN_FROM)) for values in known.values())
    width = max(1, _round_up(top / NUM_BINS))
    num_bins = int(top // width) + 1
    return Lengths(
        unit=unit,
        edges=[width * i for i in range(num_bins + 1)],
        arms=[_distribution(name, values, width, num_bins) for name, values in known.items()],
    )


def _round_up(width: float) -> int:
    """The next of 1, 2, 5, 10, 20, …"""
    scale = 10 ** int(np.floor(np.log10(max(width, 1))))
    return next(int(m * scale) for m in (1, 2, 5, 10) if m * scale >= width)


def _distribution(name: str, values: NDArray[np.int64], width: int, num_bins: int) -> Distribution:
    p05, median, p95 = (float(p) for p in np.percentile(values, [5, 50, 95]))
    bins = np.minimum(values // width, num_bins - 1)
    return Distribution(
        name=name,
        n=len(values),
        mean=float(values.mean()),
        p05=p05,
        median=median,
        p95=p95,
        longest=int(values.max()),
        counts=np.bincount(bins.astype(int), minlength=num_bins).tolist(),
    )
