"""Rulings on the stage verify: what it says of changes and of other tools."""

import json
from pathlib import Path

import pytest
from shell import cotdata

ROWS = [
    {"problem": "What is 1 + 1?", "answer": "2", "trace": "It is 2. The answer is 2."},
    {"problem": "What is 2 + 2?", "answer": "4", "trace": "It is 5. The answer is 5."},
    {"problem": "What is 1 / 2?", "answer": "0.5", "trace": "A half. The answer is 1/2."},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    (folder / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    words = ("ingest", "t.jsonl", "--task", "gsm8k", "--no-check-gold", "-o", "t", "-q")
    assert cotdata(*words, cwd=folder).code == 0
    assert cotdata("verify", "t", "-o", "v", "-q", cwd=folder).code == 0
    return folder


def test_changed_verdicts_are_listed(folder: Path) -> None:
    ran = cotdata("verify", "t", "-o", "again", "--diff", "t", cwd=folder)
    assert "3 verdicts differ from t" in ran.err
    same = cotdata("verify", "t", "-o", "third", "--diff", "v", cwd=folder)
    assert "0 verdicts differ from v" in same.err


def test_a_second_opinion_is_written_down_with_its_rate(folder: Path) -> None:
    ran = cotdata("verify", "t", "-o", "v", "--second-opinion", "exact", cwd=folder)
    assert "1 of 3 (33.33%) differ from exact: v/disagreements.jsonl" in ran.err
    (row,) = map(json.loads, (folder / "v" / "disagreements.jsonl").read_text().splitlines())
    assert (row["final_answer"], row["verdict"], row["second_opinion"]) == ("1/2", "correct", False)


def test_an_unknown_opinion_is_a_usage_error(folder: Path) -> None:
    ran = cotdata("verify", "t", "-o", "v", "--second-opinion", "guess", cwd=folder)
    assert ran.code == 2
    assert "known: exact, math-verify" in ran.err
