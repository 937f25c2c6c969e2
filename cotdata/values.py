r"""Whether two single values are the same: numbers, units, choices, words, formulas.

    compare_values("40\\%", "0.4", never)       # Comparison(equal=True, reason="same_number")
    compare_values("1101_2", "1101_3", never)   # Comparison(equal=False, reason="other_base")

The rules are stated in `cotdata.equivalence`, which takes lists, tuples and intervals
apart first. The first rule that decides wins; both texts are canonical.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from cotdata.algebra import fingerprint, same_formula
from cotdata.notation import squeezed
from cotdata.numerals import Quantity, read_number, read_quantity, units_conflict

Reason = Literal[
    "same_text", "same_number", "same_choice", "same_word", "same_base", "same_ratio", "same_parts",
    "same_formula", "other_number", "other_unit", "other_choice", "other_word", "other_base",
    "other_ratio", "other_kind", "other_length", "other_parts", "other_brackets", "other_letter",
    "other_formula", "undecided",
]  # fmt: skip
Decider = Callable[[str, str], bool | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """`equal` is None where only computer algebra can tell."""

    equal: bool | None
    reason: Reason


def agrees(reason: Reason) -> Comparison:
    return Comparison(equal=True, reason=reason)


def differs(reason: Reason) -> Comparison:
    return Comparison(equal=False, reason=reason)


UNDECIDED = Comparison(equal=None, reason="undecided")


def never(first: str, second: str) -> bool | None:
    """The decider that leaves everything open."""
    return None


def compare_numbers(gold: str, said: str) -> Comparison | None:
    one, other = read_number(gold), read_number(said)
    if one is None or other is None:
        return None
    return agrees("same_number") if one == other else differs("other_number")


NAME = r"(?:[a-zA-Z](?:_\{?\w+\}?)?|\\[a-z]+|[a-zA-Z]\([a-zA-Z](?:,\s*[a-zA-Z])*\))"
EQUATION = re.compile(rf"({NAME})\s*=\s*([^=]+)")
EQUAL_SIGN = re.compile(r"(?<![<>!\\])=")


def is_single(text: str) -> bool:
    """A number, a word or a formula of numbers and letters: never a set or a vector."""
    if read_quantity(text) is not None or _word(text) is not None:
        return True
    return fingerprint(text) is not None


def asked(gold: str, said: str, decide: Decider) -> Comparison:
    answer = decide(gold, said)
    if answer is None:
        return UNDECIDED
    return agrees("same_formula") if answer else differs("other_formula")


def compare_values(gold: str, said: str, decide: Decider) -> Comparison:
    if squeezed(gold) == squeezed(said):
        return agrees("same_text")
    for rule in RULES:
        result = rule(gold, said)
        if result is not None:
            return result
    bare = _without_frame(gold, said)
    if bare != (gold, said):
        return compare_values(*bare, decide)
    gold, said = _without_unit(gold), _without_unit(said)
    same = same_formula(gold, said)
    if same is not None:
        return agrees("same_formula") if same else differs("other_formula")
    return asked(gold, said, decide)


def _quantities(gold: str, said: str) -> Comparison | None:
    one, other = read_quantity(gold), read_quantity(said)
    if one is None or other is None:
        return None
    if units_conflict(one.unit, other.unit):
        return differs("other_unit")
    return agrees("same_number") if _same_amount(one, other) else differs("other_number")


def _same_amount(gold: Quantity, said: Quantity) -> bool:
    if gold.value == said.value:
        return True
    if gold.is_percent and not said.is_percent:
        return gold.value == 100 * said.value
    is_share = abs(gold.value) < 1 and gold.value != 0
    return said.is_percent and not gold.is_percent and is_share and 100 * gold.value == said.value


CLOCK = re.compile(r"(\d{1,2}):(\d\d)\s*(?:\\text\{)?\s*(?:([apAP])\.?\s*[mM]\.?)?\s*\}?")
RATIO = re.compile(r"\d{1,18}(?:\s*:\s*\d{1,18})+")


def _ratios(gold: str, said: str) -> Comparison | None:
    if ":" not in gold and ":" not in said:
        return None
    one, other = CLOCK.fullmatch(gold), CLOCK.fullmatch(said)
    if one and other:
        same = [int(n) for n in one.groups()[:2]] == [int(n) for n in other.groups()[:2]]
        halves = {half.lower() for half in (one[3], other[3]) if half}
        return agrees("same_ratio") if same and len(halves) < 2 else differs("other_ratio")
    first, second = _ratio(gold), _ratio(said)
    if first is None or second is None:
        return None
    return agrees("same_ratio") if first == second else differs("other_ratio")


def _ratio(text: str) -> tuple[Fraction, ...] | None:
    """The terms divided by the last one; a number is a ratio to 1."""
    if RATIO.fullmatch(text):
        terms = [int(term) for term in text.split(":")]
        return tuple(Fraction(term, terms[-1]) for term in terms) if terms[-1] else None
    number = read_number(text)
    return None if number is None else (number, Fraction(1))


BASE_NAMES = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip
BASED = re.compile(
    r"(?=[A-Z]*\d)([0-9A-Z]+)\s*_\s*(?:\{\s*)?(?:\\text\{\s*)?(\d+|[a-z]+)\s*\}?\s*\}?"
    r"|(?=[A-Z]*\d)([0-9A-Z]+)\s*\\text\{\s*\(?base\s+(\d+|[a-z]+)\)?\s*\}"
)
DIGITS = re.compile(r"[0-9A-Z]+")


def _bases(gold: str, said: str) -> Comparison | None:
    one, other = _based(gold), _based(said)
    if (one or other) is None or not (one or DIGITS.fullmatch(gold)):
        return None
    if not (other or DIGITS.fullmatch(said)):
        return None
    digits, base = one or (gold.lstrip("0"), "")
    said_digits, said_base = other or (said.lstrip("0"), "")
    agree = digits == said_digits and (not base or not said_base or base == said_base)
    return agrees("same_base") if agree else differs("other_base")


def _based(text: str) -> tuple[str, str] | None:
    match = BASED.fullmatch(text)
    if match is None:
        return None
    base = match[2] or match[4]
    if base in BASE_NAMES:
        base = str(BASE_NAMES.index(base) + 2)
    return ((match[1] or match[3]).lstrip("0"), base) if base.isdigit() else None


CHOICE = re.compile(
    r"(?:(?:option|choice|answer)\s+)?(?:\\text\{)?\s*"
    r"(?:\(\s*([A-Ja-e])\s*\)\s*\}?|([A-J])\s*\}?(?=\s*[.:)]|\s*$))\s*[.:)]?\s*\}?\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)


def read_choice(text: str) -> tuple[str, str] | None:
    match = CHOICE.fullmatch(text)
    if match is None:
        return None
    letter = match[1] or match[2]
    # A bare small letter is a variable, and so is a capital that a formula follows.
    if match[2] and not letter.isupper() and not text.endswith(")"):
        return None
    return letter.upper(), match[3]


def _choices(gold: str, said: str) -> Comparison | None:
    one, other = read_choice(gold), read_choice(said)
    if one and other:
        return agrees("same_choice") if one[0] == other[0] else differs("other_choice")
    return None


def _without_frame(gold: str, said: str) -> tuple[str, str]:
    """The values behind a choice's letter, or of two equations for the same name."""
    one, other = EQUATION.fullmatch(gold), EQUATION.fullmatch(said)
    if one and other and one[1] == other[1]:
        return one[2], other[2]
    first, second = read_choice(gold), read_choice(said)
    if first and first[1]:
        return first[1], said
    return (gold, second[1]) if second and second[1] else (gold, said)


TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
FORMULA_SIGN = re.compile(r"[=+*/^_<>\\\d|()\[\]]")
MATH_NAMES = frozenset(
    ("sin", "cos", "tan", "log", "ln", "exp", "sec", "csc", "cot", "max", "min", "gcd", "lcm")
)


def _word(text: str) -> str | None:
    """The letters of a text that is words and no formula."""
    plain = TEXT.sub(r" \1 ", text).strip()
    if FORMULA_SIGN.search(plain):
        return None
    words = re.findall(r"[^\W\d_]+", plain)
    is_text = "\\text" in text
    if not words or not (is_text or any(len(word) > 3 for word in words)):
        return None
    if not is_text and MATH_NAMES & {word.lower() for word in words}:
        return None
    return "".join(words).casefold()


def _words(gold: str, said: str) -> Comparison | None:
    one, other = _word(gold), _word(said)
    if one is None and other is None:
        return None
    bare = [word or squeezed(text).casefold() for word, text in ((one, gold), (other, said))]
    return agrees("same_word") if bare[0] == bare[1] else differs("other_word")


HAS_LETTER = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])|\\(?:theta|alpha|beta)")


def _letters(gold: str, said: str) -> Comparison | None:
    """Two different letters, alone or with constant values, are different answers."""
    one, other = EQUATION.fullmatch(gold), EQUATION.fullmatch(said)
    if one and other:
        is_constant = not HAS_LETTER.search(one[2]) and not HAS_LETTER.search(other[2])
        return differs("other_letter") if is_constant and one[1] != other[1] else None
    if len(gold) == len(said) == 1 and gold.isalpha() and said.isalpha():
        if gold in "ABCDE" and gold == said.upper():
            return agrees("same_choice")
        return differs("other_letter")
    return None


INFINITE = re.compile(r"([-+]?)\s*\\infty")


def _infinities(gold: str, said: str) -> Comparison | None:
    one, other = INFINITE.fullmatch(gold), INFINITE.fullmatch(said)
    if one and other:
        same = (one[1] == "-") == (other[1] == "-")
        return agrees("same_number") if same else differs("other_number")
    finite = said if one else gold
    if (one or other) and fingerprint(finite) is not None:
        return differs("other_number")
    return None


TRAILING_UNIT = re.compile(r"(?:\s*\\text\{[^{}=]*\}(?:\^(?:\d|\{\d\}))?|\s*\^\\circ|\s*\\%)\s*$")


ANGLE = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-z])")


def _without_unit(text: str) -> str:
    if ANGLE.search(text):
        return text
    rest = TRAILING_UNIT.sub("", text)
    return rest if rest.strip() else text


Rule = Callable[[str, str], Comparison | None]
RULES: tuple[Rule, ...] = (_quantities, _ratios, _bases, _choices, _words, _letters, _infinities)
