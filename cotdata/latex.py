r"""Where the mathematics of a text is, so that nothing cuts it open.

    closed_spans("So $x = 2. y$ is", 0, 16)      # [(3, 13)]
    boxes(r"Thus \boxed{15}.")                   # [(5, 15)]

Known: `$ $$ \( \[`, environments, `[asy]`, brace-matched `\boxed`. `\$` is money. A
text whose delimiters do not pair is reported as `None`, never repaired. Nothing here
reads what a formula means.
"""

import re

Span = tuple[int, int]

DRAWING = re.compile(r"\[asy\].*?(?:\[/asy\]|\Z)|\\begin\{asy\}.*?(?:\\end\{asy\}|\Z)", re.DOTALL)
DELIMITER = re.compile(r"\\begin\{(\w+\*?)\}|\\end\{(\w+\*?)\}|\\([\[\]()])|\$\$?|\\.", re.DOTALL)
BOX = re.compile(r"\\f?boxed\s*\{|\\fbox\s*\{")
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
# Text an edit of numbers must leave alone: words, names, lengths, roots, row types.
FIXED = re.compile(
    r"\\(?:text\w*|mbox|mathrm|label|tag\*?|ref|eqref|operatorname|[vh]space\*?)\s*\{[^{}]*\}"
    r"|\\(?:begin|end)\{\w+\*?\}(?:\[[^\]]*\]|\{[lcr| ]*\})?|\\sqrt\s*\[[^\]]*\]"
    r"|_\s*(?:\{[^{}]*\}|\w)|\\\\\*?\[[^\]]*\]|\\(?:quad|qquad|[,;:!])"
)
ROWED = ("align", "align*", "gather", "gather*", "eqnarray", "eqnarray*", "alignat", "alignat*",
         "multline", "multline*", "flalign", "flalign*")  # fmt: skip
ROW_END = re.compile(
    r"\\\\\*?(?:[ \t]*\[[^\]\n]*\])?\s*|\\(?:begin|end)\{\w+\*?\}|\\.|[{}]", re.DOTALL
)


def closing_brace(text: str, start: int) -> int | None:
    """The end of the group whose `{` stands at `start`."""
    depth = 0
    for brace in BRACE.finditer(text, start):
        if brace[0] == "{":
            depth += 1
        elif brace[0] == "}":
            depth -= 1
            if depth == 0:
                return brace.end()
    return None


def boxes(text: str) -> list[Span]:
    """All boxes with their commands, inner ones left out."""
    found: list[Span] = []
    for command in BOX.finditer(text):
        end = closing_brace(text, command.end() - 1)
        if end and (not found or command.start() >= found[-1][1]):
            found.append((command.start(), end))
    return found


def closed_spans(text: str, start: int, end: int) -> list[Span] | None:
    """The outermost formulas in order, or None where a delimiter has no partner."""
    found: list[Span] = []
    stack: list[tuple[str, int]] = []
    for mark in DELIMITER.finditer(text, start, end):
        partner = _partner(mark, stack)
        if partner is None:
            continue
        if partner:
            stack.append((partner, mark.start()))
        elif not stack or stack[-1][0] != mark[0]:
            return None
        else:
            begin = stack.pop()[1]
            if not stack:
                found.append((begin, mark.end()))
    return None if stack else found


def _partner(mark: re.Match[str], stack: list[tuple[str, int]]) -> str | None:
    """What closes an opening mark, "" for a closing one, None for what is neither."""
    text = mark[0]
    if mark[1]:
        return f"\\end{{{mark[1]}}}"
    if mark[2] or text in ("\\]", "\\)"):
        return ""
    if text in ("\\[", "\\("):
        return {"\\[": "\\]", "\\(": "\\)"}[text]
    if text.startswith("$"):
        return "" if any(partner == text for partner, _ in stack) else text
    return None


def row_ends(text: str, start: int, end: int) -> list[int]:
    """The ends of the rows of an environment's body: double backslashes outside all groups."""
    depth, ends = 0, []
    for mark in ROW_END.finditer(text, start, end):
        if mark[0].startswith("\\\\"):
            if depth == 0:
                ends.append(mark.end())
        elif mark[0] == "{" or mark[0].startswith("\\begin"):
            depth += 1
        elif mark[0] == "}" or mark[0].startswith("\\end"):
            depth -= 1
    return ends


def is_balanced(text: str) -> bool:
    """Whether every formula, environment and brace that opens also closes."""
    depth = 0
    for brace in BRACE.finditer(text):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth < 0:
            return False
    return depth == 0 and closed_spans(text, 0, len(text)) is not None
