"""One arm on one set of problems: its accuracy and what stands beside it.

An arm may have several runs (training seeds); tables have one row per problem
that all of its runs share and one column per run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cotdata.errors import InputError
from cotdata.report.intervals import Estimate, estimate_mean, estimate_ratio, rng_of
from cotdata.report.levels import Level, level_of
from cotdata.report.passk import majority_at_k, pass_at_k
from cotdata.report.results import Run, Share
from cotdata.report.runs import Array


@dataclass(frozen=True, kw_only=True)
class ArmSummary:
    """`at_k` rates are over problems; `accuracy_parsed` is over located answers only."""

    name: str
    level: Level | None
    models: list[str]
    datasets: list[str]
    num_runs: int
    num_problems: int
    num_samples: int
    samples_per_problem: int
    accuracy: Estimate
    accuracy_parsed: Estimate | None
    no_answer_rate: Estimate
    truncated_rate: Estimate
    pass_at: dict[int, Estimate]
    majority_at: dict[int, Estimate]
    verdicts: dict[str, int]
    reasons: dict[str, dict[str, int]]


@dataclass(frozen=True, kw_only=True)
class Arm:
    name: str
    set_name: str
    runs: list[Run]

    @cached_property
    def problem_ids(self) -> list[str]:
        shared = set.intersection(*(set(run.samples) for run in self.runs))
        if not shared:
            raise InputError(
                f"the runs of {self.name} share no problem of {self.set_name}",
                hint="evaluate them with the same --limit, or give them names of their own",
            )
        return sorted(shared)

    @cached_property
    def samples_per_problem(self) -> int:
        return min(int(run.num_samples(self.problem_ids).min()) for run in self.runs)

    @cached_property
    def level(self) -> Level | None:
        levels = {level_of(run.manifest) for run in self.runs}
        return levels.pop() if len(levels) == 1 else None

    def table(self, value: Callable[[Run], Array]) -> Array:
        return np.stack([value(run) for run in self.runs], axis=1)

    def share(self, what: Share, problem_ids: Sequence[str]) -> Array:
        return self.table(lambda run: run.share(what, problem_ids))

    def totals(self, what: Share) -> Array:
        """Samples per problem over all runs."""
        counts = self.table(lambda run: run.count(what, self.problem_ids).astype(float))
        return np.asarray(counts.sum(axis=1))

    def pass_at(self, k: int) -> Array:
        ids = self.problem_ids
        return self.table(lambda run: pass_at_k(run.num_samples(ids), run.count("correct", ids), k))

    def majority_at(self, k: int) -> Array:
        rng = rng_of("votes", k, self.set_name, self.name)
        return self.table(
            lambda run: np.array([majority_at_k(run.ballots(i), k, rng) for i in self.problem_ids])
        )

    def lengths(self) -> NDArray[np.int64]:
        return np.array([length for run in self.runs for length in run.lengths], np.int64)


def summarise_arm(arm: Arm) -> ArmSummary:
    def estimate(name: str, table: Array) -> Estimate:
        return estimate_mean(table, rng_of(name, arm.set_name, arm.name))

    def rate(what: Share) -> Estimate:
        return estimate(what, arm.share(what, arm.problem_ids))

    ks = _ks(arm.samples_per_problem)
    # Programs are no answers to vote on, and two votes have no majority.
    voting = [] if any(run.is_code for run in arm.runs) else [k for k in ks if k > 2]
    verdicts, reasons = _verdict_counts(arm.runs)
    return ArmSummary(
        name=arm.name,
        level=arm.level,
        models=sorted(set().union(*(run.models for run in arm.runs))),
        datasets=[run.manifest.id for run in arm.runs],
        num_runs=len(arm.runs),
        num_problems=len(arm.problem_ids),
        num_samples=sum(verdicts.values()),
        samples_per_problem=arm.samples_per_problem,
        accuracy=rate("correct"),
        accuracy_parsed=estimate_ratio(
            arm.totals("correct"), arm.totals("parsed"), rng_of("parsed", arm.set_name, arm.name)
        ),
        no_answer_rate=rate("no_answer"),
        truncated_rate=rate("truncated"),
        pass_at={k: estimate(f"pass@{k}", arm.pass_at(k)) for k in ks},
        majority_at={k: estimate(f"maj@{k}", arm.majority_at(k)) for k in voting},
        verdicts=verdicts,
        reasons=reasons,
    )


def _ks(most: int) -> list[int]:
    """2, 4, 8, … and the number of samples itself; 1 is the accuracy."""
    powers = {2**i for i in range(1, most.bit_length())}
    return sorted(powers | {most} - {1})


def _verdict_counts(runs: list[Run]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        counts.update(run.verdicts())
    verdicts: Counter[str] = Counter()
    reasons: dict[str, dict[str, int]] = {}
    for (verdict, reason), count in counts.most_common():
        verdicts[verdict] += count
        reasons.setdefault(verdict, {})[reason] = count
    return dict(verdicts.most_common()), reasons
