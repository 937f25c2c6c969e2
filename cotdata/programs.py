r"""Where the program is in a text that a model wrote.

    locate("Sure:\n```python\ndef f(): return 1\n```", ["f"]).code   # "def f(): return 1\n"

The order: after the last `</think>`; the whole text where it is a program; the
last fenced block that defines what the tests call, then unfenced code that does,
then the last fenced block, then any unfenced code. A block that is still open
where the text was cut off is no answer. The code is taken as it stands; whether
it runs is the sandbox's business.
"""

import ast
import itertools
import re
import textwrap
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Method = Literal["fence", "open_fence", "whole_text", "inside_prose"]

FENCE = re.compile(
    r"(?<![`~])(?P<mark>`{3,}+|~{3,}+)[ \t]*(?P<info>[\w.+#-]*)[^\n`]*\r?\n"
    r"(?P<code>.*?)(?P<end>^[ \t]*(?P=mark)|\Z)",
    re.DOTALL | re.MULTILINE,
)
PYTHON = ("", "python", "python3", "py", "py3", "python2", "ipython", "ipython3", "pycon")
OPEN_THINK, CLOSE_THINK = "<think>", "</think>"
WRAPPERS = re.compile(r"</?(?:answer|code|solution)>|\[/?(?:BEGIN|DONE|PYTHON|ANSWER)\]")
CODE_START = re.compile(
    r"(?:async +def|def|class|import|from|@|if|for|while|try|with|#)\b|@|#|\w+ *="
)
LOOKS_LIKE_CODE = re.compile(
    r"(?:\t| {2,})\S|(?:async def|def|class|assert|return|import|from)\s+\w+"
    r"|\w+\s*=|\w+\(.*\)\s*$|@\w|\0"
)
DEFINITION = re.compile(r"^(?:(?:async\s+)?def|class)\s+(\w+)|^([^\W\d]\w*)\s*=(?!=)", re.MULTILINE)
LONE_MARK = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*\Z", re.MULTILINE)
BYTE_ORDER_MARK = "\ufeff"
# A text is hostile or broken beyond these; parsing it again and again takes time.
MAX_CHARS = 200_000
MAX_PROSE_CHARS = 50_000
MAX_PARSES = 100

_parsing = threading.Lock()


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """`span` is where the code stands in the text; `code` may be dedented."""

    code: str
    span: tuple[int, int]
    method: Method


def parsed(code: str) -> ast.Module:
    """Without warnings about doubtful escapes in other people's code."""
    # The filters of warnings belong to the process, so threads take turns.
    with _parsing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def locate(text: str, names: Sequence[str] = (), *, is_cut: bool = False) -> Program | None:
    start = text.rfind(CLOSE_THINK) + len(CLOSE_THINK) if CLOSE_THINK in text else 0
    if OPEN_THINK in text[start:] or len(text) - start > MAX_CHARS:
        return None
    whole = _whole(text, start, len(text))
    blocks = [] if whole else list(_fenced(text, start))
    last_is_open = not blocks or blocks[-1].method == "open_fence"
    if is_cut and last_is_open:
        return None
    defining = [block for block in blocks if _defines(block.code, names)]
    if names and defining:
        return defining[-1]
    bare = whole or _unfenced(text, start)
    if bare and (not blocks or _defines(bare.code, names)):
        return bare
    return blocks[-1] if blocks else None


def _fenced(text: str, start: int) -> Iterator[Program]:
    for match in FENCE.finditer(text, start):
        if match["info"].lower() not in PYTHON or not match["code"].strip():
            continue
        is_closed = bool(match["end"])
        yield Program(
            code=_dedented(match["code"]),
            span=match.span("code"),
            method="fence" if is_closed else "open_fence",
        )


def _unfenced(text: str, start: int) -> Program | None:
    """Code with no fence, or only a closing one: a prompt may have opened it."""
    mark = FENCE.search(text, start) or LONE_MARK.search(text, start)
    end = mark.start() if mark else len(text)
    whole = _whole(text, start, end)
    body = _unwrapped(text[start:end])
    return whole or _within_prose(body, start) or _best_guess(body, start)


def _whole(text: str, start: int, end: int) -> Program | None:
    """The text as it is, where it parses: a fence in it is then in a string."""
    body = _unwrapped(text[start:end])
    code = _dedented(body.lstrip("\r\n" + BYTE_ORDER_MARK))
    if not code.strip() or not _parses(code) or _is_prose(code):
        return None
    begin = start + len(body) - len(body.lstrip("\r\n" + BYTE_ORDER_MARK))
    return Program(code=code, span=(begin, end), method="whole_text")


def _unwrapped(text: str) -> str:
    return WRAPPERS.sub(lambda tag: " " * len(tag[0]), text)


def _within_prose(body: str, offset: int) -> Program | None:
    """The longest run of lines that parses, between lines that are not code."""
    lines = body[:MAX_PROSE_CHARS].splitlines(keepends=True)
    for first, last in itertools.islice(_runs(lines), MAX_PARSES):
        code = "".join(lines[first:last])
        if _parses(code) and _defines(code, ()):
            begin = offset + sum(map(len, lines[:first]))
            return Program(code=code, span=(begin, begin + len(code)), method="inside_prose")
    return None


def _runs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """From each line that may begin code, to the end and then to shorter and shorter ends."""
    ends = [i for i in range(1, len(lines)) if not lines[i][:1].isspace()]
    code_after = [i for i, line in enumerate(lines) if LOOKS_LIKE_CODE.match(line)]
    shortest = code_after[-1] + 1 if code_after else 1
    for first in (i for i, line in enumerate(lines) if CODE_START.match(line)):
        yield first, len(lines)
        yield from ((first, end) for end in reversed(ends) if end >= max(first + 1, shortest))


def _best_guess(body: str, offset: int) -> Program | None:
    """Code that does not parse is still the answer given."""
    if not _defines(body, ()):
        return None
    return Program(code=body, span=(offset, offset + len(body)), method="whole_text")


def _defines(code: str, names: Sequence[str]) -> bool:
    """Whether one of the names, or any where none is given, is made at the top level."""
    made = (match[1] or match[2] for match in DEFINITION.finditer(code))
    return any(not names or name in names for name in made)


def _is_prose(code: str) -> bool:
    """A lone word, or an empty string of comments, parses and is no program."""
    body = parsed(code).body
    return all(isinstance(part, ast.Expr) and not _calls(part) for part in body)


def _calls(part: ast.Expr) -> bool:
    return isinstance(part.value, ast.Call)


def _parses(code: str) -> bool:
    try:
        parsed(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _dedented(code: str) -> str:
    """Also without the marks that editors put first."""
    code = code.lstrip(BYTE_ORDER_MARK)
    first = next((line for line in code.splitlines() if line.strip()), "")
    return textwrap.dedent(code) if first[:1].isspace() else code
