r"""Arithmetic expressions as a model writes them, read exactly and never evaluated as code.

    read(r"4 \times (6 - 2) = 16", target=16)     # value 16, numbers [4, 6, 2]

Tokens are ASCII digits, + - * / and brackets; an operator stack works on exact
integers and fractions, without recursion, in one pass over the text. Accepted after
cleaning: × ÷ − and their like, \times \cdot \div \frac \boxed, $ and code marks,
square and curly brackets, thousands commas that are well formed, one = whose other
side is the bare target, a closing period, signs before a number. Not accepted:
powers, //, decimals, leading zeros, implicit products, digits other than 0-9, names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

Number = int | Fraction

MAX_CHARACTERS = 20_000
MAX_DIGITS = 40

PLAIN = re.compile(r"(?!\*)[-+*/() \n0-9]*", re.ASCII)
TOKEN = re.compile(r"\s*(?:([0-9]+)|([-+()]|\*(?!\*)|/(?!/)))", re.ASCII)
SYMBOLS = str.maketrans({
    **dict.fromkeys("×·⋅∙•∗＊✕✖⨯", "*"), **dict.fromkeys("÷∕⁄／", "/"),
    **dict.fromkeys("−–‐‑‒﹣－", "-"), **dict.fromkeys("＋﹢", "+"), "＝": "=",
    "[": "(", "]": ")", "（": "(", "）": ")",
    **dict.fromkeys("$`\u00a0\u2002\u2003\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff"),
})  # fmt: skip
COMMANDS = re.compile(
    r"\\(?:(times|cdot|ast|div)|left|right|boxed|fbox|displaystyle|[,!;: ()\[\]])(?![a-zA-Z])"
)
COMMAND_TEXT = {"times": "*", "cdot": "*", "ast": "*", "div": "/", None: " "}
BRACES = re.compile(r"\\[dt]?frac\s*\{|\}\s*\{|[{}]")
THOUSANDS = re.compile(r"(?<![0-9,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])")
OPENING = {"numerator": "((", "denominator": "(", "group": "("}
CLOSING = {"numerator": ")/", "denominator": "))", "group": ")"}
PRECEDENCE = {"(": 0, "+": 1, "-": 1, "*": 2, "/": 2, "plus": 3, "minus": 3}


class BadExpression(ValueError):
    """`reason` is a short code, such as too_long, not_allowed, bad_syntax or zero_division."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Expression:
    """`numbers` are those written in it, in order, without the side after =."""

    value: Number
    numbers: list[int]


def read(text: str, *, target: int | None = None) -> Expression:
    """The expression in an answer; raises BadExpression for anything else."""
    if len(text) > MAX_CHARACTERS:
        raise BadExpression("too_long", f"{len(text):,} characters")
    return evaluate(text if PLAIN.fullmatch(text) else _without_target(cleaned(text), target))


def cleaned(text: str) -> str:
    text = text.strip()
    if text.startswith("**") and text.endswith("**"):
        text = text[2:-2]
    text = COMMANDS.sub(lambda match: COMMAND_TEXT[match[1]], text).translate(SYMBOLS)
    text = THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    return _unbraced(text.strip().removesuffix(".")).strip()


def _unbraced(text: str) -> str:
    r"""Braces as brackets and \frac{a}{b} as ((a)/(b)); as it was where they do not pair."""
    pieces: list[str] = []
    is_open: list[str] = []
    place = 0
    for match in BRACES.finditer(text):
        pieces.append(text[place : match.start()])
        place = match.end()
        if match[0].startswith("}"):
            if not is_open or (is_open[-1] == "numerator" and match[0] == "}"):
                return text
            pieces.append(CLOSING[is_open[-1]])
            before = is_open.pop()
        if match[0].endswith("{"):
            after = "numerator" if "frac" in match[0] else "group"
            if match[0].startswith("}") and before == "numerator":
                after = "denominator"
            pieces.append(OPENING[after])
            is_open.append(after)
    return text if is_open else "".join([*pieces, text[place:]])


def _without_target(text: str, target: int | None) -> str:
    """`4*6 = 24` and `24 = 4*6` are 4*6 where 24 is the target."""
    if "=" not in text:
        return text
    left, _, right = text.partition("=")
    if (depth := left.count("(") - left.count(")")) > 0:
        # The equation as a whole stands in brackets.
        left, right = left.lstrip()[depth:], right.rstrip()[:-depth]
    if target is not None and _bare(right) == str(target):
        return left
    if target is not None and _bare(left) == str(target):
        return right
    raise BadExpression("bad_equation", f"neither side of = is {target}")


def _bare(side: str) -> str:
    side = side.strip()
    while side.startswith("(") and side.endswith(")"):
        side = side[1:-1].strip()
    return side


def evaluate(text: str) -> Expression:
    """Value and numbers of an expression in plain notation."""
    values: list[Number] = []
    operators: list[str] = []
    numbers: list[int] = []
    place, wants_operand = 0, True
    while match := TOKEN.match(text, place):
        place = match.end()
        digits, symbol = match.groups()
        if digits:
            if not wants_operand:
                raise BadExpression("bad_syntax", f"no operator before {digits[:40]}")
            numbers.append(_number(digits))
            values.append(numbers[-1])
            wants_operand = False
        elif wants_operand:
            _open_or_sign(symbol, operators)
        else:
            wants_operand = _close_or_operate(symbol, operators, values)
    if text[place:].strip():
        raise BadExpression("not_allowed", f"cannot read {text[place : place + 20]!r}")
    if wants_operand:
        raise BadExpression("bad_syntax", "an operand is missing")
    while operators:
        if operators[-1] == "(":
            raise BadExpression("bad_syntax", "a bracket is not closed")
        _apply(operators.pop(), values)
    return Expression(values[0], numbers)


def _number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise BadExpression("bad_number", f"a number of {len(digits):,} digits")
    if digits[0] == "0" and len(digits) > 1:
        raise BadExpression("bad_number", f"leading zero in {digits}")
    return int(digits)


def _open_or_sign(symbol: str, operators: list[str]) -> None:
    if symbol == "(":
        operators.append("(")
    elif symbol in "+-":
        operators.append("plus" if symbol == "+" else "minus")
    else:
        raise BadExpression("bad_syntax", f"an operand is missing before {symbol}")


def _close_or_operate(symbol: str, operators: list[str], values: list[Number]) -> bool:
    """Whether an operand comes next."""
    if symbol == "(":
        raise BadExpression("bad_syntax", "no operator before a bracket")
    floor = 1 if symbol == ")" else PRECEDENCE[symbol]
    while operators and PRECEDENCE[operators[-1]] >= floor:
        _apply(operators.pop(), values)
    if symbol == ")":
        if not operators:
            raise BadExpression("bad_syntax", "a bracket was never opened")
        operators.pop()
        return False
    operators.append(symbol)
    return True


def _apply(operator: str, values: list[Number]) -> None:
    right = values.pop()
    if operator in ("plus", "minus"):
        values.append(-right if operator == "minus" else right)
        return
    left = values.pop()
    if operator == "+":
        values.append(left + right)
    elif operator == "-":
        values.append(left - right)
    elif operator == "*":
        values.append(left * right)
    elif right == 0:
        raise BadExpression("zero_division", "division by zero")
    else:
        # Whole quotients stay integers, which are much faster than fractions.
        quotient = Fraction(left) / right
        values.append(quotient.numerator if quotient.denominator == 1 else quotient)
