"""Rulings on the one loop: fates, resume, ids, refusals."""

import dataclasses
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from toys import (
    INGEST,
    SHADE,
    NoOptions,
    files_of,
    flags,
    raw_rows,
    run_toy_ingest,
    settle_by_number,
)  # fmt: skip

from cotdata.errors import DamagedDataset, OutputExists, PartialRun
from cotdata.journal import Outcome, passed
from cotdata.runner import run_stage
from cotdata.store import open_dataset


def test_every_row_read_has_one_fate_and_they_add_up(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p", 21)
    done = run_stage(SHADE, problems, NoOptions(), flags(tmp_path / "s", accept_failed=True))
    fates = done.manifest.fates
    assert (fates.read, fates.passed, fates.rejected, fates.failed) == (21, 12, 6, 3)
    assert fates.reasons == {"third": 6, "unlucky": 3}


def test_rejected_rows_are_kept_with_their_reason(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p", 21)
    run_stage(SHADE, problems, NoOptions(), flags(tmp_path / "s", accept_failed=True))
    lost = [
        row
        for batch in open_dataset(str(tmp_path / "s")).batches(folder="rejected")
        for row in batch.to_pylist()
    ]
    assert {row["reject_reason"] for row in lost} == {"third", "unlucky"}
    assert len(lost) == 9


def test_output_is_in_input_order_whatever_the_order_of_outcomes(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p", 5)
    run_stage(SHADE, problems, NoOptions(), flags(tmp_path / "s", accept_failed=True))
    (batch,) = open_dataset(str(tmp_path / "s")).batches(["source_id"], split="train")
    assert batch["source_id"].to_pylist() == ["1", "3", "4"]


def test_failed_rows_leave_a_run_that_resumes_and_writes_nothing(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p", 21)
    with pytest.raises(PartialRun, match="3 rows failed"):
        run_stage(SHADE, problems, NoOptions(), flags(tmp_path / "s"))
    assert not (tmp_path / "s" / "manifest.json").exists()


def test_a_rerun_settles_only_what_failed_before(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p", 21)
    with pytest.raises(PartialRun):
        run_stage(SHADE, problems, NoOptions(), flags(tmp_path / "s"))
    seen: list[str] = []

    def settle(batches: Iterator[pa.RecordBatch], options: NoOptions) -> Iterator[Outcome]:
        for batch in batches:
            seen.extend(batch["source_id"].to_pylist())
            yield from (passed(i, {"subject": "x"}) for i in batch["problem_id"].to_pylist())

    healed = dataclasses.replace(SHADE, run=settle)
    done = run_stage(healed, problems, NoOptions(), flags(tmp_path / "s"))
    assert sorted(seen) == ["13", "20", "6"]
    assert done.manifest.fates.passed == 15


def test_an_interrupted_run_ends_in_the_same_bytes(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p", 60)

    def interrupted(batches: Iterator[pa.RecordBatch], options: NoOptions) -> Iterator[Outcome]:
        yield from islice(settle_by_number(batches, options), 25)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken = dataclasses.replace(SHADE, run=interrupted)
        run_stage(broken, problems, NoOptions(), flags(tmp_path / "a", accept_failed=True))
    for name in ("a", "b"):
        run_stage(SHADE, problems, NoOptions(), flags(tmp_path / name, accept_failed=True))
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_the_same_command_finds_its_result(tmp_path: Path) -> None:
    first = run_toy_ingest(tmp_path / "p")
    again = run_stage(INGEST, raw_rows(20), NoOptions(), flags(tmp_path / "p"))
    assert not again.fresh
    assert again.manifest.id == first.id


def test_other_options_never_overwrite(tmp_path: Path) -> None:
    run_toy_ingest(tmp_path / "p")
    with pytest.raises(OutputExists, match="shade is 'grey', asked 'red'"):
        run_stage(INGEST, raw_rows(20), NoOptions(shade="red"), flags(tmp_path / "p"))


def test_an_unfinished_run_is_not_resumed_with_other_options(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p", 21)
    with pytest.raises(PartialRun):
        run_stage(SHADE, problems, NoOptions(), flags(tmp_path / "s"))
    with pytest.raises(OutputExists, match="unfinished run with other options"):
        run_stage(SHADE, problems, NoOptions(shade="red"), flags(tmp_path / "s"))


def test_a_foreign_folder_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputExists, match="no dataset"):
        run_toy_ingest(tmp_path / "p")


def test_a_damaged_input_is_refused_and_leaves_no_output(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p")
    path = next((tmp_path / "p" / "data").glob("train-*"))
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(DamagedDataset, match="the file changed"):
        run_stage(SHADE, problems, NoOptions(), flags(tmp_path / "s"))
    assert not (tmp_path / "s").exists()


def test_rows_with_equal_content_are_written_once(tmp_path: Path) -> None:
    source = raw_rows(20)
    twice = dataclasses.replace(source, read=lambda: (r for r in source.read() for _ in "ab"))

    def read(batches: Iterator[pa.RecordBatch], options: NoOptions) -> Iterator[Outcome]:
        import json

        for batch in batches:
            for row in batch.to_pylist():
                yield passed(row["raw_id"], json.loads(row["raw"]))

    stage = dataclasses.replace(INGEST, run=read)
    fates = run_stage(stage, twice, NoOptions(), flags(tmp_path / "p")).manifest.fates
    assert (fates.passed, fates.reasons) == (20, {"duplicate": 20})


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = run_stage(INGEST, raw_rows(20), NoOptions(), flags(tmp_path / "p", dry_run=True))
    assert done is None
    assert list(tmp_path.iterdir()) == []


def test_the_id_depends_on_content_not_on_place(tmp_path: Path) -> None:
    one, other = run_toy_ingest(tmp_path / "one"), run_toy_ingest(tmp_path / "other")
    assert one.id == other.id
    assert run_toy_ingest(tmp_path / "more", 21).id != one.id


def test_an_empty_result_is_a_dataset_with_exit_status_3(tmp_path: Path) -> None:
    problems = run_toy_ingest(tmp_path / "p", 3)
    nothing = dataclasses.replace(problems.manifest.fates, read=0, passed=0, written=0)
    done = run_stage(SHADE, problems, NoOptions(), flags(tmp_path / "s", limit=1))
    empty = dataclasses.replace(done.manifest, fates=nothing)
    assert dataclasses.replace(done, manifest=empty).exit_code == 3
