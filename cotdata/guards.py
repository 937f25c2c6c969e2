r"""Formulas that no computer algebra should be asked about, by their text alone.

    too_complex("9^{9^{9^{9}}}")            # "tower"
    too_complex(r"\sum_{k=1}^{10} k")       # None

It is a filter before `cotdata.mathpool`, whose clock catches what passes it. What can
be told apart exactly without computing it (`cotdata.algebra`) never comes here.
"""

import re
from typing import Literal

Hazard = Literal["long_text", "long_number", "deep_nesting", "tower", "big_power", "big_bound"]

MAX_LENGTH = 2_000
MAX_NESTING = 40
LONG_NUMBER = re.compile(r"\d{400}")
BIG_POWER = re.compile(r"\^\s*(?:\{\s*)?(?:\(\s*)?[-+]?\s*\d{4,}|\d{4,}\s*[)}]*\s*!")
BIG_BOUND = re.compile(
    r"\\(?:sum|prod|binom|gcd|lcm|int|Gamma|zeta)(?![a-z])|!|\bgcd\b|\blcm\b|\bC\("
)
LONG_RUN = re.compile(r"\d{5,}")
BRACKETS = re.compile(r"(?<!\\)[{}]|[()\[\]]")
BARE_TOWER = re.compile(r"\^\s*[\d.]+\s*\^")


def too_complex(text: str) -> Hazard | None:
    if len(text) > MAX_LENGTH:
        return "long_text"
    if LONG_NUMBER.search(text):
        return "long_number"
    if _nesting(text) > MAX_NESTING:
        return "deep_nesting"
    if BARE_TOWER.search(text) or any(map(_is_numeric_power, _exponents(text))):
        return "tower"
    if BIG_POWER.search(text):
        return "big_power"
    if BIG_BOUND.search(text) and LONG_RUN.search(text):
        return "big_bound"
    return None


def _nesting(text: str) -> int:
    depth = deepest = 0
    for bracket in BRACKETS.finditer(text):
        depth += 1 if bracket.group() in "{([" else -1
        deepest = max(deepest, depth)
    return deepest


def _exponents(text: str) -> list[str]:
    """The contents of every braced or bracketed exponent."""
    found = []
    for start in re.finditer(r"\^\s*[{(]", text):
        depth = 1
        for bracket in BRACKETS.finditer(text, start.end()):
            depth += 1 if bracket.group() in "{([" else -1
            if depth == 0:
                found.append(text[start.end() : bracket.start()])
                break
    return found


def _is_numeric_power(exponent: str) -> bool:
    """A power of numbers in an exponent: 2^{2^{64}}, but not e^{x^2}."""
    return bool(re.search(r"\d\s*[)}]*\s*\^|!", exponent))
