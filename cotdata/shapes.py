r"""What kind of thing an answer is: one value, a list, a tuple, an interval, a matrix.

    read_shape(r"[2,\infty)")            # Shape("tuple", ("2", r"\infty"), brackets="[)")
    read_shape("x<1 or x>3")             # Shape("union", …): two open intervals
    read_shape(r"\{1,2\}")               # Shape("set", ("1", "2"))

Rules: a bare list, "a and b" and `a \pm b` are unordered lists; round brackets round
two values are a tuple and an open interval alike; an inequality in one letter is the
interval it describes; three or more values in square brackets are a tuple; rows of a
matrix are tuples. The text must be canonical (`cotdata.notation`).
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from cotdata.numerals import read_number

Kind = Literal["value", "list", "set", "tuple", "union", "matrix"]


@dataclass(frozen=True, slots=True)
class Shape:
    """`text` is the whole; `brackets` are a tuple's, "()" for a plain one."""

    kind: Kind
    text: str
    parts: tuple["Shape", ...] = ()
    brackets: str = ""
    names: tuple[str, ...] = field(default=(), compare=False)


MAX_PARTS = 100
MAX_NESTING = 8
OPENERS = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", r"\langle": r"\rangle"}
CLOSERS = {")", "]", "}", r"\}", r"\rangle"}
PIECE = re.compile(
    r"\\text\s*\{\s*,?\s*(?:and|or)\s*,?\s*\}|\\begin\{[a-z]*matrix\}|\\end\{[a-z]*matrix\}"
    r"|\\cup(?![a-z])|\\langle|\\rangle|\\[{}\\]|(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])"
    r"|[()\[\]{},;&]"
)
MATRIX = re.compile(r"\\begin\{([pbBvV]?matrix|array)\}(?:\{[clr|]*\})?(.*)\\end\{\1\}", re.DOTALL)
ASSIGNED = re.compile(r"([a-zA-Z](?:_\{?\w\}?)?|\\[a-z]+)\s*(?:=|\\in(?![a-z]))\s*(?=[^=])")
LETTER = r"(?:[a-zA-Z]|\\(?:theta|alpha|beta|lambda|phi))"
ORDER = r"(<|>|\\le(?![a-z])|\\ge(?![a-z]))"
BETWEEN = re.compile(rf"([^<>]+?)\s*{ORDER}\s*({LETTER})\s*{ORDER}\s*([^<>]+)")
ONE_SIDED = re.compile(rf"({LETTER})\s*{ORDER}\s*([^<>]+)")
ONE_SIDED_BACK = re.compile(rf"([^<>]+?)\s*{ORDER}\s*({LETTER})")
INFINITY = re.compile(r"\+?\s*(?:\\infty|\\text\{\s*inf(?:inity)?\s*\}|infinity|oo)")


@functools.lru_cache(maxsize=65536)
def read_shape(text: str) -> Shape:
    return _shape(text, MAX_NESTING)


def _shape(text: str, depth: int) -> Shape:
    text = text.strip()
    if depth == 0 or read_number(text) is not None:
        return Shape("value", text)
    return (
        _matrix(text, depth)
        or _words(text, depth)
        or _several(text, depth)
        or _bracketed(text, depth)
        or _inequality(text)
        or _plus_minus(text)
        or Shape("value", INFINITY.sub(r"\\infty", text))
    )


def _split(text: str, *separators: str) -> list[str]:
    """The pieces between separators that stand outside all brackets."""
    pieces, depth, start = [], 0, 0
    for piece in PIECE.finditer(text):
        token = piece.group()
        if token in OPENERS or token.startswith(r"\begin"):
            depth += 1
        elif token in CLOSERS or token.startswith(r"\end"):
            depth -= 1
        elif depth == 0 and _kind(token) in separators:
            pieces.append(text[start : piece.start()])
            start = piece.end()
    return [*pieces, text[start:]]


def _kind(token: str) -> str:
    return "and" if token.startswith(r"\text") or token in ("and", "or") else token


def _matrix(text: str, depth: int) -> Shape | None:
    whole = MATRIX.fullmatch(text)
    if whole is None or whole[1] in ("vmatrix", "Vmatrix"):
        return None
    rows = [row for row in _split(whole[2], r"\\") if row.strip(r" \hline")]
    if len(rows) > MAX_PARTS:
        return None
    parts = [Shape("tuple", row, _parts(_split(row, "&"), depth), "()") for row in rows]
    return Shape("matrix", text, tuple(parts))


def _parts(pieces: list[str], depth: int) -> tuple[Shape, ...]:
    return tuple(_shape(piece, depth - 1) for piece in pieces)


def _words(text: str, depth: int) -> Shape | None:
    """A list inside one text command: each of its words is a text of its own."""
    whole = re.fullmatch(r"\\text\{([^{}]*)\}", text)
    pieces = _split(whole[1], "and", ",", ";") if whole else []
    words = [rf"\text{{{piece.strip()}}}" for piece in pieces if piece.strip()]
    return Shape("list", text, _parts(words, depth)) if 1 < len(words) <= MAX_PARTS else None


def _several(text: str, depth: int) -> Shape | None:
    member = re.match(rf"{LETTER}\s*\\in(?![a-z])\s*", text)
    if member:
        return _shape(text[member.end() :], depth - 1)
    either = _split(text, "and", ",", ";")
    ranges = _split(text, r"\cup") if len(either) == 1 else either
    if not 1 < len(ranges) <= MAX_PARTS:
        return None
    parts = _parts([piece for piece in _assigned(ranges) if piece.strip()], depth)
    intervals = [part for part in parts if _is_interval(part)]
    if len(either) == 1 or (len(intervals) == len(parts) and "<" in _plain_order(text)):
        return Shape("union", text, parts)
    names = tuple(m[1] for m in map(ASSIGNED.match, map(str.strip, ranges)) if m)
    return Shape("list", text, parts, names=names)


def _plain_order(text: str) -> str:
    return re.sub(ORDER, "<", text)


def _is_interval(part: Shape) -> bool:
    return part.kind in ("tuple", "union") and len(part.parts) == 2


def _assigned(pieces: list[str]) -> list[str]:
    """`x=1, x=2` and `x=1, 2` hold values of x; `x=1, y=2` holds two equations."""
    found = [ASSIGNED.match(piece.strip()) for piece in pieces]
    first = found[0]
    if first is None or any(match and match[1] != first[1] for match in found):
        return pieces
    return [
        piece.strip()[match.end() :] if match else piece
        for piece, match in zip(pieces, found, strict=True)
    ]


def _bracketed(text: str, depth: int) -> Shape | None:
    opener = next((o for o in OPENERS if o != "{" and text.startswith(o)), None)
    closer = next((c for c in CLOSERS if c != "}" and text.endswith(c)), None)
    if opener is None or closer is None or not _is_one_pair(text):
        return None
    inner = text[len(opener) : len(text) - len(closer)]
    if opener == r"\{":
        return _set(text, inner, depth) if closer == r"\}" else None
    pieces = _split(inner, ",", ";")
    if not 1 < len(pieces) <= MAX_PARTS or closer == r"\}":
        return None
    plain = opener == r"\langle" or len(pieces) > 2
    brackets = "()" if plain else opener + closer
    return Shape("tuple", text, _parts(pieces, depth), brackets)


def _set(text: str, inner: str, depth: int) -> Shape | None:
    if re.search(r"\||(?<!\\):", inner) or not inner.strip():
        return None
    pieces = _split(inner, ",", ";", "and")
    return Shape("set", text, _parts(pieces, depth)) if len(pieces) <= MAX_PARTS else None


def _is_one_pair(text: str) -> bool:
    """The first bracket closes at the very end."""
    depth = 0
    for piece in PIECE.finditer(text):
        depth += (piece.group() in OPENERS) - (piece.group() in CLOSERS)
        if depth == 0:
            return piece.end() == len(text)
    return False


def _inequality(text: str) -> Shape | None:
    if "<" not in _plain_order(text):
        return None
    if match := BETWEEN.fullmatch(text):
        low, first, _, second, high = match.groups()
        if _faces(first) != _faces(second):
            return None
        return _interval(text, low, first, high, second)
    if match := ONE_SIDED.fullmatch(text):
        _, order, bound = match.groups()
        return _half_line(text, bound, order, is_above=_faces(order) == ">")
    if match := ONE_SIDED_BACK.fullmatch(text):
        bound, order, _ = match.groups()
        return _half_line(text, bound, order, is_above=_faces(order) == "<")
    return None


def _faces(order: str) -> str:
    return "<" if order in ("<", r"\le") else ">"


def _interval(text: str, low: str, first: str, high: str, second: str) -> Shape:
    if _faces(first) == ">":
        low, first, high, second = high, second, low, first
    brackets = ("(" if first in "<>" else "[") + (")" if second in "<>" else "]")
    return Shape("tuple", text, (_end(low), _end(high)), brackets)


def _half_line(text: str, bound: str, order: str, *, is_above: bool) -> Shape:
    strict = order in "<>"
    if is_above:
        return Shape("tuple", text, (_end(bound), _end(r"\infty")), "()" if strict else "[)")
    return Shape("tuple", text, (_end(r"-\infty"), _end(bound)), "()" if strict else "(]")


def _end(text: str) -> Shape:
    return Shape("value", INFINITY.sub(r"\\infty", text.strip()))


def _plus_minus(text: str) -> Shape | None:
    if text.count(r"\pm") != 1 or r"\mp" in text:
        return None
    both = [re.sub(r"\\pm(?![a-z])", sign, text) for sign in ("+", "-")]
    parts = tuple(Shape("value", part.removeprefix("+").strip()) for part in _assigned(both))
    return Shape("list", text, parts)


def leaves(shape: Shape) -> Iterator[str]:
    if not shape.parts:
        yield shape.text
    for part in shape.parts:
        yield from leaves(part)
