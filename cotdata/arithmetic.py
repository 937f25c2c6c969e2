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
from typing import Literal

from cotdata.calculations import Calculation, calculation
from cotdata.figures import DIGITS, MAX_DIGITS, Figure, Number, figure
from cotdata.judgement import StepVerdict, agrees, judged, near
from cotdata.latex import Span
from cotdata.sides import Sides, Skip, check_context, left_start, may_be_bullet, right_side
from cotdata.tokens import Token, tokens

Source = Literal["text", "mark"]
MARK = re.compile(r"<<([^<>\n]*)>>")
PRINTED = re.compile(rf"\s*\\?\$?\s*({DIGITS})")
SAYS = ("equals", "equal", "is", "are", "was")
COMPARED = re.compile("more|less|fewer|times|percent|short|above|below|higher|lower|greater")


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
        if printed and equation.result and len(printed[1]) <= MAX_DIGITS:
            after = figure(text, *printed.span(1))
            is_same = agrees(equation.right_value, after.value, after.places, is_inexact=True)
            equation = replace(
                equation,
                copies=(equation.result, after),
                verdict=equation.verdict if is_same else "false",
                reason=equation.reason if is_same else "the printed number differs",
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
    is_true = near(left.value, right.value)
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
    sides = Sides(text=text, found=found, place=place, start=left_start(found, place))
    first = check_context(sides)
    left = calculation(found[first:place], 0)
    if left is None or left.stop != place - first:
        raise Skip("unreadable left side")
    right = right_side(sides)
    if found[place].kind != "=":
        _checked_saying(found[place], left, right, sides)
    verdict, reason = judged(sides, left, right)
    if verdict in ("false", "skip") and first == sides.start and may_be_bullet(sides):
        return _unbulleted(sides, right, verdict, reason)
    return _equation("text", left, right, verdict, reason)


def _checked_saying(said: Token, left: Calculation, right: Calculation, sides: Sides) -> None:
    """The word is an equality sign between a share of a number and a bare number."""
    is_share = left.has_share and left.has_percent and not left.has_sum
    if not (is_share or (said.word in ("equals", "equal") and left.operators)):
        raise Skip("no equation")
    nearby = (sides.after(right.stop, steps).word for steps in range(4))
    if not right.is_single or any(COMPARED.fullmatch(word) for word in nearby):
        raise Skip("a comparison")


def _unbulleted(sides: Sides, right: Calculation, verdict: StepVerdict, reason: str) -> Equation:
    left = calculation(sides.found[sides.start + 1 : sides.place], 0)
    if left is None or left.stop != sides.place - sides.start - 1:
        raise Skip("unreadable left side")
    other, why = judged(sides, left, right)
    return _equation("text", left, right, other, why or reason)
