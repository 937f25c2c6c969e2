r"""Verdicts per second on GSM8K and MATH: ours against math-verify as it ships.

    python benchmarks/verify_math.py --rows 600

Both sides see the same references and the same texts in one process, in alternating
rounds, so that other work on the machine hits both; our memory of pairs is emptied
before each round. The baseline is verify(parse(gold), parse(text)) with all defaults,
the gold in the form its users give it. For each set, both counts of accepted texts are
shown: of right texts all should be, of the next problem's text only equal answers.
"""

import argparse
import itertools
import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from math_verify import parse, verify

from cotdata import algebra, mathverdict, notation, references, shapes
from cotdata.equivalence import compare
from cotdata.schema import Row
from cotdata.tasks import get_task

DATA = Path(__file__).parents[2] / "shared" / "data"
CACHES = (
    mathverdict._decided, mathverdict._asked, notation.canonical, shapes.read_shape,
    algebra.fingerprint, references.read_reference,
)  # fmt: skip
Pair = tuple[Row, str]
Judge = Callable[[str, Row, str], bool]


def rows(task: str, *names: str) -> Iterator[Row]:
    for name in names:
        with (DATA / name).open() as lines:
            for line in lines:
                yield get_task(task).parse(json.loads(line))


def ours(task: str, row: Row, text: str) -> bool:
    return get_task(task).verify(row, text).correct


def raw(task: str, row: Row, text: str) -> bool:
    gold = f"#### {row['answer']}" if task == "gsm8k" else f"$\\boxed{{{row['answer']}}}$"
    return bool(verify(parse(gold), parse(text)))


def timed(judge: Judge, task: str, pairs: list[Pair]) -> tuple[float, list[bool]]:
    for cache in CACHES:
        cache.cache_clear()
    start = time.perf_counter()
    verdicts = [judge(task, row, text) for row, text in pairs]
    return time.perf_counter() - start, verdicts


def boxed(row: Row) -> str:
    return f"So the answer is $\\boxed{{{row['answer']}}}$."


def sets(num_rows: int) -> Iterator[tuple[str, str, list[Pair], int]]:
    """Task, name, pairs, and how many of them have equal answers."""
    gsm8k = list(rows("gsm8k", "gsm8k_test.jsonl"))[:num_rows]
    math = list(rows("math", "math500_test.jsonl", "math_train_1500.jsonl"))[:num_rows]
    human = get_task("gsm8k").human_trace
    texts = {
        "solutions as published": [row["solution"] for row in gsm8k],
        "ending in 'The answer is N.'": [human(row) or "" for row in gsm8k],
    }
    for name, mine in texts.items():
        yield "gsm8k", name, list(zip(gsm8k, mine, strict=True)), len(gsm8k)
    pairs = [(row, other["solution"]) for row, other in itertools.pairwise(gsm8k)]
    yield "gsm8k", "the next problem's solution", pairs, num_equal(gsm8k)
    yield "math", "solutions as published", [(row, row["solution"]) for row in math], len(math)
    yield "math", "the answer in a box", [(row, boxed(row)) for row in math], len(math)
    pairs = [(row, boxed(other)) for row, other in itertools.pairwise(math)]
    yield "math", "the next problem's answer", pairs, num_equal(math)


def num_equal(problems: list[Row]) -> int:
    answers = [row["answer"] for row in problems]
    return sum(compare(a, b).equal is True for a, b in itertools.pairwise(answers))


def report(task: str, name: str, pairs: list[Pair], equal: int, rounds: int) -> None:
    spent = {ours: 0.0, raw: 0.0}
    accepted = {ours: 0, raw: 0}
    for _ in range(rounds):
        for judge in (ours, raw):
            seconds, verdicts = timed(judge, task, pairs)
            spent[judge] += seconds
            accepted[judge] = sum(verdicts)
    rates = {judge: rounds * len(pairs) / seconds for judge, seconds in spent.items()}
    print(
        f"{task:6} {name:30} ours {rates[ours]:9,.0f}/s  math-verify {rates[raw]:6,.0f}/s  "
        f"{rates[ours] / rates[raw]:6.1f} times  accepted {accepted[ours]} and {accepted[raw]} "
        f"of {len(pairs)}, equal {equal}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    # The first pair starts a worker; starting it belongs to no set.
    mathverdict.judge_answer(r"\sqrt[3]{2}", r"\boxed{\sqrt[3]{3}}", None, "")
    for task, name, pairs, equal in sets(options.rows):
        report(task, name, pairs, equal, options.rounds)


if __name__ == "__main__":
    main()
