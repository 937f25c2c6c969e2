r"""Formulas told apart by their value in a finite field: exact, linear, no sympy.

    same_formula("(x-1)(x+1)", "x^2-1")                        # True
    same_formula(r"\frac{1}{2004!}", r"\frac{1}{2006!}")       # False
    same_formula(r"\sqrt{12}", r"2\sqrt{3}")                   # True
    same_formula(r"\sqrt{x}", "x")                             # None: not decided here

Numbers, letters, + - * /, whole powers, factorials, binomials and square roots of
rational numbers are computed modulo a 279-bit prime (`cotdata.residues`), with a fixed
random value for each letter. Equal formulas have equal values, and two that differ agree
only by a chance of about 2^-270. 2^1000000 costs microseconds here. Other roots and
functions, symbolic powers and towers are left to others (None).
"""

import functools
import re
from fractions import Fraction

from cotdata.residues import (
    Undecidable,
    Value,
    add,
    binomial,
    constant,
    factorial,
    inverse,
    letter,
    multiply,
    negated,
    power,
    square_root,
    whole,
)  # fmt: skip

MAX_LENGTH = 4_000
MAX_DEPTH = 90
MAX_DIGITS = 400

TOKEN = re.compile(r"\s*(?:\d+(?:\.\d+)?|\.\d+|\\[a-zA-Z]+|\\.|.)", re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")
CONSTANTS = {"pi", "theta", "alpha", "beta", "gamma", "lambda", "mu", "phi", "omega", "delta"}
FUNCTION = re.compile(r"(?<![a-zA-Z\\])[fghFGPQT]\s*(?:_\d)?\(")


def same_formula(first: str, second: str) -> bool | None:
    one = fingerprint(first)
    other = fingerprint(second) if one is not None else None
    return None if one is None or other is None else one == other


@functools.lru_cache(maxsize=65536)
def fingerprint(text: str) -> int | None:
    if len(text) > MAX_LENGTH or FUNCTION.search(text) or text.count("{") > 10 * MAX_DEPTH:
        return None
    try:
        parser = _Parser(text)
        value = parser.total()
        return value.residue if parser.is_done() else None
    except Undecidable:
        return None


class _Parser:
    """Operator precedence by recursive descent over LaTeX and plain notation."""

    def __init__(self, text: str) -> None:
        self._tokens = [m.group().strip() for m in TOKEN.finditer(text) if m.group().strip()]
        self._place = 0
        self._depth = 0

    def is_done(self) -> bool:
        return self._place == len(self._tokens)

    def _peek(self) -> str:
        return "" if self.is_done() else self._tokens[self._place]

    def _next(self) -> str:
        piece = self._peek()
        self._place += 1
        return piece

    def _expect(self, piece: str) -> None:
        if self._next() != piece:
            raise Undecidable

    def total(self) -> Value:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Undecidable
        value = self._signed()
        while self._peek() in ("+", "-"):
            negative = self._next() == "-"
            term = self._product()
            value = add(value, negated(term) if negative else term)
        self._depth -= 1
        return value

    def _signed(self) -> Value:
        if self._peek() in ("+", "-"):
            negative = self._next() == "-"
            value = self._product()
            return negated(value) if negative else value
        return self._product()

    def _product(self) -> Value:
        value = self._factor()
        while True:
            piece = self._peek()
            if piece in (r"\cdot", r"\times", "*"):
                self._next()
                value = multiply(value, self._signed_factor())
            elif piece in ("/", r"\div"):
                self._next()
                value = multiply(value, inverse(self._signed_factor()))
            elif piece and (piece[0] in "({" or piece[0].isalnum() or piece[0] in "\\."):
                if NUMBER.fullmatch(piece) or self._is_mixed_number():
                    raise Undecidable
                value = multiply(value, self._factor())
            else:
                return value

    def _is_mixed_number(self) -> bool:
        return self._peek() == r"\frac" and self._tokens[self._place - 1].isdigit()

    def _signed_factor(self) -> Value:
        if self._peek() == "-":
            self._next()
            return negated(self._factor())
        return self._factor()

    def _factor(self) -> Value:
        value = self._atom()
        if self._peek() == "!":
            self._next()
            value = factorial(whole(value))
            if self._peek() == "!":
                raise Undecidable
        if self._peek() == "^":
            self._next()
            value = power(value, self._exponent())
            if self._peek() in ("!", "^"):
                raise Undecidable
        return value

    def _exponent(self) -> Value:
        if self._peek() == "-":
            self._next()
            return negated(self._exponent())
        piece = self._peek()
        if piece == "{":
            return self._group("}")
        # TeX reads x^12 as x^1 2; people mean 12. With more than a letter it is unclear.
        value = self._atom()
        if self._peek() == "^":
            self._next()
            return power(value, self._exponent())
        return value

    def _group(self, closing: str) -> Value:
        self._next()
        value = self.total()
        self._expect(closing)
        return value

    def _atom(self) -> Value:
        piece = self._peek()
        if piece in ("(", "["):
            return self._group(")" if piece == "(" else "]")
        if piece == "{":
            return self._group("}")
        self._next()
        if NUMBER.fullmatch(piece):
            if len(piece) > MAX_DIGITS:
                raise Undecidable
            return constant(Fraction(piece))
        if len(piece) == 1 and piece.isascii() and piece.isalpha():
            return self._named(piece)
        return self._command(piece.removeprefix("\\"))

    def _named(self, name: str) -> Value:
        if self._peek() == "_":
            self._next()
            piece = self._next()
            if piece == "{":
                piece = self._next()
                self._expect("}")
            if not piece.isalnum():
                raise Undecidable
            name = f"{name}_{piece}"
        return letter(name)

    def _command(self, name: str) -> Value:
        if name == "frac":
            top = self._braced()
            return multiply(top, inverse(self._braced()))
        if name == "binom":
            n = whole(self._braced())
            return binomial(n, whole(self._braced()))
        if name == "sqrt":
            return square_root(self._braced())
        if name in CONSTANTS:
            return self._named(name)
        raise Undecidable

    def _braced(self) -> Value:
        if self._peek() != "{":
            raise Undecidable
        return self._group("}")
