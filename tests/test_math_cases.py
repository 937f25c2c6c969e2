"""Every line of the case file of hard answers is a ruling."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from cotdata.tasks import get_task
from cotdata.verdicts import Verdict

CASES = Path(__file__).parents[2] / "shared" / "cases" / "math.jsonl"
LINES = [json.loads(line) for line in CASES.read_text().splitlines()] if CASES.exists() else []
TASK = get_task("math")


def judged(case: dict[str, Any]) -> Verdict:
    problem = {"answer": case["reference"]}
    return TASK.verify(problem, case["output"], case.get("finish_reason"))


def in_a_thread(case: dict[str, Any]) -> Verdict:
    verdicts: list[Verdict] = []
    thread = threading.Thread(target=lambda: verdicts.append(judged(case)))
    thread.start()
    thread.join()
    return verdicts[0]


@pytest.mark.skipif(not LINES, reason="no ../shared/cases/math.jsonl here")
@pytest.mark.parametrize("case", LINES, ids=lambda case: case["id"])
def test_a_hard_case_gets_its_verdict(case: dict[str, Any]) -> None:
    found = in_a_thread(case) if case.get("call_from_thread") else judged(case)
    assert found.verdict in (case["expected_verdict"], *case.get("also_ok", ())), found
