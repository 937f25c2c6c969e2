"""Engine options: `--engine-option key=value` as a frozen dataclass.

    read_options(FakeOptions, "fake", {"latency_ms": "20"})

The dataclass's fields are the known options, their annotations (str, int, float,
bool or a Literal, each perhaps with None) say how the text is read. Nothing is
looked up in the environment here.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from cotdata.errors import UnknownName, UsageError

T = TypeVar("T")

TRUTHS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def read_options(kind: type[T], engine: str, options: Mapping[str, str]) -> T:
    assert dataclasses.is_dataclass(kind)
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for key, text in options.items():
        if key not in hints:
            raise UnknownName(f"option of the engine {engine}", key, hints)
        try:
            values[key] = _value(hints[key], text)
        except (ValueError, KeyError):
            wanted = _wanted(hints[key])
            raise UsageError(f"--engine-option {key} wants {wanted}, not {text!r}") from None
    return kind(**values)


def _value(hint: Any, text: str) -> Any:
    hint = _without_none(hint)
    if get_origin(hint) is Literal:
        if text not in get_args(hint):
            raise ValueError(text)
        return text
    return TRUTHS[text.lower()] if hint is bool else hint(text)


def _wanted(hint: Any) -> str:
    hint = _without_none(hint)
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(get_args(hint))
    return {int: "a whole number", float: "a number", bool: "true or false"}[hint]


def _without_none(hint: Any) -> Any:
    if get_origin(hint) is types.UnionType:
        return next(part for part in get_args(hint) if part is not types.NoneType)
    return hint
