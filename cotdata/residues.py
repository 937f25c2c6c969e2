r"""Numbers and letters as residues modulo one prime: exact arithmetic at fixed cost.

    multiply(constant(Fraction(1, 2)), letter("x"))

The prime leaves 1 on division by 8 and by every odd prime below 200, so that -1 and
all those primes have square roots there. Letters are fixed random residues. What has
no value here (a root of a letter, a power that is no whole number) is Undecidable.
"""

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

from cotdata.seeds import stable_hash

SMALL_PRIMES = tuple(n for n in range(2, 200) if all(n % d for d in range(2, math.isqrt(n) + 1)))
PRIME = 1 + 25 * 4 * math.prod(SMALL_PRIMES)
MAX_FACTORIAL = 20_000
MAX_EXACT_BITS = 512


class Undecidable(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Value:
    """A residue; `exact` for small constants, which exponents and roots need."""

    residue: int
    exact: Fraction | None = None


def constant(value: Fraction) -> Value:
    return Value(value.numerator * pow(value.denominator, -1, PRIME) % PRIME, value)


def _small(value: Fraction) -> Fraction | None:
    size = value.numerator.bit_length() + value.denominator.bit_length()
    return value if size <= MAX_EXACT_BITS else None


@functools.cache
def letter(name: str) -> Value:
    if name == "i":
        return Value(_field_root(PRIME - 1))
    pieces = (stable_hash("letter", name, place) << 64 * place for place in range(5))
    return Value(sum(pieces) % PRIME)


@functools.cache
def _field_root(square: int) -> int:
    """A square root modulo the prime, by the method of Tonelli and Shanks."""
    odd, twos = PRIME - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    other = next(n for n in range(2, 10**6) if pow(n, (PRIME - 1) // 2, PRIME) == PRIME - 1)
    turn, root = pow(other, odd, PRIME), pow(square, (odd + 1) // 2, PRIME)
    rest = pow(square, odd, PRIME)
    while rest != 1:
        order, power = 0, rest
        while power != 1:
            order, power = order + 1, power * power % PRIME
        step = pow(turn, 1 << (twos - order - 1), PRIME)
        turn, twos = step * step % PRIME, order
        root, rest = root * step % PRIME, rest * turn % PRIME
    return root


def add(a: Value, b: Value) -> Value:
    exact = _small(a.exact + b.exact) if a.exact is not None and b.exact is not None else None
    return Value((a.residue + b.residue) % PRIME, exact)


def multiply(a: Value, b: Value) -> Value:
    exact = _small(a.exact * b.exact) if a.exact is not None and b.exact is not None else None
    return Value(a.residue * b.residue % PRIME, exact)


def inverse(a: Value) -> Value:
    if a.residue == 0:
        raise Undecidable
    return Value(pow(a.residue, -1, PRIME), None if a.exact is None else 1 / a.exact)


def power(base: Value, exponent: Value) -> Value:
    if exponent.exact == Fraction(1, 2):
        return square_root(base)
    if exponent.exact is None or exponent.exact.denominator != 1:
        raise Undecidable
    times = exponent.exact.numerator
    if times < 0:
        return power(inverse(base), constant(-exponent.exact))
    exact = None
    if base.exact is not None and times <= MAX_EXACT_BITS:
        size = base.exact.numerator.bit_length() + base.exact.denominator.bit_length()
        exact = base.exact**times if size * times <= MAX_EXACT_BITS else None
    return Value(pow(base.residue, times, PRIME), exact)


def square_root(square: Value) -> Value:
    """Of a rational number, as a product of the fixed roots of its prime factors."""
    if square.exact is None:
        raise Undecidable
    if square.exact < 0:
        return multiply(letter("i"), square_root(negated(square)))
    # sqrt(a/b) is sqrt(ab)/b.
    outside, inside = _squares_taken_out(square.exact.numerator * square.exact.denominator)
    root = constant(Fraction(outside, square.exact.denominator))
    for prime in SMALL_PRIMES:
        if inside % prime == 0:
            inside //= prime
            root = multiply(root, Value(_field_root(prime)))
    if inside != 1:
        raise Undecidable
    return root


def _squares_taken_out(number: int) -> tuple[int, int]:
    outside = 1
    for prime in SMALL_PRIMES:
        while number and number % (prime * prime) == 0:
            number, outside = number // (prime * prime), outside * prime
    whole = math.isqrt(number)
    return (outside * whole, 1) if whole * whole == number else (outside, number)


def whole(value: Value) -> int:
    exact = value.exact
    if exact is None or exact.denominator != 1 or not 0 <= exact <= MAX_FACTORIAL:
        raise Undecidable
    return int(exact)


@functools.lru_cache(maxsize=256)
def factorial(n: int) -> Value:
    product = 1
    for factor in range(2, n + 1):
        product = product * factor % PRIME
    return Value(product, Fraction(math.factorial(n)) if n <= 60 else None)


def binomial(n: int, k: int) -> Value:
    if k > n:
        return constant(Fraction(0))
    below = multiply(factorial(k), factorial(n - k))
    quotient = multiply(factorial(n), inverse(below))
    return constant(Fraction(math.comb(n, k))) if n <= 60 else quotient


def negated(value: Value) -> Value:
    return multiply(constant(Fraction(-1)), value)
