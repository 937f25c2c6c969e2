r"""Numbers as people write them, read exactly: no float, no sympy.

    read_number("1,234.50")               # Fraction(2469, 2)
    read_number(r"2\frac{1}{4}")          # Fraction(9, 4)
    read_quantity("40\\%").value          # 40, with is_percent
    read_quantity(r"12\text{ cm}^2").unit # "cm"

Read: thousands grouped by commas or single spaces, decimals, fractions in both
notations, mixed numbers, powers of ten, "3 million". The text must be canonical
(`cotdata.notation`). Longer than 400 digits is not a number here. Units are never
converted; two stated units of one kind that differ make two quantities differ.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

MAX_DIGITS = 400
MAX_EXPONENT = 999

_PLAIN = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?:[ ]\d{3})+(?!\d)|\d+)(?:\.\d*)?|\.\d+"
HEAD = re.compile(
    rf"""(?P<sign>[-+]?)\s*(?:
      (?P<whole>\d+)?\s*\\frac\{{\s*(?P<top>-?(?:{_PLAIN}))\s*\}}\{{\s*(?P<bottom>-?(?:{_PLAIN}))\s*\}}
    | (?:(?P<units>\d+)\ )?(?P<upper>\d+)\s*/\s*(?P<lower>\d+)(?![.\d])
    | 10\^(?:\{{(?P<power>-?\d+)\}}|(?P<digit>\d))
    | (?P<plain>{_PLAIN})(?:[eE](?P<e>[-+]?\d+)|
        \s*(?:\\times|\\cdot|\*|x)\s*10\s*\^\s*(?:\{{\s*(?P<braced>-?\d+)\s*\}}|(?P<bare>\d)))?
    )""",
    re.VERBOSE | re.ASCII,
)
MULTIPLES = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_MATH_WORDS = "and|or|pi|sqrt|sin|cos|tan|log|ln|exp|mod|frac|times|plus|minus|over|to|base|in|oo"
UNITS = {
    "s": "second sec s", "min": "minute min", "h": "hour hr h", "d": "day", "wk": "week wk",
    "mo": "month", "yr": "year yr", "mm": "millimeter millimetre mm",
    "cm": "centimeter centimetre cm",
    "m": "meter metre m", "km": "kilometer kilometre km", "in": "inch inche in",
    "ft": "foot feet ft", "yd": "yard yd", "mi": "mile mi", "mg": "milligram mg", "g": "gram g",
    "kg": "kilogram kg", "lb": "pound lb", "oz": "ounce oz", "ml": "milliliter millilitre ml",
    "l": "liter litre l", "gal": "gallon gal", "qt": "quart", "pt": "pint", "cup": "cup",
    "cent": "cent", "dollar": "dollar",
}  # fmt: skip
SHORT = {word: short for short, words in UNITS.items() for word in words.split()}
_KNOWN = "|".join(word for word in SHORT if len(word) > 1)
# Behind a space any word is a unit; without one, or as a single letter, only a known one.
UNIT = re.compile(
    rf"""\s*(?:\\text\{{\s*(?P<text>[^{{}}\d=]*[a-zA-Z][^{{}}\d=]*)\}}
    | \s(?P<words>(?!(?:{_MATH_WORDS})\b)[a-zA-Z]{{2,}}\.?(?:[\s/-][a-zA-Z]+\.?)*)
    | (?P<known>(?:{_KNOWN})s?\.?) | \s(?P<letter>[mgshl]))
    \s*(?:/\s*(?:\\text\{{[^{{}}]*\}}|[a-z]+))?\s*(?:\^\s*(?:\d|\{{\s*\d\s*\}}))?\s*
    (?:\\text\{{[^{{}}\d]*\}})?""",
    re.VERBOSE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    value: Fraction
    is_percent: bool = False
    unit: str = ""


def read_number(text: str) -> Fraction | None:
    """The value of a text that is one number and nothing else."""
    head = HEAD.match(text)
    return _value(head) if head and head.end() == len(text) else None


def read_quantity(text: str) -> Quantity | None:
    """A number with the percent sign, degree sign or unit behind it."""
    head = HEAD.match(text)
    value = _value(head) if head else None
    if head is None or value is None:
        return None
    rest = text[head.end() :].strip(" ")
    if not rest:
        return Quantity(value=value)
    if rest == r"\%":
        return Quantity(value=value, is_percent=True)
    if rest.replace(" ", "") == r"^\circ":
        return Quantity(value=value)
    unit = UNIT.fullmatch(text, head.end())
    return _with_unit(value, unit) if unit else None


def _with_unit(value: Fraction, unit: re.Match[str]) -> Quantity:
    named = unit["text"] or unit["words"] or unit["known"] or unit["letter"]
    words = named.strip().lower().split()
    if words[0] in MULTIPLES:
        return Quantity(value=value * MULTIPLES[words[0]])
    return Quantity(value=value, unit=" ".join(words))


def _value(head: re.Match[str]) -> Fraction | None:
    if head.end() - head.start() > MAX_DIGITS:
        return None
    size = _size(head)
    if size is None:
        return None
    return -size if head["sign"] == "-" else size


def _size(head: re.Match[str]) -> Fraction | None:
    if head["plain"] is not None:
        return _scaled(_decimal(head["plain"]), head["e"] or head["braced"] or head["bare"])
    if head["bottom"] is not None:
        return _ratio(head["whole"], _decimal(head["top"]), _decimal(head["bottom"]))
    if head["lower"] is not None:
        return _ratio(head["units"], Fraction(head["upper"]), Fraction(head["lower"]))
    return _scaled(Fraction(1), head["power"] or head["digit"])


def _decimal(text: str) -> Fraction:
    text = text.replace(",", "").replace(" ", "")
    return Fraction(text.removesuffix(".") if text.endswith(".") else text)


def _ratio(whole: str | None, top: Fraction, bottom: Fraction) -> Fraction | None:
    """A mixed number needs a proper fraction: 2 3/1 and 12 5/2 are none."""
    if bottom == 0:
        return None
    if whole is None:
        return top / bottom
    return Fraction(whole) + top / bottom if 0 <= top < bottom else None


def _scaled(value: Fraction, exponent: str | None) -> Fraction | None:
    if exponent is None:
        return value
    if len(exponent) > 4 or abs(int(exponent)) > MAX_EXPONENT:
        return None
    return value * Fraction(10) ** int(exponent)


def units_conflict(first: str, second: str) -> bool:
    """Both name a known unit and not the same one; an unknown word is no unit."""
    one, other = _short(first), _short(second)
    return one is not None and other is not None and one != other


def _short(unit: str) -> str | None:
    word = unit.split(" ")[0].rstrip(".") if unit else ""
    return SHORT.get(word) or SHORT.get(word.removesuffix("s"))
