"""What the arithmetic checker sees in public solutions, and how fast.

    python benchmarks/check_arithmetic.py

Per file: steps, share with a checked equation in the visible text and at all, steps
called false, milliseconds a trace for cutting and checking. Beside it the time of a
plain search for "number sign number = number", which is what a script would do. For
BIG-Bench-Mistake the false steps are compared with the people's first mistake. The
wrong steps are printed with -v, to be read by hand.
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cotdata.arithmetic import check_step
from cotdata.steps import segment

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = (
    ("gsm8k_train.jsonl", "answer", "gsm8k"),
    ("gsm8k_test.jsonl", "answer", "gsm8k"),
    ("math_train_1500.jsonl", "solution", "math"),
    ("math500_test.jsonl", "solution", "math"),
    ("bbm_multistep_arithmetic.jsonl", "steps", "gsm8k"),
)
PLAIN = re.compile(r"(\d+(?:\.\d+)?)\s*([-+*/])\s*(\d+(?:\.\d+)?)\s*=\s*(\d+(?:\.\d+)?)")


def steps(trace: str, task: str) -> list[str]:
    return [trace[p.start : p.end] for p in segment(trace, task) if p.is_step]


def plain_search(trace: str) -> list[bool]:
    signs: dict[str, Callable[[float, float], float]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b if b else 0.0,
    }
    found = (m.groups() for line in trace.split("\n") for m in PLAIN.finditer(line))
    return [abs(signs[op](float(a), float(b)) - float(c)) < 1e-6 for a, op, b, c in found]


def milliseconds(work: Callable[[str], object], traces: list[str]) -> float:
    start = time.process_time()
    for trace in traces:
        work(trace)
    return (time.process_time() - start) / len(traces) * 1000


def measure(name: str, column: str, task: str) -> None:
    rows: list[dict[str, Any]] = [json.loads(x) for x in (DATA / name).read_text().splitlines()]
    traces = [
        row[column] if isinstance(row[column], str) else "\n".join(row[column]) for row in rows
    ]
    verdicts: Counter[str] = Counter()
    num_visible, wrong = 0, []
    for row, trace in enumerate(traces):
        for text in steps(trace, task):
            check = check_step(text)
            verdicts[check.verdict] += 1
            num_visible += any(e.source == "text" and e.verdict != "skip" for e in check.equations)
            wrong += [(row, text.strip())] if check.verdict == "false" else []
    num_steps = verdicts.total()
    ours = milliseconds(lambda trace: [check_step(text) for text in steps(trace, task)], traces)
    print(f"{name}: {num_steps} steps, visible {num_visible / num_steps:.1%}, "
          f"any {1 - verdicts['skip'] / num_steps:.1%}, {dict(verdicts)}, {ours:.2f} ms a trace, "
          f"plain search {milliseconds(plain_search, traces):.3f} ms")  # fmt: skip
    if column == "steps":
        compare(rows)
    if "-v" in sys.argv:
        print(*(f"  {row}: {text[:200]!r}" for row, text in wrong), sep="\n")


def compare(rows: list[dict[str, Any]]) -> None:
    """The first step with a false equation against the first mistake marked by people."""
    agreed: Counter[str] = Counter()
    for row in rows:
        bad = [i for i, text in enumerate(row["steps"]) if check_step(text).verdict == "false"]
        first, marked = (bad[0] if bad else None), row["mistake_index"]
        if first == marked:
            agreed["the same step, or none in both"] += 1
        elif first is None:
            agreed["people only"] += 1
        elif marked is None:
            agreed["checker only"] += 1
        else:
            agreed["checker earlier" if first < marked else "checker later"] += 1
    print(f"  first mistake: {dict(agreed)}")


if __name__ == "__main__":
    for file in FILES:
        measure(*file)
