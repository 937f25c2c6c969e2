"""Countdown verdicts per second on one core: ours against an eval-based scorer.

    python benchmarks/verify_countdown.py

Traces are the solver's ways for the Hub's sample, with the talk of a searching model
before them; a fifth each: right, a sign changed, a number left out, written with × and
"= target", cut off. The baseline scores as the authors' evaluation does: last line,
last tag, character class, sorted numbers, eval, a float tolerance. Rounds alternate,
so that other work on the machine hits both; the best round counts.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from cotdata.schema import Row
from cotdata.tasks import get_task

DATA = Path(__file__).parents[2] / "shared" / "data" / "countdown_train_sample.jsonl"
NUM_ROWS, NUM_ROUNDS = 5000, 5
TAG = re.compile(r"<answer>(.*?)</answer>")
ALLOWED = re.compile(r"^[\d+\-*/().\s]+$")
TASK = get_task("countdown")


def eval_scorer(row: Row, trace: str) -> str:
    """Right, wrong or no_answer as the released scripts see it."""
    found = TAG.findall(trace.strip().split("\n")[-1])
    if not found:
        return "no_answer"
    answer = found[-1].strip()
    used = sorted(int(digits) for digits in re.findall(r"\d+", answer))
    if used != sorted(row["numbers"]) or not ALLOWED.match(answer):
        return "wrong"
    try:
        value = eval(answer, {"__builtins__": None}, {})
    except (SyntaxError, ArithmeticError, TypeError):
        return "wrong"
    return "correct" if abs(value - row["target"]) < 1e-5 else "wrong"


def ours(row: Row, trace: str) -> str:
    return TASK.verify(row, trace, "stop").verdict


def searching(row: Row) -> str:
    """Dead ends before the way, as models write them: a few hundred characters."""
    first, *others = row["numbers"]
    tries = [
        f"Try {first} {sign} {other} = {eval(f'{first}{sign}{other}')}, not what we need."
        for other in others
        for sign in "+-*"
    ]
    return "Let me think about which numbers to combine.\n" + "\n".join(tries) + "\n"


def traces() -> list[tuple[Row, str]]:
    made = []
    lines = DATA.read_text().splitlines()[:NUM_ROWS]
    for number, row in enumerate(TASK.parse(json.loads(line)) for line in lines):
        way = TASK.human_trace(row)
        assert way is not None
        steps, _, answer = way.rpartition("\n")
        expression = answer.removeprefix("<answer>").removesuffix("</answer>")
        kind = number % 5
        if kind == 1:
            expression = expression.translate(str.maketrans("+-", "-+"))
        elif kind == 2:
            expression = " + ".join(map(str, row["numbers"][1:]))
        elif kind == 3:
            expression = f"{expression.replace('*', '×')} = {row['target']}"
        last = "" if kind == 4 else f"\n<answer>{expression}</answer>"
        made.append((row, f"{searching(row)}{steps}{last}"))
    return made


def seconds(score: Callable[[Row, str], str], pairs: list[tuple[Row, str]]) -> float:
    start = time.process_time()
    for row, trace in pairs:
        score(row, trace)
    return time.process_time() - start


def main() -> None:
    pairs = traces()
    length = sum(len(trace) for _, trace in pairs) / len(pairs)
    print(f"{len(pairs):,} traces of {length:.0f} characters on average, CPU time of one core")
    scorers = {"eval scorer": eval_scorer, "cotdata": ours}
    best = dict.fromkeys(scorers, float("inf"))
    for _ in range(NUM_ROUNDS):
        for name, score in scorers.items():
            best[name] = min(best[name], seconds(score, pairs))
    for name, score in scorers.items():
        verdicts = dict(sorted(Counter(score(*pair) for pair in pairs).items()))
        print(f"{name:<12} {len(pairs) / best[name]:>8,.0f} verdicts/s   {verdicts}")


if __name__ == "__main__":
    main()
