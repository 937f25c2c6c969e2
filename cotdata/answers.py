r"""Where a text states its final answer: one order for every text.

    locate("So 6 * 7 = \\boxed{42}.")   # Located(text="42", span=(17, 19), method="boxed")
    locate("There are 24 of these and") # Missing(reason="no_marker")

The order, and the method stored:

1. Thinking is cut off: only what follows the last `</think>` counts, and a think
   block still open means no answer.
2. boxed: the last complete `\boxed{}` or `\fbox{}`. Boxes joined by nothing but
   "and", "or" or a comma form one list. A last box that is empty or unfinished
   means no answer, whatever stands before it.
3. answer_tag: the last `<answer>…</answer>`, with the same rule.
4. hash_marks: the first `####` that no heading follows.
5. answer_phrase: the last "answer is", "Answer:" or its like, up to the end of the
   sentence. A leading number counts without the words after it.
6. conclusion: a last sentence that opens with So, Thus, Hence or Therefore, ends
   with a full stop and holds exactly one number.

A text cut at its token limit has an answer only if a box or a tag is complete.
What the answer means is not decided here: see `cotdata.equivalence`.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Method = Literal["boxed", "answer_tag", "hash_marks", "answer_phrase", "conclusion"]
MissingReason = Literal[
    "truncated", "open_think", "empty_box", "unfinished_box", "empty_tag", "unfinished_tag",
    "unfinished_phrase", "no_marker",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Located:
    """`span` is where `text` stands; of joined boxes it runs from first to last."""

    text: str
    span: tuple[int, int]
    method: Method


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    reason: MissingReason


def locate(text: str, finish_reason: str | None = None) -> Located | Missing:
    start = 0
    if "think>" in text:
        end = text.rfind("</think>")
        start = 0 if end < 0 else end + len("</think>")
        if text.find("<think>", start) >= 0:
            return Missing(reason="open_think")
    cut = finish_reason == "length"
    found = _boxed(text, start) or _tagged(text, start)
    if found is None and not cut:
        found = _marked(text, start) or _phrased(text, start) or _concluded(text, start)
    if cut and not isinstance(found, Located):
        return Missing(reason="truncated")
    return found or Missing(reason="no_marker")


def _trimmed(text: str, start: int, end: int, method: Method) -> Located | None:
    """None where nothing but white space is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        return None
    return Located(text=text[start:end], span=(start, end), method=method)


BOX = re.compile(r"\\(?:boxed|fbox)(?![a-zA-Z])\s*")
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
UNBRACED = re.compile(r"[^\s{}$]+(?=[.,;:!?]*(?:[\s$]|$))")
EMPTY_BOX = re.compile(r"(?:\s|\\(?:text|phantom|mbox)\s*\{[^{}]*\}(?<=\{\})|\\[,;!:]|\.\.\.|\?)*")
_GLUE = r"(?:[\s$]|\\[()\[\],;:! ]|\\q?quad|\\\\)*"
JOINT = re.compile(
    _GLUE
    + r"(?:[,;&，、]|(?:[,，]\s*)?(?:and|or)\b|[,，]?\s*\\text\s*\{\s*,?\s*(?:and|or)\s*\})"
    + _GLUE
)
MAX_JOINT = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class _Box:
    """Where the command starts, its content, and where the command ends."""

    start: int
    content: tuple[int, int]
    end: int


def _boxed(text: str, start: int) -> Located | Missing | None:
    if "\\boxed" not in text and "\\fbox" not in text:
        return None
    boxes: list[_Box] = []
    last_is_open = False
    while command := BOX.search(text, start):
        box = _box(text, command)
        last_is_open = box is None
        boxes += [box] if box else []
        start = box.end if box else command.end()
    if last_is_open:
        return Missing(reason="unfinished_box")
    if not boxes:
        return None
    if EMPTY_BOX.fullmatch(text, *boxes[-1].content):
        return Missing(reason="empty_box")
    return _joined(text, boxes)


def _box(text: str, command: re.Match[str]) -> _Box | None:
    start = command.end()
    if not text.startswith("{", start):
        token = UNBRACED.match(text, start)
        end = token.end() if token else start
        while end > start + 1 and text[end - 1] in ".,;:!?":
            end -= 1
        return _Box(start=command.start(), content=(start, end), end=end) if token else None
    closing = _closing(text, start)
    if closing is None:
        return None
    return _Box(start=command.start(), content=(start + 1, closing), end=closing + 1)


def _closing(text: str, start: int) -> int | None:
    """The place of the brace that closes the one at `start`."""
    depth = 0
    for brace in BRACE.finditer(text, start):
        if brace.group() == "{":
            depth += 1
        elif brace.group() == "}":
            depth -= 1
            if depth == 0:
                return brace.start()
    return None


def _joined(text: str, boxes: list[_Box]) -> Located | None:
    first = len(boxes) - 1
    while first > 0 and _are_neighbours(text, boxes[first - 1], boxes[first]):
        first -= 1
    contents = [text[slice(*box.content)].strip() for box in boxes[first:]]
    if len(set(contents)) == 1:
        return _trimmed(text, *boxes[-1].content, "boxed")
    span = (boxes[first].content[0], boxes[-1].content[1])
    return Located(text=", ".join(contents), span=span, method="boxed")


def _are_neighbours(text: str, left: _Box, right: _Box) -> bool:
    gap = right.start - left.end
    return gap <= MAX_JOINT and bool(JOINT.fullmatch(text, left.end, right.start))


def _last(matches: Iterator[re.Match[str]]) -> re.Match[str] | None:
    kept = deque(matches, maxlen=1)
    return kept[0] if kept else None


OPEN_TAG = re.compile(r"<answer>", re.IGNORECASE)
CLOSE_TAG = re.compile(r"</answer>", re.IGNORECASE)


def _tagged(text: str, start: int) -> Located | Missing | None:
    if "<" not in text:
        return None
    opening = _last(OPEN_TAG.finditer(text, start))
    if opening is None:
        return None
    closing = CLOSE_TAG.search(text, opening.end())
    if closing is None:
        return Missing(reason="unfinished_tag")
    inner = _phrased(text, opening.end(), closing.start())
    if isinstance(inner, Located):
        return Located(text=inner.text, span=inner.span, method="answer_tag")
    found = _trimmed(text, opening.end(), closing.start(), "answer_tag")
    return found or Missing(reason="empty_tag")


HASHES = re.compile(r"(?<!#)####(?!#)[ \t*:]*(?:(?:final\s+)?answer\s*[:=][ \t*]*)?", re.IGNORECASE)
HEADING = re.compile(r"\d+[.)]\s+\D|[A-Za-z]{2,}[^\S\n]+\S|[A-Za-z]+[*\s]*:")


def _marked(text: str, start: int) -> Located | None:
    if "####" not in text:
        return None
    for marks in HASHES.finditer(text, start):
        end = text.find("\n", marks.end())
        found = _trimmed(text, marks.end(), len(text) if end < 0 else end, "hash_marks")
        if found and not HEADING.match(found.text):
            return _bare(text, found)
    return None


def _bare(text: str, found: Located) -> Located:
    """The number that leads an answer line, as in `#### 42 apples`, else the line."""
    number = LEADING_NUMBER.match(found.text)
    end = found.span[0] + (number.end() if number else len(found.text.rstrip(".*`")))
    return _trimmed(text, found.span[0], end, found.method) or found


_IS = r"(?:\b(?:is|are|was|were|equals|becomes|(?:would|will|must|should)\s+be)\b|[=:：])"
PHRASE = re.compile(
    rf"\banswers?\b(?:\s+(?:to|for)\s[^.\n:=]{{1,80}}?)?[*_\s]*{_IS}|答案(?:应该)?(?:是|为|為|：|:)"
    r"|^[\W_]*(?:final\s+)?answer[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
LEAD = re.compile(
    r"(?:[\s:：*_`>~≈,]|(?:approximately|about|simply|just|therefore|thus|exactly)\b)*"
)
MATH = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
SENTENCE_END = re.compile(
    r"\n|[.?](?=[\s\"'*)]|$)|!(?=\s*$|\s+[A-Z]|\n)|[。！]|\*\*(?=[\s.,;!?)]|$)|</"
)
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
_NUMBER = rf"[-+−]?\s?(?:\\?\$|[£€¥₹])?\s?[-−]?(?:{_DIGITS})(?:[eE][-+]?\d+|(?:\s\d+)?/\d+)?"
_NUMBER += r"(?:\s(?:hundred|thousand|million|billion|trillion)\b)?"
# A number leads if nothing that would go on with the formula follows it.
LEADING_NUMBER = re.compile(
    rf"{_NUMBER}(?:\s?\\?%)?"
    r"(?=[*_`]*(?:$|[,;:!?.](?=\s|$)|\s*\(|\s+(?!(?:and|or|pi|times|x|to|plus|minus|over)\b)[A-Za-z]{2,}"
    r"|\s+[—–]))",
)
NUMBER = re.compile(rf"(?<![\w.]){_NUMBER}(?![\w^])")
WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")


def _phrased(text: str, start: int, limit: int | None = None) -> Located | Missing | None:
    limit = len(text) if limit is None else limit
    phrase = _last(PHRASE.finditer(text, start, limit))
    if phrase is None:
        return None
    begin = _led(text, phrase.end(), limit)
    found = _formula(text, begin, limit) or _clause(text, begin, limit)
    return found or Missing(reason="unfinished_phrase")


def _led(text: str, start: int, limit: int) -> int:
    lead = LEAD.match(text, start, limit)
    return lead.end() if lead else start


def _formula(text: str, begin: int, limit: int) -> Located | None:
    for opening, closing in MATH:
        if not text.startswith(opening, begin):
            continue
        inner = begin + len(opening)
        end = text.find(closing, inner, limit)
        # "$18 and $5": the second sign opens a price, so neither is a delimiter.
        if end < 0 or (opening == "$" and (text[end + 1 : end + 2].isdigit())):
            return None
        rest = LISTED.match(text, end + len(closing), limit)
        if rest:
            end = rest.end() - len(closing)
        return _trimmed(text, inner, end, "answer_phrase")
    return None


LISTED = re.compile(r"(?:\s*(?:,|,?\s*and|,?\s*or)\s*\$[^$\n]{1,200}\$)+")


def _clause(text: str, begin: int, limit: int) -> Located | None:
    stop = SENTENCE_END.search(text, begin, limit)
    clause = _trimmed(text, begin, stop.start() if stop else limit, "answer_phrase")
    if clause is None:
        return None
    if LEADING_NUMBER.match(clause.text):
        return _bare(text, clause)
    numbers = list(_plain_numbers(clause.text))
    if len(numbers) == 1 and len(WORD.findall(clause.text[: numbers[0].start()])) >= 2:
        begin = clause.span[0]
        return _trimmed(text, begin + numbers[0].start(), begin + numbers[0].end(), clause.method)
    return _bare(text, clause)


def _plain_numbers(sentence: str) -> Iterator[re.Match[str]]:
    return NUMBER.finditer(sentence)


SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
CONCLUSION = re.compile(r"(?:so|thus|hence|therefore)\b(?!\s+far)[^=]*[.!]\s*", re.IGNORECASE)


def _concluded(text: str, start: int) -> Located | None:
    body = text[start:].rstrip()
    begin = max((gap.end() for gap in SENTENCES.finditer(body)), default=0)
    sentence = body[begin:]
    numbers = list(_plain_numbers(sentence.rstrip(".!")))
    if len(numbers) != 1 or not CONCLUSION.fullmatch(sentence):
        return None
    offset = start + begin
    return _trimmed(text, offset + numbers[0].start(), offset + numbers[0].end(), "conclusion")
