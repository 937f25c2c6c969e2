r"""Formulas told apart by their values in finite fields: exact, linear, no sympy.

    same_formula("(x-1)(x+1)", "x^2-1")                        # True
    same_formula(r"\frac{1}{2004!}", r"\frac{1}{2006!}")       # False
    same_formula(r"\sqrt{x}", "x")                             # None: not decided here

A formula of numbers, letters, + - * /, whole powers, factorials and binomials is a
rational function with rational coefficients. Two of them that agree at random points
modulo two 61-bit primes are equal, up to a chance of about 10^-30; two that differ
anywhere are different for certain. 2^1000000 costs microseconds here. Roots, other
functions, symbolic powers and nested towers are left to others (None).
"""

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from cotdata.seeds import stable_hash

# Both leave 1 on division by 4, so that -1 has a square root: the letter i.
PRIMES = (2305843009213693921, 2305843009213693693)
MAX_LENGTH = 4_000
MAX_DEPTH = 90
MAX_FACTORIAL = 20_000
MAX_EXACT_BITS = 512
MAX_DIGITS = 400

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<word>\\[a-zA-Z]+|\\.)|(?P<sign>.))", re.DOTALL
)
CONSTANTS = {"pi", "theta", "alpha", "beta", "gamma", "lambda", "mu", "phi", "omega", "delta"}
FUNCTION = re.compile(r"(?<![a-zA-Z\\])[fghFGPQT]\s*(?:_\d)?\(")


class _Undecidable(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Value:
    """Residues modulo the primes; `exact` for small constants, needed as exponents."""

    residues: tuple[int, ...]
    exact: Fraction | None = None


def same_formula(first: str, second: str) -> bool | None:
    one = fingerprint(first)
    other = fingerprint(second) if one is not None else None
    return None if one is None or other is None else one == other


@functools.lru_cache(maxsize=65536)
def fingerprint(text: str) -> tuple[int, ...] | None:
    if len(text) > MAX_LENGTH or FUNCTION.search(text) or text.count("{") > 10 * MAX_DEPTH:
        return None
    try:
        parser = _Parser(text)
        value = parser.total()
        return value.residues if parser.is_done() else None
    except (_Undecidable, ValueError, ZeroDivisionError):
        return None


def _constant(value: Fraction) -> _Value:
    residues = tuple(value.numerator * pow(value.denominator, -1, p) % p for p in PRIMES)
    return _Value(residues, value)


def _small(value: Fraction) -> Fraction | None:
    size = value.numerator.bit_length() + value.denominator.bit_length()
    return value if size <= MAX_EXACT_BITS else None


@functools.cache
def _letter(name: str) -> _Value:
    if name == "i":
        return _Value(tuple(_root_of_minus_one(p) for p in PRIMES))
    return _Value(tuple(stable_hash("letter", name, p) % p for p in PRIMES))


def _root_of_minus_one(prime: int) -> int:
    return next(
        root
        for base in range(2, 100)
        if (root := pow(base, (prime - 1) // 4, prime)) * root % prime == prime - 1
    )


def _add(a: _Value, b: _Value) -> _Value:
    exact = _small(a.exact + b.exact) if a.exact is not None and b.exact is not None else None
    return _Value(_zip(a, b, lambda x, y, p: (x + y) % p), exact)


def _multiply(a: _Value, b: _Value) -> _Value:
    exact = _small(a.exact * b.exact) if a.exact is not None and b.exact is not None else None
    return _Value(_zip(a, b, lambda x, y, p: x * y % p), exact)


def _zip(a: _Value, b: _Value, operate: Callable[[int, int, int], int]) -> tuple[int, ...]:
    return tuple(map(operate, a.residues, b.residues, PRIMES))


def _inverse(a: _Value) -> _Value:
    if a.exact == 0 or 0 in a.residues:
        raise _Undecidable
    residues = tuple(pow(x, -1, p) for x, p in zip(a.residues, PRIMES, strict=True))
    return _Value(residues, None if a.exact is None else 1 / a.exact)


def _power(base: _Value, exponent: _Value) -> _Value:
    if exponent.exact is None or exponent.exact.denominator != 1:
        raise _Undecidable
    times = exponent.exact.numerator
    if times < 0:
        return _power(_inverse(base), _constant(-exponent.exact))
    residues = tuple(pow(x, times, p) for x, p in zip(base.residues, PRIMES, strict=True))
    exact = None
    if base.exact is not None and times <= MAX_EXACT_BITS:
        size = base.exact.numerator.bit_length() + base.exact.denominator.bit_length()
        exact = base.exact**times if size * times <= MAX_EXACT_BITS else None
    return _Value(residues, exact)


def _whole(value: _Value) -> int:
    exact = value.exact
    if exact is None or exact.denominator != 1 or not 0 <= exact <= MAX_FACTORIAL:
        raise _Undecidable
    return int(exact)


@functools.lru_cache(maxsize=256)
def _factorial(n: int) -> _Value:
    residues = []
    for p in PRIMES:
        product = 1
        for factor in range(2, n + 1):
            product = product * factor % p
        residues.append(product)
    return _Value(tuple(residues), Fraction(math.factorial(n)) if n <= 60 else None)


def _binomial(n: int, k: int) -> _Value:
    if k > n:
        return _constant(Fraction(0))
    below = _multiply(_factorial(k), _factorial(n - k))
    quotient = _multiply(_factorial(n), _inverse(below))
    return _constant(Fraction(math.comb(n, k))) if n <= 60 else quotient


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
        token = self._peek()
        self._place += 1
        return token

    def _expect(self, token: str) -> None:
        if self._next() != token:
            raise _Undecidable

    def total(self) -> _Value:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Undecidable
        value = self._signed()
        while self._peek() in ("+", "-"):
            negative = self._next() == "-"
            term = self._product()
            value = _add(value, _negated(term) if negative else term)
        self._depth -= 1
        return value

    def _signed(self) -> _Value:
        if self._peek() in ("+", "-"):
            negative = self._next() == "-"
            value = self._product()
            return _negated(value) if negative else value
        return self._product()

    def _product(self) -> _Value:
        value = self._factor()
        while True:
            token = self._peek()
            if token in (r"\cdot", r"\times", "*"):
                self._next()
                value = _multiply(value, self._signed_factor())
            elif token in ("/", r"\div"):
                self._next()
                value = _multiply(value, _inverse(self._signed_factor()))
            elif token and (token in "({" or token[0].isalnum() or token[0] in "\\."):
                if token[0].isdigit() or token[0] == "." or self._is_mixed_number():
                    raise _Undecidable
                value = _multiply(value, self._factor())
            else:
                return value

    def _is_mixed_number(self) -> bool:
        return self._peek() == r"\frac" and self._tokens[self._place - 1].isdigit()

    def _signed_factor(self) -> _Value:
        if self._peek() == "-":
            self._next()
            return _negated(self._factor())
        return self._factor()

    def _factor(self) -> _Value:
        value = self._atom()
        if self._peek() == "!":
            self._next()
            value = _factorial(_whole(value))
            if self._peek() == "!":
                raise _Undecidable
        if self._peek() == "^":
            self._next()
            value = _power(value, self._exponent())
            if self._peek() in ("!", "^"):
                raise _Undecidable
        return value

    def _exponent(self) -> _Value:
        if self._peek() == "-":
            self._next()
            return _negated(self._exponent())
        token = self._peek()
        if token == "{":
            return self._group("}")
        # TeX reads x^12 as x^1 2; people mean 12. With more than a letter it is unclear.
        value = self._atom()
        if self._peek() == "^":
            self._next()
            return _power(value, self._exponent())
        return value

    def _group(self, closing: str) -> _Value:
        self._next()
        value = self.total()
        self._expect(closing)
        return value

    def _atom(self) -> _Value:
        token = self._peek()
        if token in ("(", "["):
            return self._group(")" if token == "(" else "]")
        if token == "{":
            return self._group("}")
        self._next()
        if token[:1].isdigit() or token[:1] == ".":
            if len(token) > MAX_DIGITS:
                raise _Undecidable
            return _constant(Fraction(token))
        if len(token) == 1 and token.isascii() and token.isalpha():
            return self._named(token)
        return self._command(token.removeprefix("\\"))

    def _named(self, name: str) -> _Value:
        if self._peek() == "_":
            self._next()
            token = self._next()
            if token == "{":
                token = self._next()
                self._expect("}")
            if not token.isalnum():
                raise _Undecidable
            name = f"{name}_{token}"
        return _letter(name)

    def _command(self, name: str) -> _Value:
        if name == "frac":
            top = self._braced()
            return _multiply(top, _inverse(self._braced()))
        if name == "binom":
            n = _whole(self._braced())
            return _binomial(n, _whole(self._braced()))
        if name in CONSTANTS:
            return self._named(name)
        raise _Undecidable

    def _braced(self) -> _Value:
        if self._peek() != "{":
            raise _Undecidable
        return self._group("}")


def _negated(value: _Value) -> _Value:
    return _multiply(_constant(Fraction(-1)), value)
