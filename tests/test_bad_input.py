"""Rulings on bad input: what, where, how to go on, and nothing half-written."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shell import Ran, cotdata

ROWS = [
    {"question": f"What is 1 + {n}?", "answer": f"1 + {n} = {n + 1}\n#### {n + 1}"}
    for n in range(5)
]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def refused(ran: Ran, *said: str) -> None:
    assert ran.code == 1, ran
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for text in said:
        assert text in ran.err


def test_a_missing_column_is_named_with_those_there(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl", [json.dumps({"q": "What?", "a": "1"})])
    ran = cotdata("ingest", "x.jsonl", "--task", "gsm8k", "-o", "p", cwd=tmp_path)
    refused(ran, "x.jsonl: the first row does not fit", "its columns: q, a", "--map")
    assert not (tmp_path / "p").exists()


def test_unreadable_json_is_named_by_its_line(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl", [*map(json.dumps, ROWS), '{"question": "cut'])
    ran = cotdata("ingest", "x.jsonl", "--task", "gsm8k", "-o", "p", cwd=tmp_path)
    refused(ran, "x.jsonl:6: not JSON")
    assert not (tmp_path / "p").exists()


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").touch()
    ran = cotdata("ingest", "x.jsonl", "--task", "gsm8k", "-o", "p", cwd=tmp_path)
    refused(ran, "x.jsonl: the source holds no rows")
    assert not (tmp_path / "p").exists()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    refused(cotdata("ingest", "x.jsonl", "--task", "gsm8k", cwd=tmp_path), "x.jsonl: no such file")


def test_a_row_that_cannot_be_read_is_rejected_and_the_others_go_on(tmp_path: Path) -> None:
    bad = {"question": "What is 1 + 1?", "answer": "no mark here"}
    write(tmp_path / "x.jsonl", [*map(json.dumps, ROWS), json.dumps(bad)])
    ran = cotdata("ingest", "x.jsonl", "--task", "gsm8k", "-o", "p", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "p\n")
    assert "6 read = 5 passed + 1 rejected + 0 failed (1 unreadable)" in ran.err


def test_a_gold_answer_that_does_not_verify_is_rejected(tmp_path: Path) -> None:
    bad = {"problem": "What is 2 + 2?", "answer": "5", "solution": "2 + 2 = 4\n#### 4"}
    good = {"problem": "What is 3 + 3?", "answer": "6", "solution": "3 + 3 = 6\n#### 6"}
    write(tmp_path / "x.jsonl", [json.dumps(good), json.dumps(bad)])
    ran = cotdata("ingest", "x.jsonl", "--task", "gsm8k", "-o", "p", cwd=tmp_path)
    assert "1 gold_wrong" in ran.err


def test_a_csv_keeps_its_strings(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", ["q,a", '"What is 8 + 8, exactly?",016'])
    words = ("ingest", "x.csv", "--task", "gsm8k", "--map", "problem=q", "--map", "answer=a")
    assert cotdata(*words, "-o", "p", "-q", cwd=tmp_path).code == 0
    shown = cotdata("show", "p", "--json", cwd=tmp_path).out
    assert json.loads(shown)["answer"] == "016"


def test_a_mapped_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl", list(map(json.dumps, ROWS)))
    ran = cotdata("ingest", "x.jsonl", "--task", "gsm8k", "--map", "problem=text", cwd=tmp_path)
    assert ran.code == 2
    assert "names a column 'text' that the source lacks" in ran.err


def test_files_with_traces_become_traces(tmp_path: Path) -> None:
    rows = [{**row, "response": "It is 3. The answer is 3."} for row in ROWS]
    write(tmp_path / "x.jsonl", list(map(json.dumps, rows)))
    words = ("ingest", "x.jsonl", "--task", "gsm8k", "--map", "trace=response", "-o", "t", "-q")
    assert cotdata(*words, cwd=tmp_path).code == 0
    ran = cotdata("verify", "t", "-o", "v", cwd=tmp_path)
    assert "4  wrong" in ran.err
    assert "1  correct" in ran.err


def test_a_condition_that_is_no_sql_is_refused(tmp_path: Path) -> None:
    cotdata("ingest", "countdown:n=3,numbers=2", "-o", "p", "-q", cwd=tmp_path)
    cotdata("human", "p", "-o", "h", "-q", cwd=tmp_path)
    ran = cotdata("filter", "h", "--where", "colour = 1", "-o", "f", cwd=tmp_path)
    assert ran.code == 2
    assert "colour" in ran.err
    reading = cotdata(
        "filter", "h", "--where", "1 IN (FROM '/etc/passwd')", "-o", "f", cwd=tmp_path
    )
    assert reading.code == 2


def test_a_model_folder_without_config_is_refused(tmp_path: Path) -> None:
    cotdata("ingest", "countdown:n=3,numbers=2", "-o", "p", "-q", cwd=tmp_path)
    (tmp_path / "m").mkdir()
    ran = cotdata("sample", "p", "--model", "./m", "--engine", "transformers", cwd=tmp_path)
    refused(ran, "./m: no model here: config.json is missing")
    ran = cotdata("sample", "p", "--model", "./nowhere", "--engine", "transformers", cwd=tmp_path)
    refused(ran, "./nowhere: no such model folder", "cotdata model import smollm2")


def test_a_prompt_longer_than_the_context_rejects_its_row_alone(tmp_path: Path) -> None:
    cotdata("ingest", "countdown:n=40,numbers=2", "-o", "p", "-q", cwd=tmp_path)
    words = ("sample", "p", "--model", "m", "--engine", "fake", "--engine-option", "refuse=0.3")
    ran = cotdata(*words, "-o", "raw", cwd=tmp_path)
    assert ran.code == 0
    assert "prompt_too_long" in ran.err
    assert "0 failed" in ran.err


def test_a_full_disk_is_said_and_the_run_resumes(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(small)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system can only be mounted by root")
    try:
        words = ("ingest", "countdown:n=20000,numbers=3", "-o", "small/p", "-q")
        refused(cotdata(*words, cwd=tmp_path), "disk")
        assert not (small / "p" / "manifest.json").exists()
        subprocess.run(["mount", "-o", "remount,size=200m", str(small)], check=True)
        assert cotdata(*words, cwd=tmp_path).code == 0
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_stage_keeps_its_work_and_says_how_to_go_on(
    number: signal.Signals, tmp_path: Path
) -> None:
    cotdata("ingest", "countdown:n=400,numbers=2", "-o", "p", "-q", cwd=tmp_path)
    words = ["sample", "p", "--model", "m", "--engine", "fake", "--engine-option", "latency_ms=400"]
    words += ["-o", "raw"]
    running = subprocess.Popen(
        [sys.executable, "-m", "cotdata", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        # What runs in the background ignores Ctrl-C, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not (tmp_path / "raw" / ".work" / "journal.sqlite").exists():
        assert running.poll() is None
        time.sleep(0.1)
    time.sleep(2)
    running.send_signal(number)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "the same command goes on" in said
    assert "resuming" in cotdata(*words, "--engine-option", "latency_ms=0", cwd=tmp_path).err
