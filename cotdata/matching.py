"""Which rows of several arms make them comparable: same problems, rows and tokens.

    chosen = match({"G": rows_of_G, "W": rows_of_W}, MatchRule())
    chosen.kept["G"]           # the ids to keep

The rule. A problem counts if every arm has it; of each problem every arm keeps
as many rows as the poorest arm has, the first in the order of a hash of (seed,
row id). If the arms' tokens then differ by more than the tolerance, problems are
visited in the order of a hash of (seed, problem id) and a kept row is exchanged
for a surplus row of the same problem where that brings the arm nearer to the
level that all arms can reach, until it is near enough. Only then are problems
dropped, each time the one whose loss brings the longest and the shortest arm
nearest together. The order of arms or rows changes nothing. It knows of ids and
token counts only and holds these in memory; it reads no text.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotdata.seeds import stable_hash

RULE = "hash order, then exchanges within a problem, then dropped problems; version 1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    row_id: str
    problem_id: str
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchRule:
    """`min_kept` is the smallest share of the shared problems that may be left."""

    per_problem: int | None = None
    tolerance: float = 0.1
    min_kept: float = 0.5
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """One arm's line in the balance table."""

    arm: str
    rows_in: int
    problems_in: int
    problems: int
    rows: int
    tokens: int
    exchanged: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """`lost` has the reason of every row not kept; `refusal` is why arms stay unmatched."""

    kept: dict[str, set[str]]
    lost: dict[str, dict[str, tuple[str, str]]]
    balances: list[Balance]
    refusal: str | None = None


@dataclass(slots=True)
class Share:
    """One problem in one arm: the rows kept and those that could take their place."""

    kept: list[Candidate]
    surplus: list[Candidate]

    @property
    def tokens(self) -> int:
        return sum(row.tokens for row in self.kept)

    def reach(self, longest: bool) -> int:
        """The tokens of the shortest or longest rows that could be kept."""
        sizes = sorted((row.tokens for row in (*self.kept, *self.surplus)), reverse=longest)
        return sum(sizes[: len(self.kept)])

    def exchange(self, wanted: float) -> bool:
        """Make the one exchange that comes nearest to `wanted` more tokens, if one helps."""
        pairs = [
            (abs(wanted - (new.tokens - old.tokens)), i, j)
            for i, old in enumerate(self.kept)
            for j, new in enumerate(self.surplus)
        ]
        if not pairs or min(pairs)[0] >= abs(wanted):
            return False
        _, i, j = min(pairs)
        self.kept[i], self.surplus[j] = self.surplus[j], self.kept[i]
        return True


@dataclass(slots=True)
class Arm:
    name: str
    shares: dict[str, Share]
    exchanged: int = 0

    @property
    def tokens(self) -> int:
        return sum(share.tokens for share in self.shares.values())


def match(rows: Mapping[str, Iterable[Candidate]], rule: MatchRule) -> Match:
    pools = {name: _by_problem(rows[name], rule.seed) for name in sorted(rows)}
    shared = set.intersection(*(set(pool) for pool in pools.values()))
    order = sorted(shared, key=lambda problem: (stable_hash(rule.seed, problem), problem))
    arms = [Arm(name, {p: _share(pools, name, p, rule) for p in order}) for name in pools]
    _exchange(arms, rule.tolerance)
    dropped, refusal = _drop(arms, order, rule)
    return Match(
        kept={arm.name: _kept(arm, dropped) for arm in arms},
        lost={arm.name: _lost(arm, pools[arm.name], dropped) for arm in arms},
        balances=[_balance(arm, pools[arm.name], dropped) for arm in arms],
        refusal=refusal,
    )


def imbalance(totals: Iterable[float]) -> float:
    """How much more the largest total is than the smallest, as a share of the smallest."""
    totals = list(totals)
    low, high = min(totals), max(totals)
    return 0.0 if high == low else (high - low) / low if low else math.inf


def _by_problem(rows: Iterable[Candidate], seed: int) -> dict[str, list[Candidate]]:
    found: dict[str, list[Candidate]] = defaultdict(list)
    for row in rows:
        found[row.problem_id].append(row)
    for pool in found.values():
        pool.sort(key=lambda row: (stable_hash(seed, row.row_id), row.row_id))
    return dict(found)


def _share(
    pools: Mapping[str, dict[str, list[Candidate]]], name: str, problem: str, rule: MatchRule
) -> Share:
    size = min(len(pool[problem]) for pool in pools.values())
    size = min(size, rule.per_problem or size)
    rows = pools[name][problem]
    return Share(kept=rows[:size], surplus=rows[size:])


def _exchange(arms: list[Arm], tolerance: float) -> None:
    totals = {arm.name: arm.tokens for arm in arms}
    if imbalance(totals.values()) <= tolerance:
        return
    low = max(_reach(arm, longest=False) for arm in arms)
    high = min(_reach(arm, longest=True) for arm in arms)
    # Where the reaches do not meet, the middle of the gap is nearest to both sides.
    mean = sum(totals.values()) / len(arms)
    level = min(max(mean, low), high) if low <= high else (low + high) / 2
    slack = math.sqrt(1 + tolerance)
    for arm in arms:
        _bring_near(arm, level, level / slack, level * slack)


def _reach(arm: Arm, *, longest: bool) -> int:
    return sum(share.reach(longest) for share in arm.shares.values())


def _bring_near(arm: Arm, level: float, low: float, high: float) -> None:
    """Exchange one row after another, problem by problem, until the arm is between the two."""
    total = arm.tokens
    moved = True
    while moved and not low <= total <= high:
        moved = False
        for share in arm.shares.values():
            before = share.tokens
            if share.exchange(level - total):
                moved = True
                arm.exchanged += 1
                total += share.tokens - before
                if low <= total <= high:
                    return


def _drop(arms: list[Arm], order: list[str], rule: MatchRule) -> tuple[set[str], str | None]:
    """The problems to leave out, or why leaving out problems does not help."""
    if not order:
        return set(), "no problem is in all arms"
    sizes = np.array([[arm.shares[p].tokens for arm in arms] for p in order], dtype=np.float64)
    least = max(1, math.ceil(rule.min_kept * len(order)))
    live = np.ones(len(order), dtype=bool)
    totals = sizes.sum(axis=0)
    while imbalance(totals) > rule.tolerance:
        if live.sum() <= least:
            return set(), _why_not(arms, rule, len(order) - least)
        worst = _worst(sizes, live, totals)
        live[worst] = False
        totals = totals - sizes[worst]
    return {problem for problem, is_live in zip(order, live, strict=True) if not is_live}, None


def _worst(sizes: NDArray[np.float64], live: NDArray[np.bool_], totals: NDArray[np.float64]) -> int:
    """The problem without which the longest and the shortest arm are nearest together."""
    long, short = int(totals.argmax()), int(totals.argmin())
    without = np.log(np.maximum(totals[long] - sizes[:, long], 1e-9))
    without -= np.log(np.maximum(totals[short] - sizes[:, short], 1e-9))
    return int(np.where(live, without, np.inf).argmin())


def _why_not(arms: list[Arm], rule: MatchRule, num_dropped: int) -> str:
    by_tokens = sorted(arms, key=lambda arm: (arm.tokens, arm.name))
    short, long = by_tokens[0], by_tokens[-1]
    return (
        f"{long.name} is {imbalance([short.tokens, long.tokens]):.1%} longer than {short.name} "
        f"({long.tokens:,} and {short.tokens:,} in all) and the tolerance is "
        f"{rule.tolerance:.1%}; exchanging surplus rows and dropping {num_dropped:,} problems "
        f"(--min-kept {rule.min_kept:g}) does not close the gap"
    )


def _kept(arm: Arm, dropped: set[str]) -> set[str]:
    shares = (share for problem, share in arm.shares.items() if problem not in dropped)
    return {row.row_id for share in shares for row in share.kept}


def _lost(
    arm: Arm, pool: Mapping[str, list[Candidate]], dropped: set[str]
) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for problem, rows in pool.items():
        share = arm.shares.get(problem)
        if share is None:
            why = ("problem_not_in_all", "another arm has no trace of this problem")
            found.update((row.row_id, why) for row in rows)
            continue
        why = ("surplus", f"every arm keeps {len(share.kept)} of this problem")
        found.update((row.row_id, why) for row in share.surplus)
        if problem in dropped:
            why = ("budget", "the problem was dropped to bring the arms' tokens together")
            found.update((row.row_id, why) for row in share.kept)
    return found


def _balance(arm: Arm, pool: Mapping[str, list[Candidate]], dropped: set[str]) -> Balance:
    shares = [share for problem, share in arm.shares.items() if problem not in dropped]
    return Balance(
        arm=arm.name,
        rows_in=sum(map(len, pool.values())),
        problems_in=len(pool),
        problems=len(shares),
        rows=sum(len(share.kept) for share in shares),
        tokens=sum(share.tokens for share in shares),
        exchanged=arm.exchanged,
    )
