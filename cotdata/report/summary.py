"""What a report states, as data: the page, the tables and the JSON show this.

    report = summarise([ArmRows(name="G", ...), ArmRows(name="W", ...)])
    report.sets[0].arms[0].accuracy.low

A set is the problems that arms were tried on; arms are compared within a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from cotdata.errors import InputError
from cotdata.manifest import Step, merge_lineages
from cotdata.report.arms import Arm, ArmSummary, summarise_arm
from cotdata.report.distributions import Lengths, distributions
from cotdata.report.intervals import rng_of
from cotdata.report.levels import are_compared
from cotdata.report.paired import Comparison, compare, holm
from cotdata.report.results import ArmRows, Run, is_result, read_run, read_traces


@dataclass(frozen=True, kw_only=True)
class Difference:
    """First arm minus second; `p_holm` is corrected over the pairs of the set."""

    first: str
    second: str
    comparison: Comparison
    p_holm: float


@dataclass(frozen=True, kw_only=True)
class SetSummary:
    name: str
    arms: list[ArmSummary]
    differences: list[Difference]
    lengths: Lengths | None
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class DatasetSummary:
    name: str
    step: Step
    kind: str
    is_result: bool
    wall_s: float
    tokens: dict[str, int]
    verdicts: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Report:
    """`steps` is the lineage of all that was read, the oldest first."""

    sets: list[SetSummary]
    datasets: list[DatasetSummary]
    trace_lengths: Lengths | None
    steps: list[Step]


def summarise(arms: Sequence[ArmRows]) -> Report:
    if not arms:
        raise InputError("there is nothing to report on", hint="give one or more datasets")
    _refuse_twice(arms)
    runs: dict[str, list[Run]] = {}
    datasets, lengths = [], {}
    for arm in arms:
        verdicts: dict[str, int] = {}
        if is_result(arm.manifest):
            run = read_run(arm)
            runs.setdefault(run.set_key, []).append(run)
        elif arm.manifest.kind == "trace":
            traces = read_traces(arm)
            verdicts = dict(traces.verdicts.most_common())
            lengths[arm.name] = traces.lengths
        datasets.append(_dataset_summary(arm, verdicts))
    return Report(
        sets=[_set_summary(name, found) for name, found in _named(runs)],
        datasets=datasets,
        trace_lengths=distributions(lengths, "characters"),
        steps=merge_lineages([arm.manifest.lineage() for arm in arms]),
    )


def _refuse_twice(arms: Sequence[ArmRows]) -> None:
    """A dataset given twice would pass for two runs that agree perfectly."""
    seen: set[tuple[str, str]] = set()
    for arm in arms:
        key = (arm.name, arm.manifest.id)
        if key in seen:
            raise InputError(f"{arm.manifest.id} was given twice as {arm.name}")
        seen.add(key)


def _dataset_summary(arm: ArmRows, verdicts: dict[str, int]) -> DatasetSummary:
    manifest = arm.manifest
    return DatasetSummary(
        name=arm.name,
        step=manifest.lineage()[-1],
        kind=manifest.kind,
        is_result=is_result(manifest),
        wall_s=manifest.wall_s,
        tokens=manifest.tokens,
        verdicts=verdicts,
    )


def _named(runs: dict[str, list[Run]]) -> list[tuple[str, list[Run]]]:
    """Sets under their tasks and splits, with the start of a digest where these are equal."""
    names = {key: found[0].set_name or "no problems" for key, found in runs.items()}
    taken = list(names.values())
    return [
        (name if taken.count(name) == 1 else f"{name} ({key[:8]})", runs[key])
        for key, name in names.items()
    ]


def _set_summary(name: str, runs: list[Run]) -> SetSummary:
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        if run.samples:
            by_name.setdefault(run.name, []).append(run)
    arms = [Arm(name=arm, set_name=name, runs=found) for arm, found in by_name.items()]
    return SetSummary(
        name=name,
        arms=[summarise_arm(arm) for arm in arms],
        differences=_differences(arms),
        lengths=distributions({arm.name: arm.lengths() for arm in arms}, "tokens"),
        notes=_notes(runs, arms),
    )


def _differences(arms: list[Arm]) -> list[Difference]:
    """All pairs that share a problem; of a curve's arms only those that ask something."""
    pairs, comparisons = [], []
    for first, second in combinations(arms, 2):
        shared = sorted({*first.problem_ids} & {*second.problem_ids})
        if shared and are_compared(first.level, second.level):
            tables = first.share("correct", shared), second.share("correct", shared)
            rng = rng_of(first.set_name, first.name, second.name)
            pairs.append((first.name, second.name))
            comparisons.append(compare(*tables, rng))
    corrected = holm([comparison.p for comparison in comparisons])
    return [
        Difference(first=first, second=second, comparison=comparison, p_holm=p)
        for (first, second), comparison, p in zip(pairs, comparisons, corrected, strict=True)
    ]


# What may differ between results that are compared: the arm itself, and the draw.
FREE_OPTIONS = {"model", "seed"}


def _notes(runs: list[Run], arms: list[Arm]) -> list[str]:
    """What a reader should know before comparing the arms of a set."""
    notes = []
    empty = [run.name for run in runs if not run.samples]
    if empty:
        notes.append(f"No rows at all, left out: {', '.join(empty)}.")
    for name in sorted(set().union(*(run.manifest.options for run in runs)) - FREE_OPTIONS):
        values = {run.name: run.manifest.options.get(name) for run in runs}
        if len({str(value) for value in values.values()}) > 1:
            listed = ", ".join(f"{arm}: {value}" for arm, value in values.items())
            notes.append(f"The arms were not evaluated alike: {name} differs ({listed}).")
    for arm in arms:
        if len({_training(run) for run in arm.runs}) > 1:
            ids = ", ".join(run.manifest.id for run in arm.runs)
            notes.append(
                f"The runs of {arm.name} ({ids}) were not trained alike: they are taken as one"
                " arm because they have one name. Give them names of their own as NAME=DATASET."
            )
    if len({tuple(arm.problem_ids) for arm in arms}) > 1:
        listed = ", ".join(f"{arm.name}: {len(arm.problem_ids):,}" for arm in arms)
        notes.append(f"The arms cover different problems ({listed}); pairs use the shared ones.")
    return notes


def _training(run: Run) -> str:
    """What a model was trained on and how, but for the seed; else which model it is."""
    trained = [step for step in run.manifest.lineage() if step.stage == "train"]
    if not trained:
        return str(run.manifest.options.get("model"))
    options = {name: value for name, value in trained[-1].options.items() if name != "seed"}
    return str((sorted(options.items()), [parent["digest"] for parent in trained[-1].parents]))
