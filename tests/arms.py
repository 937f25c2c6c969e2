"""Result datasets for the report's tests: the lineage of a small experiment, without files."""

import numpy as np
import pyarrow as pa

from cotdata.manifest import Fates, Manifest, Step, merge_lineages
from cotdata.report.results import COLUMNS, REJECTED_COLUMNS, ArmRows
from cotdata.schema import Row, rejected_schema, schema_of
from cotdata.seeds import stable_hash


def step(stage: str, mark: str, parents: list[Step], rows: int, /, **options: object) -> Step:
    lost = options.pop("lost", {})
    num_lost = sum(lost.values())  # type: ignore[attr-defined]
    return Step(
        id=f"{stage}-{mark}",
        stage=stage,
        stage_version=1,
        options={"kind": "trace", **options},
        parents=[{"id": p.id, "digest": p.digest, "stage": p.stage} for p in parents],
        digest=f"{stable_hash(stage, mark):064x}"[::-1],
        fates=Fates(
            read=rows + num_lost, passed=rows, rejected=num_lost, failed=0, written=rows,
            reasons=dict(lost),  # type: ignore[call-overload]
        ),
        command=f"cotdata {stage} {' '.join(p.id for p in parents)} --mark {mark}",
    )  # fmt: skip


def manifest(steps: list[Step], kind: str = "trace") -> Manifest:
    """The last step's manifest; the others are its ancestors."""
    fields = {name: getattr(steps[-1], name) for name in Step.__dataclass_fields__}
    return Manifest(
        **fields, kind=kind, files=[], licenses=["MIT"], sources=["toys"], packages={},  # type: ignore[arg-type]
        started="2026-12-01T00:00:00+00:00", ended="2026-12-01T00:00:09+00:00", wall_s=9.0,
        tokens={"completion_tokens": 1234}, ancestors=merge_lineages([steps[:-1]]),
    )  # fmt: skip


PROBLEMS = step("ingest", "aaaa", [], 150, kind="problem")


def result_row(problem: int, verdict: str, **more: object) -> Row:
    return {
        "problem_id": f"p{problem:04d}", "task": "countdown", "split": "test", "trace": "so 7",
        "verdict": verdict, "verdict_reason": f"because_{verdict}", "final_answer": "7",
        "finish_reason": "stop", "completion_tokens": 30, "generator": {"model": "toy"},
        "sample_index": 0, **more,
    }  # fmt: skip


def result(
    name: str,
    rows: list[Row],
    /,
    *,
    rejected: list[Row] | None = None,
    steps: list[Step] | None = None,
    **options: object,
) -> ArmRows:
    steps = steps or [PROBLEMS]
    last = step("eval", name, steps[:1], len(rows), **{"model": name, **options})
    lost = pa.Table.from_pylist(rejected or [], rejected_schema("trace")).select(REJECTED_COLUMNS)
    return ArmRows(
        name=name,
        manifest=manifest([*steps, last]),
        batches=pa.Table.from_pylist(rows, schema_of("trace")).select(COLUMNS).to_batches(),
        rejected=lost.to_batches(),
    )


def traces(name: str, rows: list[Row], steps: list[Step]) -> ArmRows:
    table = pa.Table.from_pylist(rows, schema_of("trace")).select(COLUMNS)
    return ArmRows(name=name, manifest=manifest(steps), batches=table.to_batches())


def drawn_rows(num_problems: int, accuracy: float, seed: int, samples: int = 1) -> list[Row]:
    """Samples of a model whose problems differ in difficulty."""
    rng = np.random.default_rng(seed)
    hard = np.random.default_rng(99).normal(size=num_problems)
    rows = []
    for problem in range(num_problems):
        chance = 1 / (1 + np.exp(-(np.log(accuracy / (1 - accuracy)) + hard[problem])))
        for index in range(samples):
            verdict = "correct" if rng.random() < chance else str(rng.choice(
                ["wrong", "wrong", "wrong", "no_answer", "timeout"]))  # fmt: skip
            length = int(rng.lognormal(3.4, 0.5))
            rows.append(result_row(
                problem, verdict, sample_index=index, completion_tokens=length,
                final_answer=str(rng.integers(4)),
                finish_reason="length" if verdict == "no_answer" else "stop",
            ))  # fmt: skip
    return rows


def experiment(samples: int = 1) -> list[ArmRows]:
    """The demo's shape: an untouched model and two students, and the arms they learned from."""
    problems = step("ingest", "bbbb", [], 900, kind="problem", lost={"gold_mismatch": 3})
    human = step("human", "cccc", [problems], 900)
    raw = step("sample", "dddd", [problems], 897, lost={"prompt_too_long": 3})
    verified = step("verify", "eeee", [raw], 897)
    right = step("filter", "ffff", [human], 450, lost={"beyond_rows": 450})
    wrong = step("filter", "0123", [verified], 450, lost={"verdict": 330, "beyond_rows": 117})
    arms = [
        traces("H", drawn_rows(450, 0.99, 7), [problems, human, right]),
        traces("W", drawn_rows(450, 0.02, 8), [problems, raw, verified, wrong]),
    ]
    students = {"student-H": (0.59, [problems, human, right]),
                "student-W": (0.11, [problems, raw, verified, wrong])}  # fmt: skip
    results = [result("untouched", drawn_rows(150, 0.07, 1, samples))]
    for number, (name, (accuracy, steps)) in enumerate(students.items()):
        train = step("train", name, steps[-1:], 450, epochs=2)
        last = step("eval", name, [PROBLEMS, train], 150 * samples, model=name)
        table = pa.Table.from_pylist(
            drawn_rows(150, accuracy, number + 2, samples), schema_of("trace")
        ).select(COLUMNS)
        results.append(ArmRows(
            name=name, manifest=manifest([PROBLEMS, *steps, train, last]),
            batches=table.to_batches(),
        ))  # fmt: skip
    return [*results, *arms]


def tolerance() -> list[ArmRows]:
    """Flawed and placebo arms at four levels, where only wrongness hurts."""
    arms = []
    for operators, accuracies in (
        (["wrong_result"], (0.6, 0.55, 0.4, 0.1)),
        (["placebo"], (0.6, 0.58, 0.59, 0.57)),
    ):
        for level, accuracy in zip(("0", "0.25", "0.5", "1"), accuracies, strict=True):
            name = f"{operators[0]}@{level}"
            flaw = step("flaw", name, [PROBLEMS], 90, arm=f"level-{level}", operators=operators)
            train = step("train", name, [flaw], 90)
            rows = drawn_rows(200, accuracy, len(arms))
            arms.append(result(name, rows, steps=[PROBLEMS, flaw, train]))
    return arms
