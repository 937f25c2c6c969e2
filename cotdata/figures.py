r"""The numbers that stand in a text, and other numbers written the same way.

    [f.value for f in figures("$1,200 is 3.50 each")]     # [1200, Fraction(7, 2)]
    written_like("1,200", Fraction(1300))                 # "1,300"

A figure is digits with well-formed thousands commas and a decimal part; signs and
currency stand outside it. Digits glued to letters, clock times and broken groups
("2x", "6:48", "0,2") are names here, not numbers.
"""

import re
from fractions import Fraction
from typing import NamedTuple

Number = int | Fraction

DIGITS = r"(?:\d{1,3}(?:(?:,|\{,\}|,\\!)\d{3,})+|\d+)(?:\.\d+)?|\.\d+"
FIGURE = re.compile(rf"(?<![\w.,:\\])(?:{DIGITS})(?![\w:]|[,.]\d)", re.ASCII)
GROUPING = str.maketrans("", "", ",{}\\!")
MAX_DIGITS = 60


class Figure(NamedTuple):
    """`places` counts the decimals printed."""

    start: int
    end: int
    value: Number
    places: int


def figure(text: str, start: int, end: int) -> Figure:
    return Figure(start, end, *read(text[start:end]))


def read(digits: str) -> tuple[Number, int]:
    """The value, and how many decimals are printed."""
    if digits.isdigit():
        return int(digits), 0
    whole, _, decimals = digits.translate(GROUPING).partition(".")
    if not decimals:
        return int(whole), 0
    return Fraction(int(whole + decimals), 10 ** len(decimals)), len(decimals)


def figures(text: str) -> list[Figure]:
    found = (match.span() for match in FIGURE.finditer(text))
    return [figure(text, *span) for span in found if span[1] - span[0] <= MAX_DIGITS]


def written_like(sample: str, value: Number) -> str | None:
    """Commas where the sample has them or is too short to tell, its decimals, no float tail.

    None for a value that those decimals cannot show or that is negative.
    """
    places = len(sample.partition(".")[2])
    scaled = value * 10**places
    if scaled.denominator != 1 or value < 0:
        return None
    digits = str(int(scaled)).zfill(places + 1)
    whole, decimals = (digits[:-places], digits[-places:]) if places else (digits, "")
    if "," in sample:
        comma = "{,}" if "{,}" in sample else ","
        whole = f"{int(whole):,}".replace(",", comma)
    if sample.startswith(".") and whole == "0":
        whole = ""
    return f"{whole}.{decimals}" if places else whole
