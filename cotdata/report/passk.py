"""pass@k and maj@k of each problem, from n samples of it.

    pass_at_k(np.array([8, 8]), np.array([1, 0]), 4)    # 0.5, 0.0

Both are expectations over all ways of taking k of the n samples, not the value
of the first k.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cotdata.report.runs import Array

Counts = NDArray[np.int64]

NO_VOTE = -1
RIGHT = 0
NUM_DRAWS = 100


def pass_at_k(num_samples: Counts, num_correct: Counts, k: int) -> Array:
    """1 - C(n-c, k)/C(n, k) (Chen et al. 2021), as a product so that nothing overflows."""
    assert k <= num_samples.min(), "pass@k wants at least k samples of each problem"
    pairs, place = np.unique(
        np.stack([num_samples, num_correct], axis=1), axis=0, return_inverse=True
    )
    return np.array([_pass_at_k(int(n), int(c), k) for n, c in pairs])[place.ravel()]


def _pass_at_k(n: int, c: int, k: int) -> float:
    if n - c < k:
        return 1.0
    return 1.0 - float(np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def votes(verdicts: Sequence[str | None], answers: Sequence[str | None]) -> list[int]:
    """What each sample votes for: right answers as one, wrong ones by their text."""
    codes: dict[str, int] = {}
    cast = []
    for verdict, answer in zip(verdicts, answers, strict=True):
        if verdict == "correct":
            cast.append(RIGHT)
        elif verdict == "wrong" and answer is not None:
            cast.append(codes.setdefault(" ".join(answer.split()).casefold(), len(codes) + 1))
        else:
            cast.append(NO_VOTE)
    return cast


def majority_at_k(ballots: Counts, k: int, rng: np.random.Generator) -> float:
    """How often the most frequent answer among k samples is right; ties share the win."""
    if k >= len(ballots):
        return float(_shares_of_win(ballots[None])[0])
    if not (ballots == RIGHT).any():
        return 0.0
    draws = rng.permuted(np.tile(ballots, (NUM_DRAWS, 1)), axis=1)[:, :k]
    return float(_shares_of_win(draws).mean())


def _shares_of_win(draws: Counts) -> Array:
    """For each row of votes; a row where nobody voted has no winner."""
    answers = np.arange(draws.max(initial=RIGHT) + 1)
    counts = (draws[:, :, None] == answers).sum(axis=1)
    most = counts.max(axis=1)
    wins = (counts[:, RIGHT] == most) & (most > 0)
    return np.asarray(wins / (counts == most[:, None]).sum(axis=1))
