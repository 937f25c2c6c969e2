r"""Whether the arithmetic that a step states is true.

    check_step("He sold 48/2 = <<48/2=24>>26 clips.").verdict      # "false"
    check_step("2x + 3 = 11").verdict                              # "skip"

Every `=` between two closed calculations is checked in exact fractions, also "20% of 50
is 10" and what calculator marks say. Precision goes before recall: an equation that
may be meant otherwise (mixed units, labels, percent scales, ambiguous fractions) is
skipped with a reason. `rounded` is true to the decimals printed; `runon` is "48/2 = 24 +
3 = 27". A step is false if one of its equations is. `skip` and `true` say nothing about
the reasoning: most wrong steps hold no false equation.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from cotdata.calculations import MAX_WORDS, Calculation, calculation
from cotdata.figures import DIGITS, Figure, Number, figure
from cotdata.latex import Span
from cotdata.tokens import Token, tokens
from cotdata.units import (
    FACTORS,
    FUNCTION_WORDS,
    JOINTS,
    LABELS,
    SCALE_FACTORS,
    SCALES,
    SPOKEN,
    family,
)

StepVerdict = Literal["true", "rounded", "false", "runon", "skip"]
Source = Literal["text", "mark"]

MARK = re.compile(r"<<([^<>\n]*)>>")
PRINTED = re.compile(rf"\s*\\?\$?\s*({DIGITS})")
FLOAT_TAIL = 9
NEAR = Fraction(1, 10**9)
ROUGHLY = Fraction(1, 100)
SAYS = ("equals", "equal", "is", "are", "was")
COMPARED = re.compile("more|less|fewer|times|percent|short|above|below|higher|lower|greater")
MODULAR = re.compile(r"\bdigits?\b|\bmod|\\p?mod|\bremainder|\bcongruen|\bbase\b|_\d|_\{\d")
LEFT_OVER = re.compile("r|remainder|mod|modulo|left|over")
VALUES = ("number", "frac", "(", ")", "%", "of", "operator")


@dataclass(frozen=True, kw_only=True, slots=True)
class Equation:
    """`operands`, `operators` and `signs` are those of the left side.

    `result` is the right side where it is one number; `copies` are all places that state
    it and must change together, `result` first. `twin` is the calculator mark that repeats
    an equation of the text.
    """

    source: Source
    verdict: StepVerdict
    reason: str
    left: Span
    right: Span
    operands: tuple[Figure, ...]
    operators: tuple[Token, ...]
    signs: tuple[Token, ...]
    result: Figure | None
    left_value: Number
    right_value: Number
    copies: tuple[Figure, ...] = ()
    twin: "Equation | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StepCheck:
    """`skipped` are the reasons why other equality signs were not checked."""

    verdict: StepVerdict
    equations: tuple[Equation, ...]
    skipped: tuple[str, ...] = ()

    def of(self, verdict: StepVerdict) -> tuple[Equation, ...]:
        return tuple(e for e in self.equations if e.verdict == verdict)


class Skip(Exception):
    """Why an equality sign is not checked."""


def check_step(text: str) -> StepCheck:
    if "=" not in text and "%" not in text and "percent" not in text and "equal" not in text:
        return StepCheck(verdict="skip", equations=())
    skipped: list[str] = []
    marks = list(_marks(text, skipped))
    said = [_with_mark(equation, marks) for equation in _visible(text, skipped)]
    equations = tuple(said + marks)
    return StepCheck(verdict=_worst(equations), equations=equations, skipped=tuple(skipped))


def _worst(equations: Sequence[Equation]) -> StepVerdict:
    found = {equation.verdict for equation in equations}
    order: tuple[StepVerdict, ...] = ("false", "runon", "rounded", "true")
    return next((verdict for verdict in order if verdict in found), "skip")


def _marks(text: str, skipped: list[str]) -> Iterator[Equation]:
    """What the calculator marks say, and whether the number after one agrees."""
    for mark in MARK.finditer(text) if "<<" in text else ():
        try:
            equation = _marked(text, mark)
        except Skip as reason:
            skipped.append(str(reason))
            continue
        printed = PRINTED.match(text, mark.end())
        if printed and equation.result:
            after = figure(text, *printed.span(1))
            agrees = _agrees(equation.right_value, after.value, after.places, is_inexact=True)
            equation = replace(
                equation,
                copies=(equation.result, after),
                verdict=equation.verdict if agrees else "false",
                reason=equation.reason if agrees else "the printed number differs",
            )
        yield equation


def _marked(text: str, mark: re.Match[str]) -> Equation:
    found = tokens(text, *mark.span(1))
    signs = [i for i, token in enumerate(found) if token.kind == "="]
    if not signs:
        raise Skip("no equality sign")
    left, right = calculation(found, 0), calculation(found, signs[-1] + 1)
    if left is None or right is None or left.stop != signs[0] or right.stop != len(found):
        raise Skip("unreadable")
    is_true = _near(left.value, right.value)
    return _equation("mark", left, right, "true" if is_true else "false", "")


def _with_mark(equation: Equation, marks: Sequence[Equation]) -> Equation:
    """The mark whose printed number is this equation's result."""
    result = equation.result
    for mark in marks:
        if result and len(mark.copies) > 1 and mark.copies[1].start == result.start:
            return replace(equation, twin=mark, copies=(result, mark.copies[0]))
    return replace(equation, copies=(result,)) if result else equation


def _equation(
    source: Source, left: Calculation, right: Calculation, verdict: StepVerdict, reason: str
) -> Equation:
    result = right.operands[0] if right.is_single and right.operands[0].places >= 0 else None
    return Equation(
        source=source,
        verdict=verdict,
        reason=reason,
        left=(left.start, left.end),
        right=(right.start, right.end),
        operands=left.operands,
        operators=left.operators,
        signs=left.signs,
        result=result,
        left_value=left.value,
        right_value=right.value,
        copies=(result,) if result else (),
    )


def _visible(text: str, skipped: list[str]) -> Iterator[Equation]:
    found = tokens(text)
    says = SAYS if any(token.kind == "%" for token in found) else SAYS[:2]
    for place, token in enumerate(found):
        if token.kind != "=" and token.word not in says:
            continue
        try:
            yield _read(text, found, place)
        except Skip as reason:
            if token.kind == "=":
                skipped.append(str(reason))


def _read(text: str, found: Sequence[Token], place: int) -> Equation:
    sides = _Sides(text=text, found=found, place=place, start=_left_start(found, place))
    first = _checked_context(sides)
    left = calculation(found[:place], first)
    if left is None or left.stop != place:
        raise Skip("unreadable left side")
    right = _right(sides)
    if found[place].kind != "=":
        _checked_saying(found[place], left, right, sides)
    verdict, reason = _judged(sides, left, right)
    if verdict in ("false", "skip") and first == sides.start and _may_be_bullet(sides):
        return _unbulleted(sides, right, verdict, reason)
    return _equation("text", left, right, verdict, reason)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sides:
    """An equality sign among the tokens, and where its left side starts."""

    text: str
    found: Sequence[Token]
    place: int
    start: int

    def before(self, steps: int = 1) -> Token | None:
        place = self.start - steps
        return self.found[place] if place >= 0 else None

    def after(self, stop: int, steps: int = 0) -> Token:
        place = stop + steps
        end = len(self.text)
        return self.found[place] if place < len(self.found) else Token("end", end, end)


def _left_start(found: Sequence[Token], place: int) -> int:
    """Back over numbers, operators, brackets and units as far as they go together."""
    start, depth = place, 0
    while start:
        token = found[start - 1]
        if token.kind in VALUES:
            following = found[start].kind if start < place else ""
            if token.kind == ")":
                if following in ("number", "frac") and found[start].start > token.end:
                    break
                depth += 1
            elif token.kind == "(":
                if depth == 0:
                    break
                depth -= 1
            start -= 1
            continue
        words = _units_before(found, start, place)
        if not words:
            break
        start -= words
    return start


def _units_before(found: Sequence[Token], start: int, place: int) -> int:
    """How many words before `start` are the unit of a number that goes on here."""
    if start < place and found[start].kind not in ("operator", ")", "of"):
        return 0
    place, words = start, 0
    while place and (token := found[place - 1]).kind in ("word", "operator"):
        is_slash = token.word == "/" and place < start and found[place].kind == "word"
        if token.kind == "operator" and not is_slash:
            return 0
        words += token.kind == "word"
        if words > MAX_WORDS or token.word in FUNCTION_WORDS:
            return 0
        place -= 1
    return start - place if words and place and found[place - 1].kind in ("number", "%", ")") else 0


def _checked_context(sides: _Sides) -> int:
    """The left side's first token, if nothing before it may belong to it."""
    found, start = sides.found, sides.start
    if start == sides.place:
        raise Skip("no left side")
    first, before = found[start], sides.before()
    if before and before.kind == "name":
        raise Skip("an unknown before the left side")
    if first.kind == "operator" and not (first.word == "-" and _may_start(sides, before)):
        raise Skip("the left side starts with an operator")
    if before and before.word in SPOKEN:
        raise Skip("an operator in words")
    second = sides.before(2)
    if before and before.kind == "stop" and second and second.kind == "operator":
        raise Skip("an operator before a stop")
    if first.kind == "of":
        raise Skip("the left side starts with a share")
    if before and before.kind == "word":
        if first.kind == "number" and LABELS.fullmatch(before.word):
            raise Skip("a label's number")
        if first.kind == "(" and first.start == before.end:
            raise Skip("a function")
    if _operator_before(found, start):
        raise Skip("an operator further left")
    return start


def _may_start(sides: _Sides, before: Token | None) -> bool:
    """Whether a minus here is a sign; a row or cell may go on from the one before."""
    if before and before.kind == "stop":
        return sides.text[before.start] not in "&\\"
    if before is None or before.kind in ("=", "("):
        return True
    return before.kind == "word" and before.word in FUNCTION_WORDS | JOINTS


def _operator_before(found: Sequence[Token], start: int) -> bool:
    """Whether the clause computes something before the left side."""
    place = start - 1
    while place >= 0:
        token = found[place]
        if token.kind in ("stop", "=") or (token.kind == "word" and token.word in JOINTS):
            return False
        if token.kind == "word" and token.word in SPOKEN and token.word not in ("times", "by"):
            return True
        if token.kind == "operator" and place:
            left, right = found[place - 1].kind, found[place + 1].kind
            is_binary = left in ("number", ")", "%", "word", "name")
            if is_binary and right in ("number", "(", "frac", "name", "operator"):
                return True
        place -= 1
    return False


def _right(sides: _Sides) -> Calculation:
    place = sides.place + 1
    while sides.found[sides.place].kind == "word" and sides.after(place).word in ("equal", "to"):
        place += 1
    right = calculation(sides.found, place) if place < len(sides.found) else None
    if right is None:
        raise Skip("unreadable right side")
    follows = sides.after(right.stop)
    if follows.kind in ("name", "operator", "number", "frac", "of", "^"):
        raise Skip("the right side goes on")
    if follows.kind == "(" and follows.start == right.end:
        raise Skip("the right side goes on")
    if sides.text[right.end : right.end + 1] == "!" and sides.text[right.end + 1 :].strip():
        raise Skip("perhaps a factorial")
    return right


def _checked_saying(said: Token, left: Calculation, right: Calculation, sides: _Sides) -> None:
    """The word is an equality sign between a share of a number and a bare number."""
    is_share = left.has_share and left.has_percent and not left.has_sum
    if not (is_share or (said.word in ("equals", "equal") and left.operators)):
        raise Skip("no equation")
    nearby = (sides.after(right.stop, steps).word for steps in range(4))
    if not right.is_single or any(COMPARED.fullmatch(word) for word in nearby):
        raise Skip("a comparison")


def _judged(sides: _Sides, left: Calculation, right: Calculation) -> tuple[StepVerdict, str]:
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
    if right.operators and _starts_with(right, left):
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
    is_rounded = any(_agrees(value, printed, places, is_inexact=inexact) for value in exact)
    return ("rounded" if is_rounded else "false"), ""


def _percent_sum(sides: _Sides, left: Calculation, right: Calculation) -> tuple[StepVerdict, str]:
    """100% - 20% = 80% is exact; 100 + 10% is relative to something."""
    between = sides.text[left.start : right.end]
    num_percent = len(re.findall(r"%|percent", between))
    if num_percent == len(left.operands) + len(right.operands) and not left.has_share:
        return ("true" if left.value == right.value else "false"), ""
    if left.has_share and left.value == right.value:
        return "true", ""
    return "skip", "a percentage in a sum"


def _families(sides: _Sides, calculations: Sequence[Calculation]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for part in calculations:
        for unit in part.units:
            if name := family(unit):
                found.setdefault(name, set()).add(unit.rstrip("s"))
        after = sides.after(part.stop)
        if after.kind == "word" and (name := family(after.word)):
            found.setdefault(name, set()).add(after.word.rstrip("s"))
        if re.search(r"\$\s*[\d.]", sides.text[max(part.start - 2, 0) : part.end]):
            found.setdefault("money", set()).add("dollar")
    return found


def _mixes_units(sides: _Sides, *parts: Calculation) -> bool:
    return any(len(units) > 1 for units in _families(sides, parts).values())


def _doubt(sides: _Sides, left: Calculation, right: Calculation) -> str | None:
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


def _is_bare(sides: _Sides) -> bool:
    before = sides.before()
    return before is None or before.kind in ("stop", "=")


def _goes_on(sides: _Sides, right: Calculation, *, is_divided: bool) -> str | None:
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
        return _agrees(left.value, right.value, right.operands[0].places, is_inexact=is_inexact)
    return False


def _agrees(exact: Number, printed: Number, places: int, *, is_inexact: bool) -> bool:
    """Half a unit of the last decimal, or cut off there; a float's tail is near enough."""
    if exact == printed or (places >= FLOAT_TAIL and _near(exact, printed)):
        return True
    difference = abs(Fraction(exact) - printed)
    unit = Fraction(1, 10**places)
    is_cut = difference < unit and abs(Fraction(printed)) < abs(Fraction(exact))
    return is_inexact and (difference <= unit / 2 or (is_cut and places > 0))


def _near(a: Number, b: Number) -> bool:
    return abs(Fraction(a) - b) <= abs(Fraction(a)) * NEAR


def _starts_with(right: Calculation, left: Calculation) -> bool:
    first = right.operands[0]
    return _agrees(left.value, first.value, first.places, is_inexact=True)


def _late_doubt(sides: _Sides, left: Calculation, right: Calculation) -> str | None:
    """Differences of a kind that people make on purpose."""
    is_inexact = left.has_division or left.has_decimal or left.has_percent
    difference = abs(Fraction(left.value) - right.value)
    is_rough = difference <= abs(Fraction(left.value)) * ROUGHLY
    if (right.operators or right.has_percent) and is_inexact and is_rough:
        return "perhaps rounded before"
    places = max(right.operands[0].places, 0)
    if is_inexact or right.has_percent:
        for one, other in ((left.value * 100, right.value), (left.value, right.value * 100)):
            if _agrees(one, other, places if one is not left.value else max(places - 2, 0),
                       is_inexact=True):  # fmt: skip
                return "perhaps a percentage"
    return _scaled(sides, left, right)


def _scaled(sides: _Sides, left: Calculation, right: Calculation) -> str | None:
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


def _may_be_bullet(sides: _Sides) -> bool:
    """A minus with a space after it, where a sentence starts."""
    first = sides.found[sides.start]
    is_spaced = sides.found[sides.start + 1].start > first.end
    return first.kind == "operator" and first.word == "-" and is_spaced


def _unbulleted(sides: _Sides, right: Calculation, verdict: StepVerdict, reason: str) -> Equation:
    left = calculation(sides.found[: sides.place], sides.start + 1)
    if left is None or left.stop != sides.place:
        raise Skip("unreadable left side")
    other, why = _judged(sides, left, right)
    return _equation("text", left, right, other, why or reason)
