"""Kill the stages at random moments: a rerun ends in the bytes of an unbroken run.

COTDATA_KILLS sets the number of kills over all stages (default 12, three each).
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shell import cotdata
from toys import files_of

from cotdata.store import open_dataset

KILLS = int(os.environ.get("COTDATA_KILLS", "12"))
STAGES = {
    "ingest": ["ingest", "countdown:n=2500,numbers=2-3"],
    "sample": ["sample", "p", "--model", "m", "--engine", "fake", "-n", "4"],
    "verify": ["verify", "raw"],
    "filter": ["filter", "raw", "--dedup"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unbroken runs; each stage's own is called after it."""
    folder = tmp_path_factory.mktemp("chaos")
    for name, out in (("ingest", "p"), ("sample", "raw"), ("verify", "v"), ("filter", "f")):
        start = time.monotonic()
        ran = cotdata(*STAGES[name], "-o", out, "-q", cwd=folder)
        assert (ran.code, ran.out) == (0, f"{out}\n"), ran.err
        (folder / f"{name}.seconds").write_text(str(time.monotonic() - start))
        (folder / f"{name}.out").write_text(out)
    return folder


def kill_somewhere(words: list[str], out: str, folder: Path, delay_s: float) -> bool:
    """Whether the process was still running when it was killed."""
    running = subprocess.Popen(
        [sys.executable, "-m", "cotdata", *words, "-o", out, "-q"],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    try:
        running.wait(delay_s)
        return False
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGKILL)
        running.wait()
        return True


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("stage", sorted(STAGES))
def test_a_killed_stage_finishes_with_the_same_bytes(stage: str, folder: Path) -> None:
    seconds = float((folder / f"{stage}.seconds").read_text())
    whole = folder / (folder / f"{stage}.out").read_text()
    draw = random.Random(stage)
    for number in range(KILLS // len(STAGES)):
        out = f"{stage}-{number}"
        kill_somewhere(STAGES[stage], out, folder, draw.uniform(0.4, seconds))
        ran = cotdata(*STAGES[stage], "-o", out, "-q", cwd=folder)
        assert (ran.code, ran.out) == (0, f"{out}\n"), ran.err
        assert files_of(folder / out) == files_of(whole)
        digests = {open_dataset(str(place)).manifest.digest for place in (folder / out, whole)}
        assert len(digests) == 1
        assert not (folder / out / ".work").exists()
