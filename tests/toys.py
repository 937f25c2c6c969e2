"""Small datasets and stages that the tests of the spine run on."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from cotdata.journal import Outcome, failed, passed, rejected
from cotdata.options import RunFlags
from cotdata.rawrows import RawRows
from cotdata.runner import Finished, Stage, run_stage
from cotdata.schema import COLUMNS, Row, problem_id, project
from cotdata.store import Dataset

QUIET = RunFlags(quiet=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class NoOptions:
    shade: str = "grey"


def toy_problem(number: int) -> Row:
    row = {
        "task": "gsm8k",
        "split": "train" if number % 5 else "test",
        "problem": f"What is {number} + {number}?",
        "answer": f"0{2 * number}",
        "source": "toys",
        "source_id": str(number),
        "license": "MIT",
    }
    return project({**row, "problem_id": problem_id("gsm8k", [row["problem"]])}, "problem")


def raw_rows(num_rows: int, *, digest: str = "toy") -> RawRows:
    return RawRows(
        name="toys",
        digest=f"{digest}{num_rows}",
        split="train",
        license="MIT",
        read=lambda: (toy_problem(number) for number in range(num_rows)),
        num_rows=num_rows,
    )


def read_toys(batches: Iterator[pa.RecordBatch], options: NoOptions) -> Iterator[Outcome]:
    for batch in batches:
        for raw_id in batch["raw_id"].to_pylist():
            yield passed(raw_id, toy_problem(int(raw_id)))


INGEST = Stage(
    name="toys",
    version=1,
    kind="problem",
    reads=("raw",),
    writes=tuple(column.name for column in COLUMNS["problem"]),
    run=read_toys,
)


def run_toy_ingest(out: Path, num_rows: int = 20) -> Dataset:
    done = run_stage(INGEST, raw_rows(num_rows), NoOptions(), flags(out))
    assert isinstance(done, Finished)
    return Dataset(done.location, done.manifest)


def flags(out: Path, **more: object) -> RunFlags:
    return RunFlags(out=str(out), quiet=True, **more)  # type: ignore[arg-type]


def settle_by_number(batches: Iterator[pa.RecordBatch], options: NoOptions) -> Iterator[Outcome]:
    """Every third problem is rejected, every seventh fails, in reverse order."""
    rows = [row for batch in batches for row in batch.to_pylist()]
    for row in reversed(rows):
        number = int(row["source_id"])
        if number % 7 == 6:
            yield failed(row["problem_id"], "unlucky", "seven")
        elif number % 3 == 2:
            yield rejected(row["problem_id"], "third", "three")
        else:
            yield passed(row["problem_id"], {"subject": options.shade})


SHADE = Stage(
    name="shade",
    version=1,
    kind="problem",
    reads=("problem_id", "source_id"),
    writes=("subject",),
    run=settle_by_number,
)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.parquet"))
    }
