r"""Whether two answers say the same, as far as that can be decided without sympy.

    compare("\\frac12", "0.5")          # Comparison(equal=True, reason="same_number")
    compare("(1,2)", "\\{1,2\\}")       # Comparison(equal=False, reason="other_kind")
    compare("\\sqrt{12}", "2\\sqrt3")   # Comparison(equal=None, …): ask `cotdata.mathpool`

The first is always the reference. Rules, in order; the first that decides wins:

- text: equal after canonical spelling.
- numbers, exactly and both ways: 0.333333 is not 1/3, 2^53+1 is not 2^53. Mixed
  numbers, thousands, powers of ten and "3 million" are read; leading zeros are free.
- percent: 40% as the reference equals 40%, 40 and 0.4. Without the sign in the
  reference it is a unit and is dropped, or, for a reference between -1 and 1 that is
  no whole number, 40% is 0.4 too.
- units, currency and degrees are dropped and never converted; two known units that
  differ (3 hours, 3 minutes) make the answers differ.
- ratio: 2:3 equals 2/3. Clock times are compared as text.
- base: digits and base must match; a base missing on one side is taken from the other.
- choices: (C), C, `\text{(C)}` and "C: 4" are the choice C; words ignore letter case.
- lists and sets are unordered and equal in length (hedging is wrong); a tuple is
  ordered and is no set; a bare list may stand for a tuple in the same order; a column
  or row vector may stand for a tuple; intervals match by end and bracket; an
  inequality equals its interval.
- equations: of `x = 5` the right side counts where the other answer has no equation;
  two different letters with constant values differ.
- formulas without roots and functions: by value (`cotdata.algebra`).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from cotdata.algebra import fingerprint, same_formula
from cotdata.notation import canonical, squeezed
from cotdata.numerals import Quantity, read_number, read_quantity, units_conflict
from cotdata.shapes import Shape, read_shape

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


def _same(reason: Reason) -> Comparison:
    return Comparison(equal=True, reason=reason)


def _other(reason: Reason) -> Comparison:
    return Comparison(equal=False, reason=reason)


UNDECIDED = Comparison(equal=None, reason="undecided")


def never(first: str, second: str) -> bool | None:
    """The decider that leaves everything open."""
    return None


def compare(reference: str, answer: str, decide: Decider = never) -> Comparison:
    """`decide` is asked about pairs of single values that no rule here decides."""
    gold, said = canonical(reference), canonical(answer)
    if squeezed(gold) == squeezed(said):
        return _same("same_text")
    quick = _numbers(gold, said)
    if quick:
        return quick
    gold, said = _right_sides(gold, said)
    return _shapes(read_shape(gold), read_shape(said), decide)


def _numbers(gold: str, said: str) -> Comparison | None:
    one, other = read_number(gold), read_number(said)
    if one is None or other is None:
        return None
    return _same("same_number") if one == other else _other("other_number")


NAME = r"(?:[a-zA-Z](?:_\{?\w+\}?)?|\\[a-z]+|[a-zA-Z]\([a-zA-Z](?:,\s*[a-zA-Z])*\))"
EQUATION = re.compile(rf"({NAME})\s*=\s*([^=]+)")
EQUAL_SIGN = re.compile(r"(?<![<>!\\])=")


def _right_sides(gold: str, said: str) -> tuple[str, str]:
    """Both without "x =", where that says nothing about their being equal."""
    one, other = EQUATION.fullmatch(gold), EQUATION.fullmatch(said)
    if one and other:
        return (one[2], other[2]) if one[1] == other[1] else (gold, said)
    if one and not EQUAL_SIGN.search(said):
        return one[2], said
    if EQUAL_SIGN.search(said) and not EQUAL_SIGN.search(gold) and not _is_list(said):
        return gold, EQUAL_SIGN.split(said)[-1].strip()
    return gold, said


def _is_list(text: str) -> bool:
    return read_shape(text).kind != "value"


def _shapes(gold: Shape, said: Shape, decide: Decider) -> Comparison:
    if gold.kind == said.kind == "value":
        return _values(gold.text, said.text, decide)
    gold, said = _aligned(gold, said)
    if gold.kind == said.kind == "value":
        return _values(gold.text, said.text, decide)
    if "value" in (gold.kind, said.kind):
        return _against_value(gold, said, decide)
    if gold.kind != said.kind:
        return _other("other_kind")
    if gold.kind == "tuple" and gold.brackets != said.brackets:
        return _other("other_brackets")
    if len(gold.parts) != len(said.parts):
        return _other("other_length")
    ordered = gold.kind in ("tuple", "matrix")
    match = _in_order if ordered else _in_any_order
    return match(gold.parts, said.parts, decide)


def _aligned(gold: Shape, said: Shape) -> tuple[Shape, Shape]:
    """Both as the same kind, where a rule lets one stand for the other."""
    one, other = _vector(gold, said), _vector(said, gold)
    if {one.kind, other.kind} == {"list", "set"}:
        one, other = _as_kind(one, "set"), _as_kind(other, "set")
    if {one.kind, other.kind} == {"list", "tuple"} and "()" in (one.brackets, other.brackets):
        one, other = _as_kind(one, "tuple"), _as_kind(other, "tuple")
    return _only_part(one), _only_part(other)


def _vector(shape: Shape, other: Shape) -> Shape:
    if shape.kind != "matrix" or other.kind not in ("tuple", "list"):
        return shape
    if all(len(row.parts) == 1 for row in shape.parts):
        return Shape("tuple", shape.text, tuple(row.parts[0] for row in shape.parts), "()")
    return shape.parts[0] if len(shape.parts) == 1 else shape


def _as_kind(shape: Shape, kind: Literal["set", "tuple"]) -> Shape:
    return Shape(kind, shape.text, shape.parts, "()" if kind == "tuple" else "")


def _only_part(shape: Shape) -> Shape:
    """A list or set of one value is that value; repeated ones count once."""
    if shape.kind not in ("list", "set"):
        return shape
    parts = tuple({squeezed(part.text): part for part in shape.parts}.values())
    return parts[0] if len(parts) == 1 else Shape(shape.kind, shape.text, parts)


def _against_value(gold: Shape, said: Shape, decide: Decider) -> Comparison:
    """One value against several: wrong, unless it is a word for a set of numbers."""
    value = gold if gold.kind == "value" else said
    if _choice(gold.text) and _choice(said.text):
        return _values(gold.text, said.text, decide)
    if _is_single(value.text):
        return _other("other_length")
    if "list" in (gold.kind, said.kind) and not EQUAL_SIGN.search(value.text):
        return _other("other_length")
    return _asked(gold.text, said.text, decide)


def _is_single(text: str) -> bool:
    """A number, a word or a formula of numbers and letters: never a set or a vector."""
    if read_quantity(text) is not None or _word(text) is not None:
        return True
    return fingerprint(text) is not None


def _asked(gold: str, said: str, decide: Decider) -> Comparison:
    answer = decide(gold, said)
    if answer is None:
        return UNDECIDED
    return _same("same_formula") if answer else _other("other_formula")


def _in_order(gold: tuple[Shape, ...], said: tuple[Shape, ...], decide: Decider) -> Comparison:
    return _all(_shapes(g, s, decide).equal for g, s in zip(gold, said, strict=True))


def _in_any_order(gold: tuple[Shape, ...], said: tuple[Shape, ...], decide: Decider) -> Comparison:
    """Greedy matching is enough: being equal carries over from one to the next."""
    left = list(said)
    found: list[bool | None] = []
    for part in gold:
        answers = [_shapes(part, other, decide).equal for other in left]
        if True in answers:
            left.pop(answers.index(True))
        found.append(True if True in answers else None if None in answers else False)
    return _all(found)


def _all(found: Iterable[bool | None]) -> Comparison:
    answers = list(found)
    if False in answers:
        return _other("other_parts")
    return UNDECIDED if None in answers else _same("same_parts")


def _values(gold: str, said: str, decide: Decider) -> Comparison:
    if squeezed(gold) == squeezed(said):
        return _same("same_text")
    for rule in RULES:
        result = rule(gold, said)
        if result is not None:
            return result
    gold, said = _without_unit(gold), _without_unit(said)
    same = same_formula(gold, said)
    if same is not None:
        return _same("same_formula") if same else _other("other_formula")
    return _asked(gold, said, decide)


def _quantities(gold: str, said: str) -> Comparison | None:
    one, other = read_quantity(gold), read_quantity(said)
    if one is None or other is None:
        return None
    if units_conflict(one.unit, other.unit):
        return _other("other_unit")
    return _same("same_number") if _same_amount(one, other) else _other("other_number")


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
        return _same("same_ratio") if same and len(halves) < 2 else _other("other_ratio")
    first, second = _ratio(gold), _ratio(said)
    if first is None or second is None:
        return None
    return _same("same_ratio") if first == second else _other("other_ratio")


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
    return _same("same_base") if agree else _other("other_base")


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


def _choice(text: str) -> tuple[str, str] | None:
    match = CHOICE.fullmatch(text)
    if match is None:
        return None
    letter = match[1] or match[2]
    # A bare small letter is a variable, and so is a capital that a formula follows.
    if match[2] and not letter.isupper():
        return None
    return letter.upper(), match[3]


def _choices(gold: str, said: str) -> Comparison | None:
    one, other = _choice(gold), _choice(said)
    if one and other:
        return _same("same_choice") if one[0] == other[0] else _other("other_choice")
    if one and one[1]:
        return compare(one[1], said)
    if other and other[1]:
        return compare(gold, other[1])
    return None


TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
FORMULA_SIGN = re.compile(r"[=+*/^_<>\\\d|()\[\]]")
MATH_NAMES = {
    "sin",
    "cos",
    "tan",
    "log",
    "ln",
    "exp",
    "sec",
    "csc",
    "cot",
    "max",
    "min",
    "gcd",
    "lcm",
}


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
    return _same("same_word") if bare[0] == bare[1] else _other("other_word")


HAS_LETTER = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])|\\(?:theta|alpha|beta)")


def _letters(gold: str, said: str) -> Comparison | None:
    """Two different letters, alone or with constant values, are different answers."""
    one, other = EQUATION.fullmatch(gold), EQUATION.fullmatch(said)
    if one and other:
        if HAS_LETTER.search(one[2]) or HAS_LETTER.search(other[2]):
            return None
        return compare(one[2], other[2]) if one[1] == other[1] else _other("other_letter")
    if len(gold) == len(said) == 1 and gold.isalpha() and said.isalpha():
        if gold in "ABCDE" and gold == said.upper():
            return _same("same_choice")
        return _other("other_letter")
    return None


INFINITE = re.compile(r"([-+]?)\s*\\infty")


def _infinities(gold: str, said: str) -> Comparison | None:
    one, other = INFINITE.fullmatch(gold), INFINITE.fullmatch(said)
    if one and other:
        same = (one[1] == "-") == (other[1] == "-")
        return _same("same_number") if same else _other("other_number")
    finite = said if one else gold
    if (one or other) and fingerprint(finite) is not None:
        return _other("other_number")
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
