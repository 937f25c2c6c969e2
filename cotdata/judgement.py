r"""Whether two calculations agree, and what may be meant where they do not.

A difference is false only if no common habit of writing explains it: rounding, run-on
chains, percent scales, mixed or converted units, ambiguous fractions, remainders.

    12/60 = 0.2    true        10/3 = 3.33    rounded     48/2 = 24+3    runon
    1/2 hour + 5 minutes = 35  skip           2*8 = 24    false
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from cotdata.calculations import MAX_WORDS, Calculation
from cotdata.figures import Number
from cotdata.sides import Sides, Skip
from cotdata.units import FACTORS, FUNCTION_WORDS, SCALE_FACTORS, SCALES, family

StepVerdict = Literal["true", "rounded", "false", "runon", "skip"]

FLOAT_TAIL = 9
NEAR = Fraction(1, 10**9)
ROUGHLY = Fraction(1, 100)
MODULAR = re.compile(r"\bdigits?\b|\bmod|\\p?mod|\bremainder|\bcongruen|\bbase\b|_\d|_\{\d")
LEFT_OVER = re.compile("r|remainder|mod|modulo|left|over")


def judged(sides: Sides, left: Calculation, right: Calculation) -> tuple[StepVerdict, str]:
    if left.is_single and right.is_single:
        raise Skip("no calculation")
    if left.has_sum and _mixes_units(sides, left, right):
        return "skip", "units of one family"
    if right.has_percent and right.is_single and not left.has_percent:
        return _in_percent(left, right)
    if (left.has_percent or right.has_percent) and (left.has_sum or right.has_sum):
        return _percent_sum(sides, left, right)
    if left.value == right.value:
        return "true", ""
    if reason := _doubt(sides, left, right):
        return "skip", reason
    if _is_whole_part(left, right):
        return "skip", "perhaps a whole part"
    if _is_rounded(left, right):
        return "rounded", ""
    if right.operators and _runs_on(sides, left, right):
        return "runon", ""
    if reason := _late_doubt(sides, left, right):
        return "skip", reason
    return "false", ""


def _in_percent(left: Calculation, right: Calculation) -> tuple[StepVerdict, str]:
    """90/300 * 100 = 30% and 90/300 = 30% are both meant right."""
    printed = right.value * 100
    if left.value in (right.value, printed):
        return "true", ""
    places = right.operands[0].places
    inexact = left.has_division or left.has_decimal
    exact = (left.value, left.value * 100)
    is_rounded = any(agrees(value, printed, places, is_inexact=inexact) for value in exact)
    return ("rounded" if is_rounded else "false"), ""


def _percent_sum(sides: Sides, left: Calculation, right: Calculation) -> tuple[StepVerdict, str]:
    """100% - 20% = 80% is exact; 100 + 10% is relative to something."""
    between = sides.text[left.start : right.end]
    num_percent = len(re.findall(r"%|percent", between))
    if num_percent == len(left.operands) + len(right.operands) and not left.has_share:
        return ("true" if left.value == right.value else "false"), ""
    if left.has_share and left.value == right.value:
        return "true", ""
    return "skip", "a percentage in a sum"


def _families(sides: Sides, calculations: Sequence[Calculation]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for part in calculations:
        after = sides.after(part.stop) if part is calculations[-1] else None
        for unit in (*part.units, after.word if after else ""):
            if name := family(unit):
                found.setdefault(name, set()).add(unit.rstrip("s"))
        if re.search(r"\$\s*[\d.]", sides.text[max(part.start - 2, 0) : part.end]):
            found.setdefault("money", set()).add("dollar")
    return found


def _mixes_units(sides: Sides, *parts: Calculation) -> bool:
    return any(len(units) > 1 for units in _families(sides, parts).values())


def _doubt(sides: Sides, left: Calculation, right: Calculation) -> str | None:
    """Why sides that differ may still both be meant right, however large the difference."""
    if _mixes_units(sides, left, right):
        return "units of one family"
    if left.has_slash_chain or right.has_slash_chain:
        return "a chain of slashes"
    if left.regrouped in (right.value, right.regrouped) or right.regrouped == left.value:
        return "an ambiguous fraction"
    if left.is_single and (left.units or right.units or not _is_bare(sides)):
        return "no calculation on the left"
    if (left.has_share and left.has_sum) or right.has_share:
        return "a share of a sum"
    if MODULAR.search(sides.text):
        return "perhaps modular"
    if sides.text.startswith("\\\\", sides.after(right.stop).start) and (
        left.is_single or right.operators
    ):
        return "the row may go on"
    if reason := _goes_on(sides, right, is_divided=left.has_division):
        return reason
    before = sides.before()
    comma = before is not None and sides.text[before.start : before.end] == ","
    second = sides.before(2)
    if comma and second and second.kind == "number" and left.operands[0].value < 1000:
        return "perhaps a thousands comma"
    return None


def _is_bare(sides: Sides) -> bool:
    before = sides.before()
    return before is None or before.kind in ("stop", "=")


def _goes_on(sides: Sides, right: Calculation, *, is_divided: bool) -> str | None:
    """Whether the quantity on the right has a second part: "1 hour 30 minutes"."""
    if right.has_tail:
        return "the right side goes on after a unit"
    first = sides.after(right.stop)
    if first.kind == "stop" and sides.text[first.start : first.end] == ",":
        following = sides.after(right.stop, 1)
        digits = sides.text[following.start : following.end]
        return "perhaps a thousands comma" if re.fullmatch(r"\d{3}", digits) else None
    for steps in range(1 + MAX_WORDS):
        token = sides.after(right.stop, steps)
        follows = sides.after(right.stop, steps + 1).kind
        if token.kind == "number" and steps and follows not in ("operator", "="):
            return "the right side has a second part"
        if token.kind != "word" or (token.word in FUNCTION_WORDS and token.word != "and"):
            return None
        if is_divided and LEFT_OVER.fullmatch(token.word):
            return "a remainder"
    return None


def _is_whole_part(left: Calculation, right: Calculation) -> bool:
    is_whole = right.is_single and not right.has_decimal and right.value.denominator == 1
    return left.has_division and is_whole and abs(Fraction(left.value) - right.value) < 1


def _is_rounded(left: Calculation, right: Calculation) -> bool:
    is_inexact = left.has_division or left.has_decimal or left.has_percent or right.has_decimal
    if right.is_single and right.operands[0].places >= 0 and not right.has_percent:
        return agrees(left.value, right.value, right.operands[0].places, is_inexact=is_inexact)
    return False


def agrees(exact: Number, printed: Number, places: int, *, is_inexact: bool) -> bool:
    """Half a unit of the last decimal, or cut off there; a float's tail is near enough."""
    if exact == printed or (places >= FLOAT_TAIL and near(exact, printed)):
        return True
    difference = abs(Fraction(exact) - printed)
    unit = Fraction(1, 10**places)
    is_cut = difference < unit and abs(Fraction(printed)) < abs(Fraction(exact))
    return is_inexact and (difference <= unit / 2 or (is_cut and places > 0))


def near(a: Number, b: Number) -> bool:
    return abs(Fraction(a) - b) <= abs(Fraction(a)) * NEAR


def _runs_on(sides: Sides, left: Calculation, right: Calculation) -> bool:
    """The result and then more of it. Brackets around both sides are a rewriting."""
    whole = (sides.text[part.start] + sides.text[part.end - 1] for part in (left, right))
    if all(ends == "()" for ends in whole):
        return False
    first = right.operands[0]
    return agrees(left.value, first.value, first.places, is_inexact=True)


def _late_doubt(sides: Sides, left: Calculation, right: Calculation) -> str | None:
    """Differences of a kind that people make on purpose."""
    is_inexact = left.has_division or left.has_decimal or left.has_percent
    difference = abs(Fraction(left.value) - right.value)
    is_rough = difference <= abs(Fraction(left.value)) * ROUGHLY
    if (right.operators or right.has_percent) and is_inexact and is_rough:
        return "perhaps rounded before"
    places = max(right.operands[0].places, 0)
    if is_inexact or right.has_percent:
        for one, other in ((left.value * 100, right.value), (left.value, right.value * 100)):
            if agrees(one, other, places if one is not left.value else max(places - 2, 0),
                       is_inexact=True):  # fmt: skip
                return "perhaps a percentage"
    return _scaled(sides, left, right)


def _scaled(sides: Sides, left: Calculation, right: Calculation) -> str | None:
    if not left.value or not right.value:
        return None
    ratio = abs(Fraction(left.value) / right.value)
    ratio = max(ratio, 1 / ratio)
    if ratio in SCALE_FACTORS and SCALES.search(sides.text):
        return "a scale word"
    for name in _families(sides, (left, right)):
        if ratio in FACTORS[name]:
            return "perhaps a conversion"
    return None
