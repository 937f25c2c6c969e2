r"""A solver for Countdown that writes its way down like a person.

    found = solve([25, 5, 4], 80)
    trace_of(found)     # "25 - 5 = 20\n20 * 4 = 80\n<answer>(25 - 5) * 4</answer>"

A way over positive whole numbers is preferred; fractions and negative numbers are
tried where there is none. The same numbers in another order give the same way.
The search runs backwards from the target: what is known of a small part of the
numbers says what the others must make. More than MAX_NUMBERS are not tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import add, mul, sub
from typing import TypeGuard

Number = int | Fraction
Part = tuple[int, ...]

MAX_NUMBERS = 6


@dataclass(frozen=True, slots=True)
class Term:
    """An expression with its value; `steps` are the operations that made it."""

    value: Number
    text: str
    steps: tuple[str, ...] = ()
    is_sum: bool = False
    is_single: bool = True


OPERATIONS: dict[str, Callable[[Number, Number], Number]] = {
    "+": add,
    "-": sub,
    "*": mul,
}


def operate(left: Number, operator: str, right: Number) -> Number | None:
    """Exact, and an int where it is whole; None for a division by zero."""
    if operator == "/" and right == 0:
        return None
    if operator == "/":
        return Fraction(left) / right if left % right else int(left // right)
    value = OPERATIONS[operator](left, right)
    return int(value) if value.denominator == 1 else value


def join(left: Term, operator: str, right: Term) -> Term | None:
    value = operate(left.value, operator, right.value)
    if value is None:
        return None
    step = f"{_operand(left.value)} {operator} {_operand(right.value)} = {value}"
    text = f"{_side(left, operator, False)} {operator} {_side(right, operator, True)}"
    steps = (*left.steps, *right.steps, step)
    return Term(value, text, steps, is_sum=operator in "+-", is_single=False)


def is_positive_whole(value: Number | None) -> TypeGuard[int]:
    return isinstance(value, int) and value > 0


def _operand(value: Number) -> str:
    return str(value) if value >= 0 and isinstance(value, int) else f"({value})"


def _side(term: Term, operator: str, is_right: bool) -> str:
    """In brackets where the expression would be read otherwise."""
    needed = (term.is_sum and (operator in "*/" or (is_right and operator == "-"))) or (
        not term.is_single and is_right and operator == "/"
    )
    return f"({term.text})" if needed else term.text


def trace_of(made: Term) -> str:
    """One operation a line, then the answer."""
    return "\n".join([*made.steps, f"<answer>{made.text}</answer>"])


def solve(numbers: list[int], target: int, *, use_all: bool = True) -> Term | None:
    """A way to the target, or None; with every number unless `use_all` is off."""
    if len(numbers) > MAX_NUMBERS:
        return None
    sizes = range(len(numbers), 0 if not use_all else len(numbers) - 1, -1)
    for whole, size in itertools.product((True, False), sizes):
        for part in sorted(set(itertools.combinations(sorted(numbers), size))):
            if (found := _Search(size, whole).find(part, target)) is not None:
                return found
    return None


class _Search:
    """Parts of at most half the numbers are tabled, larger ones searched backwards."""

    def __init__(self, size: int, whole: bool) -> None:
        self.num_tabled = max(size // 2, 1)
        self.whole = whole
        self.tables: dict[Part, dict[Number, Term]] = {}
        self.dead: set[tuple[Part, Number]] = set()

    def find(self, part: Part, target: Number) -> Term | None:
        if len(part) <= self.num_tabled:
            return self._table(part).get(target)
        if (part, target) in self.dead:
            return None
        for small, large in _splits(part):
            for known in self._table(small).values():
                for operator, is_left, wanted in self._wanted(known.value, target, large):
                    if (rest := self.find(large, wanted)) is not None:
                        left, right = (known, rest) if is_left else (rest, known)
                        return join(left, operator, right)
        self.dead.add((part, target))
        return None

    def _table(self, part: Part) -> dict[Number, Term]:
        """Everything the part can make, with one way to make it."""
        table = self.tables.get(part)
        if table is None:
            table = self.tables[part] = {}
            if len(part) == 1:
                table[part[0]] = Term(part[0], str(part[0]))
            for left, operator, right in self._pairs(part):
                value = operate(left.value, operator, right.value)
                if value not in table and self._is_allowed(value):
                    made = join(left, operator, right)
                    assert made is not None
                    table[made.value] = made
        return table

    def _pairs(self, part: Part) -> Iterator[tuple[Term, str, Term]]:
        for small, large in _splits(part):
            terms = itertools.product(self._table(large).values(), self._table(small).values())
            for one, other in terms:
                yield from ((one, operator, other) for operator in "+-*/")
                yield from ((other, operator, one) for operator in "-/")

    def _wanted(
        self, known: Number, target: Number, others: Part
    ) -> Iterator[tuple[str, bool, Number]]:
        """Operator, whether the known value is on its left, and what the others must make."""
        ways = (
            ("+", False, target - known),
            ("-", False, target + known),
            ("-", True, known - target),
            ("*", False, operate(target, "/", known)),
            ("/", False, target * known if known else None),
            ("/", True, operate(known, "/", target) if known else None),
        )
        for operator, is_left, wanted in ways:
            if wanted is not None and self._is_allowed(wanted):
                yield operator, is_left, wanted
        if known == target == 0:
            yield "*", False, sum(others)

    def _is_allowed(self, value: Number | None) -> bool:
        return is_positive_whole(value) if self.whole else value is not None


@lru_cache(maxsize=1024)
def _splits(part: Part) -> tuple[tuple[Part, Part], ...]:
    """Every way to part the numbers in two, the smaller side first, each once."""
    found: dict[tuple[Part, ...], tuple[Part, Part]] = {}
    places = range(len(part))
    for size in range(1, len(part) // 2 + 1):
        for chosen in itertools.combinations(places, size):
            small = tuple(part[i] for i in chosen)
            large = tuple(part[i] for i in places if i not in chosen)
            found.setdefault(tuple(sorted((small, large))), (small, large))
    return tuple(found.values())
