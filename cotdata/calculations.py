r"""Arithmetic without unknowns, worked out exactly from tokens.

    calculation(tokens("20% of $50 + 3 pens"), 0).value      # 13

Read: + - * / ^, brackets, \frac, percentages, "of" after a share, products without a
sign before a bracket, up to three words of unit after a number. It goes on as far as
the tokens make sense, so the caller sees where it stopped. Nothing is guessed: an
unknown, a zero divisor or a huge power makes no calculation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from cotdata.figures import Figure, Number
from cotdata.tokens import Token
from cotdata.units import FUNCTION_WORDS, RATES

MAX_DEPTH = 40
MAX_WORDS = 3
MAX_BITS = 4000
NOTHING = Token("end", 0, 0)


class Unreadable(Exception):
    pass


@dataclass(frozen=True, kw_only=True, slots=True)
class Calculation:
    """`stop` is the token after it. `tail` says that it went on after a unit.

    `regrouped` is the value if a division takes all factors after it as divisor.
    """

    value: Number
    start: int
    end: int
    stop: int
    operands: tuple[Figure, ...]
    operators: tuple[Token, ...]
    signs: tuple[Token, ...]
    units: tuple[str, ...]
    has_percent: bool
    has_share: bool
    has_sum: bool
    has_division: bool
    has_slash_chain: bool
    has_tail: bool
    regrouped: Number

    @property
    def is_single(self) -> bool:
        return not self.operators and len(self.operands) == 1

    @property
    def has_decimal(self) -> bool:
        return any(operand.places > 0 for operand in self.operands)


@dataclass(slots=True)
class _Reader:
    tokens: Sequence[Token]
    place: int
    operands: list[Figure] = field(default_factory=list)
    operators: list[Token] = field(default_factory=list)
    signs: list[Token] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    has_percent: bool = False
    has_share: bool = False
    has_tail: bool = False
    has_slash_chain: bool = False
    has_division: bool = False
    depth: int = 0
    end: int = 0

    @property
    def is_after_number(self) -> bool:
        return self.tokens[self.place - 1].kind == "number"

    def peek(self, ahead: int = 0) -> Token:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else NOTHING

    def take(self) -> Token:
        token = self.peek()
        self.place += 1
        self.end = token.end
        return token


Pair = tuple[Number, Number]


def calculation(tokens: Sequence[Token], place: int) -> Calculation | None:
    """What begins at the token `place`, read as far as it goes."""
    reader = _Reader(tokens, place)
    try:
        value, regrouped = _sum(reader)
    except (Unreadable, ZeroDivisionError):
        return None
    return Calculation(
        value=value,
        start=tokens[place].start,
        end=reader.end,
        stop=reader.place,
        operands=tuple(reader.operands),
        operators=tuple(reader.operators),
        signs=tuple(reader.signs),
        units=tuple(reader.units),
        has_percent=reader.has_percent,
        has_share=reader.has_share,
        has_sum=any(operator.word in "+-" for operator in reader.operators),
        has_division=reader.has_division,
        has_slash_chain=reader.has_slash_chain,
        has_tail=reader.has_tail,
        regrouped=regrouped,
    )


def _sum(reader: _Reader) -> Pair:
    value, other = _product(reader)
    while (token := reader.peek()).kind == "operator" and token.word in "+-":
        _join(reader)
        right, right_other = _product(reader)
        if token.word == "+":
            value, other = value + right, other + right_other
        else:
            value, other = value - right, other - right_other
    return value, other


def _join(reader: _Reader) -> Token:
    reader.has_tail = reader.has_tail or bool(reader.units)
    token = reader.take()
    reader.operators.append(token)
    return token


def _product(reader: _Reader) -> Pair:
    value, top = _signed(reader)
    bottom: Number = 1
    slashes, last, before = 0, "", ""
    while True:
        token, before = reader.peek(), last
        if token.kind == "operator" and token.word in "*/":
            last = _join(reader).word
        elif token.kind == "of":
            reader.take()
            reader.has_share, last = True, "*"
            reader.operators.append(Token("operator", token.start, token.end, "of"))
        elif token.kind in ("(", "frac") and reader.end == token.start:
            if token.kind == "frac" and reader.is_after_number:
                raise Unreadable
            last = "*"
        else:
            return value, top / _nonzero(bottom) if bottom != 1 else top
        right, right_other = _signed(reader)
        if last == "/":
            slashes = 1
            reader.has_division = True
            reader.has_slash_chain = reader.has_slash_chain or before == "/"
            value = _divided(value, right)
            bottom = _divided(right_other, 1) if bottom == 1 else _divided(bottom, right_other)
        elif slashes:
            value, bottom = value * right, bottom * right_other
        else:
            value, top = value * right, top * right_other


def _nonzero(value: Number) -> Fraction:
    if not value:
        raise Unreadable
    return Fraction(value)


def _divided(value: Number, divisor: Number) -> Number:
    if not divisor:
        raise Unreadable
    quotient = Fraction(value) / divisor
    return quotient.numerator if quotient.denominator == 1 else quotient


def _signed(reader: _Reader) -> Pair:
    token = reader.peek()
    if token.kind == "operator" and token.word in "+-":
        if token.word == "+" and reader.operators and reader.operators[-1].end == token.start:
            raise Unreadable
        reader.signs.append(reader.take())
        if reader.peek().kind == "operator":
            raise Unreadable
        value, other = _signed(reader)
        return (-value, -other) if token.word == "-" else (value, other)
    return _power(reader)


def _power(reader: _Reader) -> Pair:
    base, other = _primary(reader)
    if reader.peek().word != "^" or reader.tokens[reader.place - 1].kind == "word":
        return base, other
    reader.operators.append(reader.take())
    _deeper(reader)
    exponent, _ = _signed(reader)
    reader.depth -= 1
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(int(exponent)) * bits > MAX_BITS:
        raise Unreadable
    if not base and exponent < 0:
        raise Unreadable
    value = Fraction(base) ** int(exponent)
    return value, value


def _primary(reader: _Reader) -> Pair:
    token = reader.take()
    if token.kind == "number":
        reader.operands.append(token.figure)
        pair: Pair = (token.value, token.value)
    elif token.kind == "(":
        pair = _group(reader)
    elif token.kind == "frac":
        pair = _fraction(reader)
    else:
        raise Unreadable
    if reader.peek().kind == "%":
        reader.take()
        reader.has_percent = True
        pair = Fraction(pair[0]) / 100, Fraction(pair[1]) / 100
    _units(reader)
    return pair


def _deeper(reader: _Reader) -> None:
    reader.depth += 1
    if reader.depth > MAX_DEPTH:
        raise Unreadable


def _group(reader: _Reader) -> Pair:
    _deeper(reader)
    pair = _sum(reader)
    if reader.take().kind != ")":
        raise Unreadable
    reader.depth -= 1
    return pair


def _fraction(reader: _Reader) -> Pair:
    """A drawn fraction: its bar is an operator that no edit can swap."""
    if reader.take().kind != "(":
        raise Unreadable
    top, top_other = _group(reader)
    if reader.take().kind != "(":
        raise Unreadable
    bottom, bottom_other = _group(reader)
    reader.has_division = True
    return _divided(top, bottom), _divided(top_other, bottom_other)


def _exponent(reader: _Reader, ahead: int) -> int:
    """How many tokens the power of a unit takes: cm^2, cm^{3}."""
    if reader.peek(ahead).word != "^":
        return 0
    return 2 if reader.peek(ahead + 1).kind == "number" else 4


def _units(reader: _Reader) -> None:
    """Up to three words, also "/day", where an operator or the end follows."""
    words: list[str] = []
    ahead, is_rate = 0, False
    while len(words) <= MAX_WORDS:
        token = reader.peek(ahead)
        if token.word == "/" and token.kind == "operator" and reader.peek(ahead + 1).kind == "word":
            ahead, is_rate = ahead + 1, True
            continue
        if token.kind != "word" or token.word in FUNCTION_WORDS:
            break
        is_rate = is_rate or token.word in RATES
        words.append("" if is_rate else token.word)
        ahead += 1 + _exponent(reader, ahead + 1)
    if words and len(words) <= MAX_WORDS:
        reader.units += words
        goes_on = reader.peek(ahead).kind in ("operator", "=", ")", "of", "end")
        reader.place += ahead if goes_on else 0
