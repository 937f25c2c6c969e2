"""Values as text that can cross the sandbox's border without being trusted.

    encode((1, "a"))          # '["t",1,"a"]'
    decode('["t",1,"a"]')     # (1, "a")

A value is rebuilt from what its built-in base class holds, so an `int` that
claims to equal everything arrives as the int it is. What is not plain data
arrives as an `Opaque`, which equals nothing. Inside the sandbox a program may
replace any built-in, so the names used here are bound when this is imported, and
few modules are, since every page of the fork server costs each of its forks.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 60
MAX_ITEMS = 10_000
MAX_CHARS = 256_000
MAX_JSON_INT_BITS = 1_000

_int, _float, _str, _bytes, _complex = int, float, str, bytes, complex
_list, _tuple, _dict, _set, _frozenset = list, tuple, dict, set, frozenset
_type, _issubclass, _getattr, _len, _abs, _hex = type, issubclass, getattr, len, abs, hex
_dumps, _bool, _bytearray, _modules = json.dumps, bool, bytearray, sys.modules
_EMPTY: dict[str, str] = {}
_KEYS, _ITEMS = type(_EMPTY.keys()), type(_EMPTY.items())


class TooLarge(ValueError):
    """Deeper, longer or wider than any answer a test would spell out."""


class Malformed(ValueError):
    """Not the text of a value: something else wrote it."""


class Opaque:
    def __init__(self, type_name: str) -> None:
        self.type_name = type_name


def encode(value: object) -> str:
    budget = [MAX_ITEMS]
    text = _dumps(_packed(value, 0, budget))
    if _len(text) > MAX_CHARS:
        raise TooLarge
    return text


def _packed(value: object, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0:
        raise TooLarge
    kind = _type(value)
    if value is None or kind is _bool:
        return value
    scalar = _packed_scalar(value, kind)
    if scalar is not None:
        return scalar
    return _packed_container(value, kind, depth, budget)


def _packed_scalar(value: Any, kind: type) -> Any:
    if _issubclass(kind, _int):
        number = _int.__int__(value)
        return number if number.bit_length() < MAX_JSON_INT_BITS else ["i", _hex(number)]
    if _issubclass(kind, _float):
        return _float.__float__(value)
    if _issubclass(kind, _str):
        return _str.__str__(value)
    if _issubclass(kind, _bytes) or _issubclass(kind, _bytearray):
        return ["b", _bytes(memoryview(value)).hex()]
    if _issubclass(kind, _complex):
        return ["c", _complex.__abs__(value) and value.real, value.imag]
    fractions = _modules.get("fractions")
    if fractions is not None and kind is fractions.Fraction:
        return ["q", _hex(value._numerator), _hex(value._denominator)]
    return None


def _packed_container(value: Any, kind: type, depth: int, budget: list[int]) -> Any:
    if _issubclass(kind, _dict):
        flat = [part for pair in _dict.items(value) for part in pair]
        return ["d", *[_packed(part, depth + 1, budget) for part in flat]]
    for tag, base in (("l", _list), ("t", _tuple), ("s", _set), ("z", _frozenset)):
        if _issubclass(kind, base):
            items = base.__iter__(value)
            return [tag, *[_packed(item, depth + 1, budget) for item in items]]
    # The only other built-ins that equal a literal: {1: 2}.keys() == {1}.
    if kind is _KEYS or kind is _ITEMS:
        return ["s", *[_packed(item, depth + 1, budget) for item in value]]
    name = _getattr(kind, "__name__", "")
    return ["o", name[:60] if _type(name) is _str else ""]


def decode(text: str) -> Any:
    """The value, or Malformed for anything that `encode` would not write."""
    if len(text) > MAX_CHARS:
        raise Malformed
    try:
        return _unpacked(json.loads(text), 0)
    except (ValueError, TypeError, ArithmeticError, RecursionError, IndexError) as error:
        raise Malformed from error


def _unpacked(packed: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise Malformed
    if not isinstance(packed, list):
        return _scalar(packed)
    tag, *parts = packed
    if tag in _SCALARS:
        return _SCALARS[tag](*parts)
    if len(parts) > 2 * MAX_ITEMS:
        raise Malformed
    items = [_unpacked(part, depth + 1) for part in parts]
    return _CONTAINERS[tag](items) if tag in _CONTAINERS else _malformed()


def _scalar(packed: Any) -> Any:
    return _malformed() if isinstance(packed, dict) else packed


def _malformed() -> Any:
    raise Malformed


def _fraction(top: int, bottom: int) -> Any:
    from fractions import Fraction

    return Fraction(top, bottom)


def _pairs(flat: list[Any]) -> dict[Any, Any]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


_SCALARS: dict[str, Callable[..., Any]] = {
    "i": lambda digits: int(digits, 16),
    "b": bytes.fromhex,
    "c": complex,
    "q": lambda top, bottom: _fraction(int(top, 16), int(bottom, 16)),
    "o": lambda name: Opaque(str(name)),
}
_CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "l": list,
    "t": tuple,
    "s": set,
    "z": frozenset,
    "d": _pairs,
}
