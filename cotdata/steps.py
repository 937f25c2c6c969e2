r"""A trace as pieces that join to it, byte for byte.

    [p.kind for p in segment("It is 3*4=12.\n#### 12", "gsm8k")]     # ["step", "answer"]

Each task has a rule: GSM8K and Countdown cut lines (one paragraph: sentences or
clauses), MATH cuts paragraphs into sentences and aligned formulas into rows, MBPP cuts
a program into statements and the text around it into sentences. Unknown tasks use the
rule of GSM8K. What separates two pieces belongs to the end of the first.

Kinds: `step`; `row`, which may be edited but not moved or deleted; `answer`, which is
no step; `glue`, which is never edited: drawings, `\begin`, fences, comments, imports,
docstrings and signatures. `protected` spans lie within the piece, counted from the
trace's start, and edits leave them alone; a calculator mark is edited only together
with the number printed after it. Nothing here says whether a step is true.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from cotdata import codesteps, latex, programs, sentences
from cotdata.latex import Span

Kind = Literal["step", "answer", "glue", "row"]
Zone = Literal["prose", "code"]

MARK = re.compile(r"<<[^<>\n]*>>")
# One statement of the result, to the end of its line: "So the answer is 5."
ANSWER = re.compile(
    r"####[^\n]*(?=\s*\Z)"
    r"|\**(?:(?:so|thus|hence|therefore|and|then),?\s+)?(?:the\s+|my\s+|our\s+)?(?:final\s+|correct\s+)?"
    r"answer(?:\s+is\b|\**\s*[:=])\s*[^\n]{1,200}?(?=\s*\Z)"
    r"|(?:\*\*|\$\$?|\\\[|\\\(|\s)*\\boxed\s*\{[^\n]*\}(?:\*\*|\$\$?|\\\]|\\\)|[\s.])*(?=\s*\Z)",
    re.IGNORECASE,
)
CLAUSE_START = re.compile(
    r"[,;.:]\s+(?=(?:so|thus|hence|therefore|and)\s+the\s+(?:final\s+)?answer\s+is\b)", re.I
)
TAG = re.compile(r"<answer>.*?</answer>", re.DOTALL | re.IGNORECASE)
CLAUSE_END = re.compile(r"[,;.]\s+|\s+(?:and|then)\s+(?=[\d(])")
EXPRESSION = re.compile(r"[\d\s()+\-*/×÷−.]*[+\-*/×÷−][\d\s()+\-*/×÷−]*(?:=\s*\d+)?[\s.]*")
PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")
LINE_END = re.compile(r"(?:\r\n|\r|\n)\s*")
CONTENT = re.compile(r"\w|[=+]")
THINK = re.compile(r"\s*</?think(?:ing)?>\s*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    start: int
    end: int
    kind: Kind
    zone: Zone = "prose"
    protected: tuple[Span, ...] = ()

    @property
    def is_step(self) -> bool:
        return self.kind in ("step", "row")


Rule = Callable[[str], Iterable[Piece]]


def segment(trace: str, task: str) -> list[Piece]:
    rule = RULES.get(task, _gsm8k)
    pieces = [piece for piece in _tidied(trace, rule(trace)) if piece.end > piece.start]
    joined = "".join(trace[piece.start : piece.end] for piece in pieces)
    assert joined == trace, f"pieces of a {task} trace do not join to it"
    return pieces


def core(trace: str, piece: Piece) -> Span:
    """The piece without outer white space: what an edit may replace."""
    text = trace[piece.start : piece.end]
    end = piece.start + len(text.rstrip())
    return min(piece.end - len(text.lstrip()), end), end


def _tidied(trace: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Pieces that say nothing are glue, and the others know what edits must not touch."""
    for piece in pieces:
        text = trace[piece.start : piece.end]
        is_empty = not CONTENT.search(text) or THINK.fullmatch(text)
        if piece.zone == "code" or piece.kind == "glue":
            yield piece
        elif is_empty:
            yield Piece(start=piece.start, end=piece.end, kind="glue")
        else:
            spans = _protected(text, piece.start)
            yield Piece(start=piece.start, end=piece.end, kind=piece.kind, protected=spans)


def _protected(text: str, offset: int) -> tuple[Span, ...]:
    spans = [match.span() for match in MARK.finditer(text)] if "<<" in text else []
    if "\\" in text or "_" in text:
        spans += latex.boxes(text)
        spans += [match.span() for match in latex.FIXED.finditer(text)]
    outer: list[Span] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outer or start >= outer[-1][1] - offset:
            outer.append((start + offset, end + offset))
    return tuple(outer)


def _gsm8k(trace: str) -> Iterator[Piece]:
    bounds = _lines(trace, 0, len(trace))
    if sum(bool(CONTENT.search(trace, *b)) and not ANSWER.match(trace, *b) for b in bounds) < 2:
        bounds = [part for bound in bounds for part in _sentences(trace, *bound)]
    yield from _with_answer(trace, bounds)


def _math(trace: str) -> Iterator[Piece]:
    kept = _kept_whole(trace)
    starts = [m.end() for m in PARAGRAPH.finditer(trace) if not _inside(m.start(), kept)]
    starts += [place for span in kept if span[2] == "glue" for place in _after(trace, span[:2])]
    bounds = []
    starts += [0, _content_start(trace, 0, len(trace))]
    for start, end in _bounds(starts, len(trace)):
        is_drawing = any(span[0] == start and span[2] == "glue" for span in kept)
        bounds += [(start, end)] if is_drawing else _sentences(trace, start, end, money=False)
    for piece in _with_answer(trace, bounds):
        yield from _rows(trace, piece, kept)


Kept = tuple[int, int, Literal["glue", "formula"]]


def _kept_whole(trace: str) -> list[Kept]:
    """Drawings, and formulas that may go on over a blank line."""
    if "\\" not in trace and "[asy]" not in trace:
        return []
    drawings: list[Kept] = [(*m.span(), "glue") for m in latex.DRAWING.finditer(trace)]
    blank = latex.DRAWING.sub(lambda m: " " * len(m[0]), trace).replace("$", " ")
    formulas = latex.closed_spans(blank, 0, len(blank)) or []
    outer: list[Kept] = [(start, end, "formula") for start, end in formulas]
    return sorted([*drawings, *(f for f in outer if not _inside(f[0], drawings))])


def _inside(place: int, kept: list[Kept]) -> bool:
    return any(start <= place < end for start, end, _ in kept)


def _after(trace: str, span: Span) -> tuple[int, int]:
    """The start of a drawing, and of what follows the white space after it."""
    return span[0], _content_start(trace, span[1], len(trace))


def _sentences(trace: str, start: int, end: int, *, money: bool = True) -> list[Span]:
    """A paragraph whose formulas do not close is one sentence."""
    is_money = money and _has_only_prices(trace[start:end])
    spans = [] if is_money else latex.closed_spans(trace, start, end)
    if spans is None:
        return [(start, end)]
    inner = [place for span in spans for place in _environment_starts(trace, span)]
    return _bounds(sorted({start, *sentences.cuts(trace, spans, start, end), *inner}), end)


def _has_only_prices(text: str) -> bool:
    return "\\" not in text and not re.search(r"\$(?!\d|\.\d|<|\s\d)", text)


def _environment_starts(trace: str, span: Span) -> tuple[int, ...]:
    """An environment of rows is cut off from the sentences around it."""
    name = re.match(r"\\begin\{(\w+\*?)\}", trace[span[0] : span[0] + 40])
    return _after(trace, span) if name and name[1] in latex.ROWED else ()


def _rows(trace: str, piece: Piece, kept: list[Kept]) -> Iterator[Piece]:
    name = re.match(r"\\begin\{(\w+\*?)\}(?:\{[^{}]*\})?\s*", trace[piece.start : piece.end])
    if any(k[0] == piece.start and k[2] == "glue" for k in kept):
        yield Piece(start=piece.start, end=piece.end, kind="glue")
        return
    close = trace.rfind(f"\\end{{{name[1]}}}", piece.start, piece.end) if name else -1
    if name is None or close < 0 or name[1] not in latex.ROWED:
        yield piece
        return
    first = piece.start + name.end()
    yield Piece(start=piece.start, end=first, kind="glue")
    for start, end in _bounds([first, *latex.row_ends(trace, first, close)], close):
        yield Piece(start=start, end=end, kind="row")
    yield Piece(start=close, end=piece.end, kind="glue")


def _countdown(trace: str) -> Iterator[Piece]:
    tag = None
    for tag in TAG.finditer(trace):  # noqa: B007 - the last one
        pass
    if tag is None:
        yield from _untagged_countdown(trace)
        return
    start, end = tag.start(), _content_start(trace, tag.end(), len(trace))
    yield from (Piece(start=a, end=b, kind="step") for a, b in _clauses(trace, 0, start))
    yield Piece(start=start, end=end, kind="answer")
    yield from (Piece(start=a, end=b, kind="step") for a, b in _lines(trace, end, len(trace)))


def _untagged_countdown(trace: str) -> Iterator[Piece]:
    lines = _lines(trace, 0, len(trace))
    last = lines[-1] if lines else (0, 0)
    if len(lines) > 1 and EXPRESSION.fullmatch(trace, *last):
        yield from (Piece(start=a, end=b, kind="step") for a, b in lines[:-1])
        yield Piece(start=last[0], end=last[1], kind="answer")
    else:
        yield from _with_answer(trace, _clauses(trace, 0, len(trace)))


def _lines(trace: str, start: int, end: int) -> list[Span]:
    """White space before the first line is a piece of its own."""
    first = _content_start(trace, start, end)
    ends = (match.end() for match in LINE_END.finditer(trace, first, end))
    return _bounds([start, first, *ends], end)


def _clauses(trace: str, start: int, end: int) -> list[Span]:
    """Lines; of a single line its clauses, each with an equation."""
    lines = _lines(trace, start, end)
    if sum(bool(CONTENT.search(trace, *line)) for line in lines) > 1:
        return lines
    bounds: list[Span] = []
    for part in _bounds([start, *(m.end() for m in CLAUSE_END.finditer(trace, start, end))], end):
        if bounds and "=" not in trace[slice(*part)]:
            bounds[-1] = bounds[-1][0], part[1]
        else:
            bounds.append(part)
    return bounds


def _mbpp(trace: str) -> Iterator[Piece]:
    program = programs.locate(trace)
    start, end = program.span if program else (0, 0)
    found = codesteps.statements(trace[start:end]) if program else None
    yield from _around_code(trace, 0, start)
    yield from _code(trace, start, end, found or [])
    yield from _around_code(trace, end, len(trace))


def _code(trace: str, start: int, end: int, found: list[codesteps.Statement]) -> Iterator[Piece]:
    """White space after a statement is its own, what else stands between two is glue."""
    place = start
    for statement in found:
        first = start + statement.start
        if first > place:
            yield Piece(start=place, end=first, kind="glue", zone="code")
        after = start + statement.end
        place = _content_start(trace, after, end)
        kind: Kind = "glue" if statement.is_fixed else "step"
        yield Piece(start=first, end=place, kind=kind, zone="code")
    yield Piece(start=place, end=end, kind="glue", zone="code")


def _around_code(trace: str, start: int, end: int) -> Iterator[Piece]:
    """Prose in sentences; fences and other code are left as they are."""
    for line, stop in _lines(trace, start, end):
        if trace.startswith(("```", "~~~"), line):
            yield Piece(start=line, end=stop, kind="glue")
        else:
            yield from (
                Piece(start=a, end=b, kind="step") for a, b in _sentences(trace, line, stop)
            )


def _with_answer(trace: str, bounds: list[Span]) -> Iterator[Piece]:
    """Steps, the last one as the answer where it states it and nothing else."""
    last = max((i for i, b in enumerate(bounds) if CONTENT.search(trace, *b)), default=-1)
    for index, (start, end) in enumerate(bounds):
        cut = _answer_start(trace, start, end) if index == last else None
        if cut is None:
            yield Piece(start=start, end=end, kind="step")
        else:
            yield Piece(start=start, end=cut, kind="step")
            yield Piece(start=cut, end=end, kind="answer")


def _answer_start(trace: str, start: int, end: int) -> int | None:
    if ANSWER.match(trace, start, end):
        return start
    starts = sentences.cuts(trace, [], start, end) + [
        match.end() for match in CLAUSE_START.finditer(trace, start, end)
    ]
    return next((cut for cut in sorted(starts) if ANSWER.match(trace, cut, end)), None)


def _content_start(trace: str, start: int, end: int) -> int:
    return end - len(trace[start:end].lstrip())


def _bounds(starts: list[int], end: int) -> list[Span]:
    ordered = sorted({start for start in starts if start <= end})
    return [(a, b) for a, b in zip(ordered, [*ordered[1:], end], strict=True) if b > a]


RULES: dict[str, Rule] = {
    "gsm8k": _gsm8k,
    "math": _math,
    "countdown": _countdown,
    "countdown_subset": _countdown,
    "mbpp": _mbpp,
}
