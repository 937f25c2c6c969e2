"""Countdown problems: a generator of solvable ones, and a solver.

    spec = parse_spec("countdown:n=1000,numbers=3-4,max=100,seed=0")
    next(generate(spec))        # {"numbers": [7, 25, 4], "target": 71, "solution": "25 * 4 = …"}

A longer run begins with the rows of a shorter one. A puzzle belongs to one split, by a hash of
its numbers and target: `split=test` never repeats a puzzle of `split=train`,
whatever the seeds. Intermediate results are positive whole numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from cotdata.errors import UsageError
from cotdata.schema import Row
from cotdata.seeds import rng_for, stable_hash

VERSION = 1
TEST_SHARE = 5
TRIES_PER_ROW = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """`numbers` is the range of how many numbers, `min` to `max` their size.

    Targets lie between `min_target` and `max_target`.
    """

    num_problems: int = 1000
    numbers: tuple[int, int] = (3, 4)
    min: int = 1
    max: int = 99
    min_target: int = 10
    max_target: int = 100
    seed: int = 0
    split: str = "train"


@dataclass(frozen=True, slots=True)
class Term:
    """An expression with its value; `steps` are the operations that made it."""

    value: int
    text: str
    steps: tuple[str, ...] = ()
    is_sum: bool = False
    is_single: bool = True


def parse_spec(text: str) -> Spec:
    """A spec as it is written on the command line: `countdown:n=1000,numbers=3-4`."""
    spec = Spec()
    for pair in filter(None, text.removeprefix("countdown:").split(",")):
        key, equals, value = pair.partition("=")
        if key not in KEYS or not equals:
            raise UsageError(
                f"cannot read {pair!r} in {text!r}", hint=f"known keys: {', '.join(KEYS)}"
            )
        spec = _with(spec, key, value)
    if spec.min > spec.max or spec.min_target > spec.max_target or spec.numbers[0] < 2:
        raise UsageError(f"an empty range in {text!r}", hint="ranges are low-high, numbers from 2")
    return spec


KEYS = ("n", "numbers", "min", "max", "target", "seed", "split")


def _with(spec: Spec, key: str, value: str) -> Spec:
    try:
        if key == "split":
            if value not in ("train", "test"):
                raise UsageError(f"unknown split {value!r}", hint="known: train, test")
            return replace(spec, split=value)
        low, _, high = value.partition("-")
        pair = (int(low), int(high or low))
    except ValueError as error:
        raise UsageError(f"{key}={value}: not a number or a range") from error
    if key == "numbers":
        return replace(spec, numbers=pair)
    if key == "target":
        return replace(spec, min_target=pair[0], max_target=pair[1])
    if key == "n":
        return replace(spec, num_problems=pair[0])
    if key == "seed":
        return replace(spec, seed=pair[0])
    return replace(spec, min=pair[0]) if key == "min" else replace(spec, max=pair[0])


def generate(spec: Spec) -> Iterator[Row]:
    """Distinct rows in the Hub's columns, with the solution that made each."""
    seen: set[int] = set()
    for index in range(spec.num_problems):
        numbers, made = _draw(spec, index, seen)
        yield {
            "nums": numbers,
            "target": made.value,
            "solution": trace_of(made),
            "split": spec.split,
        }


def _draw(spec: Spec, index: int, seen: set[int]) -> tuple[list[int], Term]:
    rng = rng_for(spec.seed, f"{spec.split}:{index}", "countdown")
    for _ in range(TRIES_PER_ROW):
        count = rng.randint(*spec.numbers)
        numbers = [rng.randint(spec.min, spec.max) for _ in range(count)]
        made = _combine(numbers, rng)
        key = stable_hash("countdown", sorted(numbers), made.value if made else None)
        if made is None or not spec.min_target <= made.value <= spec.max_target or key in seen:
            continue
        if (key % TEST_SHARE == 0) == (spec.split == "test"):
            seen.add(key)
            return numbers, made
    raise UsageError(
        f"no new solvable puzzle after {TRIES_PER_ROW:,} tries, at row {index:,}",
        hint="ask for fewer problems, or widen numbers, max or target",
    )


def _combine(numbers: list[int], rng: Random) -> Term | None:
    """Join random pairs with random operators until one term is left."""
    terms = [Term(number, str(number)) for number in numbers]
    while len(terms) > 1:
        left, right = (terms.pop(rng.randrange(len(terms))) for _ in range(2))
        joined = join(left, rng.choice("+-*/"), right)
        if joined is None:
            return None
        terms.append(joined)
    return terms[0]


def join(left: Term, operator: str, right: Term) -> Term | None:
    """The joined term, None unless the result is a positive whole number."""
    if operator == "+":
        value = left.value + right.value
    elif operator == "-":
        value = left.value - right.value
    elif operator == "*":
        value = left.value * right.value
    elif right.value and left.value % right.value == 0:
        value = left.value // right.value
    else:
        return None
    if value <= 0:
        return None
    step = f"{left.value} {operator} {right.value} = {value}"
    text = f"{_side(left, operator, False)} {operator} {_side(right, operator, True)}"
    steps = (*left.steps, *right.steps, step)
    return Term(value, text, steps, is_sum=operator in "+-", is_single=False)


def _side(term: Term, operator: str, is_right: bool) -> str:
    """In brackets where the expression would be read otherwise."""
    needed = (term.is_sum and (operator in "*/" or (is_right and operator == "-"))) or (
        not term.is_single and is_right and operator == "/"
    )
    return f"({term.text})" if needed else term.text


def trace_of(made: Term) -> str:
    """One operation a line, then the answer."""
    return "\n".join([*made.steps, f"<answer>{made.text}</answer>"])


def solve(numbers: list[int], target: int) -> Term | None:
    """A way to the target that uses every number once, or None; always the same one."""
    start = tuple(Term(number, str(number)) for number in numbers)
    return _solve(start, target, set())


def _solve(terms: tuple[Term, ...], target: int, dead: set[tuple[int, ...]]) -> Term | None:
    if len(terms) == 1:
        return terms[0] if terms[0].value == target else None
    key = tuple(sorted(term.value for term in terms))
    if key in dead:
        return None
    for i, j in itertools.permutations(range(len(terms)), 2):
        rest = tuple(term for k, term in enumerate(terms) if k not in (i, j))
        for operator in "+-*/" if i < j else "-/":
            joined = join(terms[i], operator, terms[j])
            found = _solve((joined, *rest), target, dead) if joined else None
            if found is not None:
                return found
    dead.add(key)
    return None
