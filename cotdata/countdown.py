"""Countdown problems made to be solvable.

    spec = parse_spec("countdown:n=1000,numbers=3-4,max=100,seed=0")
    next(generate(spec))        # {"nums": [7, 25, 4], "target": 71, "solution": "25 * 4 = …"}

`numbers` says how many numbers a puzzle has: 3, 3-4, or a mix such as 2+2+3-4, whose
counts are equally likely. `min` and `max` bound the numbers, `target=10-100` the
target, `ops=+-` the operators. Results on the way are positive whole numbers.

Rows are distinct, and a longer run begins with the rows of a shorter one; for that the
generator remembers a hash of each row. A puzzle belongs to one split, by its numbers
and target: `split=test` never makes a puzzle that `split=train` makes, whatever the
seeds and ranges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, cast, get_args

from cotdata.countdown_solver import (
    MAX_NUMBERS,
    Number,
    Term,
    is_positive_whole,
    join,
    operate,
    trace_of,
)
from cotdata.errors import UnknownName, UsageError
from cotdata.schema import Row
from cotdata.seeds import rng_for, stable_hash

Split = Literal["train", "test"]
Joint = tuple[int, int, str]

VERSION = 1
TEST_SHARE = 5
TRIES_PER_ROW = 20_000
MAX_VALUE = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """`numbers` holds counts, each equally likely; `min` to `max` is their size."""

    num_problems: int = 1000
    numbers: tuple[int, ...] = (3, 4)
    min: int = 1
    max: int = 99
    target: tuple[int, int] = (10, 100)
    ops: str = "+-*/"
    seed: int = 0
    split: Split = "train"


def parse_spec(text: str) -> Spec:
    """A spec as it is written on the command line: `countdown:n=1000,numbers=3-4`."""
    settings: dict[str, Any] = {}
    for pair in filter(None, text.removeprefix("countdown:").split(",")):
        key, _, value = pair.partition("=")
        if key not in READERS:
            raise UnknownName("countdown setting", key, READERS)
        field = "num_problems" if key == "n" else key
        if field in settings:
            raise UsageError(f"{key} is set twice", where=text)
        try:
            settings[field] = READERS[key](value)
        except ValueError as error:
            raise UsageError(f"cannot read {pair!r}: wanted {error}", where=text) from error
    return _checked(Spec(**settings), text)


def _checked(spec: Spec, text: str) -> Spec:
    if spec.min > spec.max:
        raise UsageError(f"min={spec.min} is above max={spec.max}", where=text)
    if not set(spec.numbers) <= set(range(2, MAX_NUMBERS + 1)):
        raise UsageError(f"a puzzle has 2 to {MAX_NUMBERS} numbers", where=text)
    return spec


def _count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) == 0:
        raise ValueError("a number from 1")
    return int(text)


def _seed(text: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ValueError("a number from 0")
    return int(text)


def _value(text: str) -> int:
    if _count(text) > MAX_VALUE:
        raise ValueError(f"at most {MAX_VALUE:,}")
    return int(text)


def _range(text: str) -> tuple[int, int]:
    low, dash, high = text.partition("-")
    found = (_count(low), _count(high if dash else low))
    if found[0] > found[1]:
        raise ValueError("a range from low to high")
    return found


def _mix(text: str) -> tuple[int, ...]:
    ranges = [_range(part) for part in text.split("+")]
    if any(high > MAX_NUMBERS for _, high in ranges):
        raise ValueError(f"counts up to {MAX_NUMBERS}, such as 3, 3-4 or 2+2+3-4")
    return tuple(count for low, high in ranges for count in range(low, high + 1))


def _ops(text: str) -> str:
    if not text or set(text) - set("+-*/") or len(set(text)) < len(text):
        raise ValueError("some of + - * /, each once")
    return text


def _split(text: str) -> Split:
    if text not in get_args(Split):
        raise ValueError("train or test")
    return cast(Split, text)


READERS: dict[str, Callable[[str], object]] = {
    "n": _count,
    "numbers": _mix,
    "min": _value,
    "max": _value,
    "target": _range,
    "ops": _ops,
    "seed": _seed,
    "split": _split,
}


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
    low, high = spec.target
    for _ in range(TRIES_PER_ROW):
        count = rng.choice(spec.numbers)
        numbers = [rng.randint(spec.min, spec.max) for _ in range(count)]
        joints: list[Joint] = []
        target = _reached(numbers, spec.ops, rng, joints)
        if not is_positive_whole(target) or not low <= target <= high:
            continue
        key = stable_hash("countdown", sorted(numbers), target)
        if key not in seen and (key % TEST_SHARE == 0) == (spec.split == "test"):
            seen.add(key)
            return numbers, _built(numbers, joints)
    raise UsageError(
        f"no new solvable puzzle after {TRIES_PER_ROW:,} tries, at row {index:,}",
        hint="ask for fewer problems, or widen numbers, max, target or ops",
    )


def _reached(numbers: list[int], ops: str, rng: Random, joints: list[Joint]) -> Number | None:
    """The value after joining random pairs until one is left; notes every joint."""
    values: list[Number] = list(numbers)
    while len(values) > 1:
        left, right = rng.randrange(len(values)), rng.randrange(len(values) - 1)
        joints.append((left, right, rng.choice(ops)))
        value = operate(values.pop(left), joints[-1][2], values.pop(right))
        if not is_positive_whole(value):
            return None
        values.append(value)
    return values[0]


def _built(numbers: list[int], joints: list[Joint]) -> Term:
    terms = [Term(number, str(number)) for number in numbers]
    for left, right, operator in joints:
        joined = join(terms.pop(left), operator, terms.pop(right))
        assert joined is not None
        terms.append(joined)
    return terms[0]
