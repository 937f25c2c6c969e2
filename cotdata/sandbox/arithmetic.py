"""Working out the trusted part of a test, without running any code.

    evaluate(ast.parse("abs(-3) < 4", mode="eval").body, [])   # True

Literals, comparisons, arithmetic and a few pure functions over them; anything
else is a ValueError. No names, no attributes but math's constants, no loops, and
no number or sequence that grows without bound.
"""

import ast
import math
import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any

MAX_BITS = 20_000
MAX_ITEMS = 1_000_000

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "round": round,
    "isclose": math.isclose,
    "math.isclose": math.isclose,
    "math.sqrt": math.sqrt,
    "set": set,
    "frozenset": frozenset,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "sorted": sorted,
    "len": len,
    "sum": sum,
    "min": min,
    "max": max,
    "str": str,
    "bool": bool,
    "float": float,
    "complex": complex,
}
CONSTANTS = {f"math.{name}": getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")}

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, holder: item in holder,
    ast.NotIn: lambda item, holder: item not in holder,
    ast.Is: lambda one, other: _is_same(one, other),
    ast.IsNot: lambda one, other: not _is_same(one, other),
}
SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}


class Answer(ast.expr):
    """The place of the i-th value that the program gave."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


def dotted(node: ast.AST) -> str:
    """`name` or `module.name`; empty for what is neither."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def is_closed(node: ast.AST | None, trusted: Collection[str]) -> bool:
    """Whether a node can be worked out without the program, by trusted functions."""
    match node:
        case ast.Constant():
            return True
        case ast.Attribute():
            return dotted(node) in CONSTANTS
        case ast.Call():
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
            return dotted(node.func) in trusted and _all_closed(parts, trusted)
        case ast.List() | ast.Tuple() | ast.Set():
            return _all_closed(node.elts, trusted)
        case ast.Dict():
            return _all_closed([*node.keys, *node.values], trusted)
        case ast.UnaryOp():
            return type(node.op) in SIGNS and is_closed(node.operand, trusted)
        case ast.BinOp():
            return _all_closed([node.left, node.right], trusted)
        case ast.Compare():
            return _all_closed([node.left, *node.comparators], trusted)
        case ast.BoolOp():
            return _all_closed(node.values, trusted)
    return False


def _all_closed(nodes: Sequence[ast.AST | None], trusted: Collection[str]) -> bool:
    return all(is_closed(node, trusted) for node in nodes)


def evaluate(node: ast.AST, answers: Sequence[Any]) -> Any:
    def worked(part: ast.AST) -> Any:
        return evaluate(part, answers)

    match node:
        case Answer():
            return answers[node.index]
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple() | ast.Set():
            holder = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
            return holder(map(worked, node.elts))
        case ast.Dict():
            keys = [worked(key) for key in node.keys if key is not None]
            return dict(zip(keys, map(worked, node.values), strict=True))
        case ast.Attribute():
            return CONSTANTS[dotted(node)]
        case ast.Call():
            named = {k.arg or "": worked(k.value) for k in node.keywords}
            return FUNCTIONS[dotted(node.func)](*map(worked, node.args), **named)
        case ast.Compare():
            return _compare(node, [worked(part) for part in (node.left, *node.comparators)])
        case ast.BoolOp():
            combine = all if isinstance(node.op, ast.And) else any
            return combine(worked(value) for value in node.values)
        case ast.UnaryOp():
            return SIGNS[type(node.op)](worked(node.operand))
        case ast.BinOp():
            return _calculate(node.op, worked(node.left), worked(node.right))
    raise ValueError(f"not a part that can be worked out: {type(node).__name__}")


def _compare(node: ast.Compare, values: list[Any]) -> bool:
    pairs = zip(node.ops, values, values[1:], strict=False)
    return all(COMPARISONS[type(op)](left, right) for op, left, right in pairs)


def _is_same(one: Any, other: Any) -> bool:
    """`is` after a journey: only None, True and False stay themselves."""
    return any(one is single and other is single for single in (None, True, False))


def _calculate(op: ast.operator, left: Any, right: Any) -> Any:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return left // right
        case ast.Mod() if not isinstance(left, str | bytes):
            return left % right
        case ast.Mult() if _size(left) * _size(right) <= MAX_ITEMS:
            return left * right
        case ast.Pow() if _size(left) * abs(right) <= MAX_BITS:
            return left**right
    raise ValueError("too large, or not an operation of tests")


def _size(value: Any) -> int:
    if isinstance(value, int):
        return max(1, value.bit_length()) if abs(value) > 1000 else max(1, abs(value))
    return len(value) if isinstance(value, str | bytes | list | tuple) else 1
