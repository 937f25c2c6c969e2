"""The pipelines, run for real: SmolLM2-135M, its sampling, training and evaluation."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cotdata.store import open_dataset

ROOT = Path(__file__).parents[1]


def run_pipeline(name: str, cwd: Path, **env: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(ROOT / "pipelines" / name)], cwd=cwd, env={**os.environ, "PATH": path, **env},
        capture_output=True, text=True, timeout=2400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, smollm2: Path) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    run_pipeline("demo.sh", folder, DEMO_SIZE="tiny", RUN="run", MODEL=str(smollm2))
    return folder / "run"


def accuracy(results: Path) -> float:
    rows = [v for b in open_dataset(str(results)).batches(["verdict"]) for v in b[0].to_pylist()]
    return rows.count("correct") / len(rows)


@pytest.mark.model
@pytest.mark.timeout(3000)
def test_a_student_of_right_traces_learns_what_the_untouched_model_cannot(demo: Path) -> None:
    assert accuracy(demo / "results/student-H") >= accuracy(demo / "results/untouched") + 0.2


@pytest.mark.model
@pytest.mark.timeout(3000)
def test_a_trained_student_stops_by_itself(demo: Path) -> None:
    (batch,) = open_dataset(str(demo / "results/student-H")).batches(["finish_reason"])
    assert batch[0].to_pylist().count("length") < 0.05 * batch.num_rows


@pytest.mark.model
@pytest.mark.timeout(3000)
def test_the_arms_are_of_one_size_and_one_start(demo: Path) -> None:
    steps = [
        json.loads((demo / student / "cotdata.json").read_text())["steps"][-1]
        for student in ("student-H", "student-W")
    ]
    assert steps[0]["fates"]["passed"] == steps[1]["fates"]["passed"]
    assert steps[0]["parents"][1] == steps[1]["parents"][1]


@pytest.mark.model
@pytest.mark.timeout(3000)
def test_the_report_shows_every_arm_and_how_it_was_made(demo: Path) -> None:
    page = (demo / "report.html").read_text()
    for name in ("untouched", "student-H", "student-W", "cotdata train", "cotdata sample"):
        assert name in page
    assert not re.search(r'(src|href)="https?:', page)


@pytest.mark.model
@pytest.mark.timeout(3000)
def test_the_same_pipeline_finds_all_its_results(demo: Path, smollm2: Path) -> None:
    before = (demo / "student-H" / "cotdata.json").stat().st_mtime_ns
    run_pipeline("demo.sh", demo.parent, DEMO_SIZE="tiny", RUN="run", MODEL=str(smollm2))
    assert (demo / "student-H" / "cotdata.json").stat().st_mtime_ns == before
