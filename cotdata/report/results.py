"""From rows to runs: what one result dataset says, problem by problem.

    arm = ArmRows(name="G", manifest=d.manifest, batches=d.batches(COLUMNS))
    run = read_run(arm)
    run.share("correct", run.problem_ids)

A run is one model on one set of problems. Every problem counts: one whose row
was rejected or failed stands with as many samples as the others, none correct,
and so does a single sample that `eval` asked for and did not get.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cotdata.manifest import Manifest, Step
from cotdata.report.passk import Counts, votes
from cotdata.report.runs import Array

COLUMNS = (
    "problem_id", "task", "split", "tests", "trace", "verdict", "verdict_reason", "final_answer",
    "finish_reason", "completion_tokens", "generator",
)  # fmt: skip
REJECTED_COLUMNS = ("problem_id", "task", "split", "reject_reason")

# A problem that never got a trace; beside the five verdicts, and never correct.
NO_TRACE = "no_trace"
UNVERIFIED = "unverified"

Share = Literal["correct", "parsed", "no_answer", "truncated"]


@dataclass(frozen=True, kw_only=True)
class ArmRows:
    """A dataset under the name that it has in the report.

    Result datasets of one name on one set are runs of one arm, such as its
    training seeds. `batches` hold COLUMNS, `rejected` REJECTED_COLUMNS.
    """

    name: str
    manifest: Manifest
    batches: Iterable[pa.RecordBatch]
    rejected: Iterable[pa.RecordBatch] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    verdict: str
    reason: str | None
    answer: str | None = None
    is_truncated: bool = False


@dataclass(kw_only=True)
class Run:
    """`lengths` are completion tokens; `is_code` results have no answers to vote on."""

    name: str
    manifest: Manifest
    set_key: str
    samples: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    parts: set[tuple[str, str]] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    lengths: list[int] = field(default_factory=list)
    is_code: bool = False

    @property
    def problem_ids(self) -> list[str]:
        return sorted(self.samples)

    @property
    def set_name(self) -> str:
        return ", ".join(sorted({f"{task} {split}" for task, split in self.parts}))

    def num_samples(self, problem_ids: Sequence[str]) -> Counts:
        return np.array([len(self.samples[i]) for i in problem_ids])

    def count(self, what: Share, problem_ids: Sequence[str]) -> Counts:
        has = HAS[what]
        return np.array([sum(map(has, self.samples[i])) for i in problem_ids])

    def share(self, what: Share, problem_ids: Sequence[str]) -> Array:
        return self.count(what, problem_ids) / self.num_samples(problem_ids)

    def ballots(self, problem_id: str) -> Counts:
        samples = self.samples[problem_id]
        return np.array(votes([s.verdict for s in samples], [s.answer for s in samples]))

    def verdicts(self) -> Counter[tuple[str, str]]:
        """Samples by verdict and reason."""
        return Counter(
            (sample.verdict, sample.reason or "")
            for samples in self.samples.values()
            for sample in samples
        )


HAS = {
    "correct": lambda sample: sample.verdict == "correct",
    "parsed": lambda sample: sample.verdict in ("correct", "wrong"),
    "no_answer": lambda sample: sample.verdict == "no_answer",
    "truncated": lambda sample: sample.is_truncated,
}


def read_run(arm: ArmRows) -> Run:
    run = Run(name=arm.name, manifest=arm.manifest, set_key=problem_set(arm.manifest))
    for batch in arm.batches:
        _add_batch(run, batch)
    lost: dict[str, str] = {}
    for batch in arm.rejected:
        run.parts.update(zip(*_texts(batch, "task", "split"), strict=True))
        lost.update(zip(*_texts(batch, "problem_id", "reject_reason"), strict=True))
    num_samples = max(map(len, run.samples.values()), default=1)
    if arm.manifest.stage == "eval":
        num_samples = max(num_samples, int(arm.manifest.options.get("n", 1)))
        for samples in run.samples.values():
            samples += [Sample(NO_TRACE, "sample_refused")] * (num_samples - len(samples))
    for problem_id, reason in lost.items():
        if problem_id not in run.samples:
            run.samples[problem_id] = [Sample(NO_TRACE, reason)] * num_samples
    return run


def _add_batch(run: Run, batch: pa.RecordBatch) -> None:
    ids, verdicts, reasons, answers, finishes = _texts(
        batch, "problem_id", "verdict", "verdict_reason", "final_answer", "finish_reason"
    )
    for i, problem_id in enumerate(ids):
        run.samples[problem_id].append(
            Sample(verdicts[i] or UNVERIFIED, reasons[i], answers[i], finishes[i] == "length")
        )
    run.parts.update(zip(*_texts(batch, "task", "split"), strict=True))
    run.models.update(filter(None, pc.struct_field(batch["generator"], "model").to_pylist()))
    run.lengths += batch["completion_tokens"].drop_null().to_pylist()
    run.is_code = run.is_code or batch["tests"].null_count < batch.num_rows


def _texts(batch: pa.RecordBatch, *names: str) -> list[list[str]]:
    return [batch[name].to_pylist() for name in names]


def is_result(manifest: Manifest) -> bool:
    """Verdicts on all that a model said, before anything was filtered."""
    parent_stage = manifest.parents[0]["stage"] if manifest.parents else None
    return manifest.stage == "eval" or (manifest.stage, parent_stage) == ("verify", "sample")


def problem_set(manifest: Manifest) -> str:
    """The digest of the problems that a result was sampled on."""
    steps = {step.id: step for step in manifest.lineage()}
    step: Step | None = steps[manifest.id]
    while step and step.parents and step.options.get("kind") != "problem":
        parent = step.parents[0]
        step = steps.get(parent["id"])
        if step is None:
            return parent["digest"]
    return step.digest if step else ""


@dataclass(frozen=True, kw_only=True)
class Traces:
    """Verdicts and lengths in characters of traces that are no result."""

    verdicts: Counter[str]
    lengths: NDArray[np.int64]


def read_traces(arm: ArmRows) -> Traces:
    verdicts: Counter[str] = Counter()
    lengths = [np.zeros(0, np.int64)]
    for batch in arm.batches:
        verdicts.update(verdict or UNVERIFIED for verdict in batch["verdict"].to_pylist())
        lengths.append(pc.utf8_length(batch["trace"]).drop_null().to_numpy(zero_copy_only=False))
    return Traces(verdicts=verdicts, lengths=np.concatenate(lengths))
