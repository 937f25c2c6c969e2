r"""Whether two answers say the same, as far as that can be decided without sympy.

    compare("\\frac12", "0.5")          # Comparison(equal=True, reason="same_number")
    compare("(1,2)", "\\{1,2\\}")       # Comparison(equal=False, reason="other_kind")
    compare("\\sqrt{12}", "2\\sqrt3")   # Comparison(equal=None, …): ask `cotdata.mathpool`

The first is always the reference. Rules, in order; the first that decides wins:

- text: equal after canonical spelling.
- numbers, exactly and both ways: 0.333333 is not 1/3, 2^53+1 is not 2^53. Mixed
  numbers, thousands, powers of ten and "3 million" are read; leading zeros are free.
- percent: 40% as the reference equals 40%, 40 and 0.4. Without the sign in the
  reference it is a unit and is dropped, or, for a reference between -1 and 1 that is
  no whole number, 40% is 0.4 too.
- units, currency and degrees are dropped and never converted; two known units that
  differ (3 hours, 3 minutes) make the answers differ.
- ratio: 2:3 equals 2/3. Clock times are compared as text.
- base: digits and base must match; a base missing on one side is taken from the other.
- choices: (C), C, `\text{(C)}` and "C: 4" are the choice C; words ignore letter case.
- lists and sets are unordered and equal in length (hedging is wrong); a tuple is
  ordered and is no set; a bare list may stand for a tuple in the same order; a column
  or row vector may stand for a tuple; intervals match by end and bracket; an
  inequality equals its interval.
- equations: of `x = 5` the right side counts where the other answer has no equation;
  two different letters with constant values differ.
- formulas without roots and functions: by value (`cotdata.algebra`).
"""

from collections.abc import Iterable
from typing import Literal

from cotdata.notation import canonical, squeezed
from cotdata.shapes import Shape, read_shape
from cotdata.values import (
    EQUAL_SIGN,
    EQUATION,
    UNDECIDED,
    Comparison,
    Decider,
    agrees,
    asked,
    compare_numbers,
    compare_values,
    differs,
    is_single,
    never,
    read_choice,
)


def compare(reference: str, answer: str, decide: Decider = never) -> Comparison:
    """`decide` is asked about pairs of single values that no rule here decides."""
    gold, said = canonical(reference), canonical(answer)
    if squeezed(gold) == squeezed(said):
        return agrees("same_text")
    quick = compare_numbers(gold, said)
    if quick:
        return quick
    gold, said = _right_sides(gold, said)
    return _shapes(read_shape(gold), read_shape(said), decide)


def _right_sides(gold: str, said: str) -> tuple[str, str]:
    """Both without "x =", where that says nothing about their being equal."""
    one, other = EQUATION.fullmatch(gold), EQUATION.fullmatch(said)
    if one and other:
        is_function = ("(" in one[1]) != ("(" in other[1])
        return (one[2], other[2]) if is_function or one[1] == other[1] else (gold, said)
    if one and not EQUAL_SIGN.search(said):
        return one[2], said
    if EQUAL_SIGN.search(said) and not EQUAL_SIGN.search(gold) and not _is_list(said):
        return gold, EQUAL_SIGN.split(said)[-1].strip()
    return gold, said


def _is_list(text: str) -> bool:
    return read_shape(text).kind != "value"


def _shapes(gold: Shape, said: Shape, decide: Decider) -> Comparison:
    if gold.kind == said.kind == "value":
        return compare_values(gold.text, said.text, decide)
    gold, said = _aligned(gold, said)
    if gold.kind == said.kind == "value":
        return compare_values(gold.text, said.text, decide)
    if "value" in (gold.kind, said.kind):
        return _against_value(gold, said, decide)
    if gold.kind != said.kind:
        return differs("other_kind")
    if gold.kind == "tuple" and gold.brackets != said.brackets:
        return differs("other_brackets")
    if len(gold.parts) != len(said.parts):
        return differs("other_length")
    ordered = gold.kind in ("tuple", "matrix")
    match = _in_order if ordered else _in_any_order
    return match(gold.parts, said.parts, decide)


def _aligned(gold: Shape, said: Shape) -> tuple[Shape, Shape]:
    """Both as the same kind, where a rule lets one stand for the other."""
    one, other = _vector(gold, said), _vector(said, gold)
    if {one.kind, other.kind} == {"list", "set"}:
        one, other = _as_kind(one, "set"), _as_kind(other, "set")
    if {one.kind, other.kind} == {"list", "tuple"} and "()" in (one.brackets, other.brackets):
        one, other = _as_kind(one, "tuple"), _as_kind(other, "tuple")
    return _only_part(one), _only_part(other)


def _vector(shape: Shape, other: Shape) -> Shape:
    if shape.kind != "matrix" or other.kind not in ("tuple", "list"):
        return shape
    if all(len(row.parts) == 1 for row in shape.parts):
        return Shape("tuple", shape.text, tuple(row.parts[0] for row in shape.parts), "()")
    return shape.parts[0] if len(shape.parts) == 1 else shape


def _as_kind(shape: Shape, kind: Literal["set", "tuple"]) -> Shape:
    return Shape(kind, shape.text, shape.parts, "()" if kind == "tuple" else "")


def _only_part(shape: Shape) -> Shape:
    """A list or set of one value is that value; repeated ones count once."""
    if shape.kind not in ("list", "set"):
        return shape
    parts = tuple({squeezed(part.text): part for part in shape.parts}.values())
    return parts[0] if len(parts) == 1 else Shape(shape.kind, shape.text, parts)


def _against_value(gold: Shape, said: Shape, decide: Decider) -> Comparison:
    """One value against several: wrong, unless it is a word for a set of numbers."""
    value = gold if gold.kind == "value" else said
    if read_choice(gold.text) and read_choice(said.text):
        return compare_values(gold.text, said.text, decide)
    if is_single(value.text):
        return differs("other_length")
    if "list" in (gold.kind, said.kind) and not EQUAL_SIGN.search(value.text):
        return differs("other_length")
    return asked(gold.text, said.text, decide)


def _in_order(gold: tuple[Shape, ...], said: tuple[Shape, ...], decide: Decider) -> Comparison:
    return _all(_shapes(g, s, decide).equal for g, s in zip(gold, said, strict=True))


def _in_any_order(gold: tuple[Shape, ...], said: tuple[Shape, ...], decide: Decider) -> Comparison:
    """Greedy matching is enough: being equal carries over from one to the next."""
    left = list(said)
    found: list[bool | None] = []
    for part in gold:
        answers = [_shapes(part, other, decide).equal for other in left]
        if True in answers:
            left.pop(answers.index(True))
        found.append(True if True in answers else None if None in answers else False)
    return _all(found)


def _all(found: Iterable[bool | None]) -> Comparison:
    answers = list(found)
    if False in answers:
        return differs("other_parts")
    return UNDECIDED if None in answers else agrees("same_parts")
