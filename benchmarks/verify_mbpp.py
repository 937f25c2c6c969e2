"""MBPP verdicts per second: our sandbox against one fresh interpreter a sample.

    python benchmarks/verify_mbpp.py            # the first 100 problems
    python benchmarks/verify_mbpp.py --rows 974  # all; task 123 alone computes for 4 s

The baseline does what the authors' harness does: writes program and tests into a
file and runs it with this interpreter, one after the other, isolating nothing.
Both sides take the same reference programs in the same order, in alternating
rounds, so that other work on the machine hits both.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cotdata.sandbox import pool
from cotdata.schema import Row
from cotdata.tasks import get_task

SHARED = Path(__file__).parents[2] / "shared"

HARNESS = """
import json, sys, traceback
tests = {tests!r}
results = {{}}
error = None
try:
{code}
except BaseException as problem:
    error = repr(problem)
for number, test in enumerate(tests):
    try:
        exec(test, globals())
        results[number] = "Passed"
    except BaseException as problem:
        results[number] = "Failed: " + repr(problem)
passed = error is None and all(state == "Passed" for state in results.values())
print(json.dumps({{"all_passed": passed, "details": results, "error": error}}))
"""


def fresh_interpreter(row: Row) -> bool:
    code = "".join(f"    {line}\n" for line in row["solution"].splitlines())
    setup = "".join(f"    {line}\n" for line in (row["test_setup"] or "").splitlines())
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(HARNESS.format(tests=row["tests"], code=code + setup))
    try:
        command = [sys.executable, file.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=5)
    except subprocess.TimeoutExpired:
        return False
    finally:
        os.unlink(file.name)
    return done.stdout.startswith("{") and json.loads(done.stdout)["all_passed"]


def one_by_one(rows: list[Row]) -> int:
    return sum(map(fresh_interpreter, rows))


def in_sandbox(rows: list[Row], num_workers: int) -> int:
    task = get_task("mbpp")
    with ThreadPoolExecutor(num_workers) as threads:
        verdicts = threads.map(lambda row: task.verify(row, task.human_trace(row) or ""), rows)
        return sum(verdict.correct for verdict in verdicts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=SHARED / "data" / "mbpp.jsonl")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    task = get_task("mbpp")
    with given.data.open() as lines:
        rows = [task.parse(json.loads(line)) for line in lines][: given.rows]
    level = pool.configure(num_workers=given.workers)
    in_sandbox(rows[:8], given.workers)
    seconds = {"ours": 0.0, "baseline": 0.0}
    passed = {"ours": 0, "baseline": 0}
    for _ in range(given.rounds):
        for name in seconds:
            start = time.perf_counter()
            found = in_sandbox(rows, given.workers) if name == "ours" else one_by_one(rows)
            seconds[name] += time.perf_counter() - start
            passed[name] += found
    total = len(rows) * given.rounds
    for name in seconds:
        print(f"{name:9} {total / seconds[name]:7.1f}/s  {passed[name]} of {total} correct")
    print(f"ratio {seconds['baseline'] / seconds['ours']:.1f} (sandbox level {level})")


if __name__ == "__main__":
    main()
