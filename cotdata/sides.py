r"""The two sides of an equality sign among tokens, or why they cannot be told.

    found = tokens("he sold 48/2 = 24 clips")
    left_start(found, 5)                     # 2, the token "48"

The left side is the longest run of numbers, operators, brackets and units that ends at
the sign. It is given up where something before it may belong to it: an unknown, a
label's number ("day 1"), an operator. Whether the sides agree is judged elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cotdata.calculations import MAX_WORDS, Calculation, calculation
from cotdata.tokens import Token
from cotdata.units import FUNCTION_WORDS, JOINTS, LABELS, SPOKEN

AFTER_OPERATOR = ("number", "(", "frac", "name", "operator")
VALUES = ("number", "frac", "(", ")", "%", "of", "operator")


class Skip(Exception):
    """Why an equality sign is not checked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
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


def left_start(found: Sequence[Token], place: int) -> int:
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


def check_context(sides: Sides) -> int:
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


def _may_start(sides: Sides, before: Token | None) -> bool:
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
            if is_binary and (right in AFTER_OPERATOR or (right == "word" and token.word != "/")):
                return True
        place -= 1
    return False


def right_side(sides: Sides) -> Calculation:
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


def may_be_bullet(sides: Sides) -> bool:
    """A minus with a space after it, where a sentence starts."""
    first = sides.found[sides.start]
    is_spaced = sides.found[sides.start + 1].start > first.end
    return first.kind == "operator" and first.word == "-" and is_spaced
