r"""Where sentences end, formulas left whole.

    cuts("Mr. Lee paid $3.50. He left.", [])     # [20]: the start of "He left."

A sentence ends at `. ? !` before white space and a capital, a digit, `$` or `\`. Not
after a title, "i.e.", a single initial or a list number, nor inside one of the spans
given. A cut is where the next sentence starts: white space stays with the one before.
"""

import bisect
import re
from collections.abc import Sequence

from cotdata.latex import Span

END = re.compile(
    r"""(?<![.?!])(?P<mark>[.?!]++)(?P<close>["'”’)\]*]*+(?:\$\$?|\\[\])])?+["'”’)\]*]*+)\s++"""
    r"""(?=["'“‘(*\[]*(?:[A-Z0-9$\\]|-?\d|\#{4}))"""
)
WORD = re.compile(r"[\w.&'’-]*\Z")
LONGEST_WORD = 24
ITEM = re.compile(r"\n[ \t]*(?=[-*•+#][ \t#*]|\d{1,2}[.)][ \t]|\*\*|[Ss]tep\b|\\item\b)")
DISPLAY_END = re.compile(r"(?:\\\]|\$\$|\\end\{\w+\*?\})\s+(?=[A-Z][a-z]*\b(?!\s*[=+]))")
SHORT = re.compile(
    r"mrs?|ms|[djs]r|prof|[sm]t|nos?|vs|eqs?|figs?|e\.?g|i\.?e|cf|approx|resp|sec|ch|thm|prop|def|vol"
    r"|pp|ex|gen|rev|col|gov|capt|sgt|lt|dept",
    re.IGNORECASE,
)


def cuts(text: str, spans: Sequence[Span], start: int = 0, end: int | None = None) -> list[int]:
    """Where sentences of `text[start:end]` begin, the first one left out."""
    end = len(text) if end is None else end
    found = {m.end() for m in END.finditer(text, start, end) if not _goes_on(text, m)}
    for pattern in (ITEM, DISPLAY_END):
        found.update(match.end() for match in pattern.finditer(text, start, end))
    starts = [span[0] for span in spans]
    return sorted(cut for cut in found if start < cut < end and not _is_inside(cut, spans, starts))


def _is_inside(cut: int, spans: Sequence[Span], starts: Sequence[int]) -> bool:
    index = bisect.bisect_left(starts, cut) - 1
    return index >= 0 and cut < spans[index][1]


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the full stop is no end: an abbreviation, an initial, a number in a list."""
    if match["mark"] != "." or match["close"]:
        return False
    found = WORD.search(text[max(match.start() - LONGEST_WORD, 0) : match.start()])
    word = found[0] if found else ""
    before = text[max(match.start() - len(word) - 2, 0) : match.start() - len(word)].rstrip()
    if SHORT.fullmatch(word.strip("'’")) or re.fullmatch(r"[A-Za-z](?:\.[A-Za-z])+", word):
        return True
    if len(word) == 1 and word.isalpha():
        return not before.endswith(("=", "$", "+", "-", "\\"))
    return word.isdigit() and len(word) < 3 and _starts_line(text, match.start() - len(word))


def _starts_line(text: str, position: int) -> bool:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return not line.strip(" \t*#-")
