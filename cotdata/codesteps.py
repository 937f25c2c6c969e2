r"""The statements of a Python program, as places in its text.

    [(s.start, s.end) for s in statements("def f(x):\n    return x + 1\n")]    # [(0, 9), (14, 26)]

A simple statement is one place, a compound one is its header up to the colon. Headers
of functions and classes, imports and docstrings are fixed: they are what the tests call.
Unreadable code has no statements. Nothing is reformatted: the places are those of the
text as it stands, with any line ends, comments left outside.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from cotdata.programs import parsed

LINE = re.compile(r"\r\n|\r|\n")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    start: int
    end: int
    is_fixed: bool


def statements(code: str) -> list[Statement] | None:
    """In the order of the text; None where the code cannot be read."""
    nested = "if 1:\n" if re.match(r"\s*?(?:\A|\n)[ \t]+\S", code) else ""
    try:
        tree = parsed(nested + code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    offsets = _Offsets(nested + code)
    body = tree.body[0].body if nested and isinstance(tree.body[0], ast.If) else tree.body
    found = [
        Statement(start=start - len(nested), end=end - len(nested), is_fixed=is_fixed)
        for start, end, is_fixed in _walk(tree if not nested else None, body, offsets)
    ]
    return sorted(found, key=lambda statement: statement.start)


class _Offsets:
    """The parser counts UTF-8 bytes within lines; these are characters of the whole text."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.starts = [0, *(match.end() for match in LINE.finditer(code))]

    def at(self, line: int, column: int) -> int:
        start = self.starts[line - 1]
        if self.code.isascii():
            return start + column
        stop = self.starts[line] if line < len(self.starts) else len(self.code)
        return start + len(self.code[start:stop].encode()[:column].decode(errors="ignore"))

    def end_of(self, node: ast.AST) -> int:
        line, column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
        return self.at(line, column) if line is not None and column is not None else 0


Place = tuple[int, int, bool]


def _walk(owner: ast.AST | None, body: list[ast.stmt], offsets: _Offsets) -> Iterator[Place]:
    for index, node in enumerate(body):
        start = offsets.at(node.lineno, node.col_offset)
        inner = [block for name in BLOCKS if (block := getattr(node, name, None))]
        if not inner:
            is_docstring = index == 0 and _is_text(node) and isinstance(owner, _DOCUMENTED)
            is_fixed = isinstance(node, ast.Import | ast.ImportFrom) or is_docstring
            yield start, offsets.end_of(node), is_fixed
            continue
        if not isinstance(node, ast.Try | ast.TryStar):
            yield start, _header_end(node, start, offsets), isinstance(node, DEFINITIONS)
        for block in inner:
            yield from _block(node, block, offsets)


_DOCUMENTED = (ast.Module, *DEFINITIONS)


def _block(owner: ast.AST, block: list[ast.AST], offsets: _Offsets) -> Iterator[Place]:
    for part in block:
        if isinstance(part, ast.ExceptHandler | ast.match_case):
            yield from _walk(part, part.body, offsets)
    plain = [part for part in block if isinstance(part, ast.stmt)]
    yield from _walk(owner, plain, offsets)


def _is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _header_end(node: ast.AST, start: int, offsets: _Offsets) -> int:
    """Past the colon after the header's last expression."""
    inner = {id(part) for name in BLOCKS for part in getattr(node, name, None) or ()}
    inner |= {id(part) for part in getattr(node, "decorator_list", ())}
    parts = [part for part in ast.iter_child_nodes(node) if id(part) not in inner]
    last = max((offsets.end_of(leaf) for part in parts for leaf in ast.walk(part)), default=0)
    return offsets.code.index(":", max(last, start)) + 1
