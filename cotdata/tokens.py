r"""A step of reasoning as tokens of arithmetic, with their places in the text.

    [t.kind for t in tokens("5 clips x \\frac12 = 2.5")]
    # number word operator number = number

Spaces, currency signs, sizes, boxes and calculator marks leave no token. `name` stands
for whatever arithmetic cannot read: variables, roots, "2x", clock times, digits in
broken groups. `of` after a fraction or percentage is a token of its own.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from cotdata.figures import DIGITS, MAX_DIGITS, Figure, Number, read
from cotdata.units import DETERMINERS, SUFFIX

TOKEN = re.compile(
    rf"""[ \t\r~]*+(?:
    (?P<skip><<[^<>\n]*>>|&(?=\s*=)|(?<==)\s*&|\*\*(?![\d( ])|(?<![\d)])\*\*|\\[,!;:\s()\[\]]
        |\\(?:left|right|[bB]ig+[lr]?)(?![a-zA-Z])(?!\s*[(\[])
        |\\(?:displaystyle|f?box(?:ed)?|q?quad)(?![a-zA-Z])|(?<=\d),\\!)
  | (?P<bullet>(?:^|(?<=\n))(?:[*•]\s+|\d{{1,2}}[.)][ \t]+(?=\S)|\**[Ss]tep[ ]\d+\**\s*[:.)]\**))
  | (?P<money>\\?\$|[€£¥])
  | (?P<stop>\\\\(?:\[[^\]]*\])?|\n|&|[.](?!\d)|[,;:?!—]|\\(?:text)?(?:bf|it)\b)
  | (?P<text>\\(?:text\w*|mbox|mathrm)\s*\{{[^{{}}]*\}})
  | (?P<degree>\^\s*\{{?\s*\\circ\s*\}}?|°)
  | (?P<short>\\[dtc]?frac)\s*(?P<top>\d)\s*(?P<bottom>[1-9])(?!\d)
  | (?P<frac>\\[dtc]?frac(?![a-zA-Z]))
  | (?P<times>\\(?:times|cdot|ast)(?![a-zA-Z])|[×✕·⋅∙]|(?<=[\d)\s%])[xX](?=\s*[$(]?\s*\.?\d)
        |(?<=\s)[xX](?=\s+[$(]?\\?[\d.(]))
  | (?P<divided>\\div(?![a-zA-Z])|÷)
  | (?P<percent>\\?%|per\s?cent\b)
  | (?P<odd>\d+:\d[\d:]*
        |0\d+(?![.\d])|(?:\d+,)+\d{{1,2}}(?!\d)|\.{{2,}}|…|\\(?!left|[bB]ig)[a-zA-Z]+\*?|\\(?![a-zA-Z]).|//)
  | (?P<number>{DIGITS})
  | (?P<hyphened>(?<=\w)-(?=[A-Za-z]{{2}})[A-Za-z-]+)
  | (?P<of>of\s+(?:{DETERMINERS}\s+)?(?=\\?\$?\s?[\d.(]))
  | (?P<spoken>(?:times|plus|minus|(?:divided|multiplied)\s+by)(?=\s+[$(]?\.?\d))
  | (?P<word>[A-Za-z](?:[\w'’]|-(?=[A-Za-z]))*)
  | (?P<relation>[<>!:=]=|=[=>]|->|≈|≠|≤|≥|[<>])
  | (?P<equals>=)
  | (?P<operator>[-−–+*/^])
  | (?P<open>(?:\\(?:left|[bB]ig+l?)\s*)?[(\[{{])
  | (?P<close>[)\]}}])
  | (?P<other>.))
    """,
    re.VERBOSE,
)
SPOKEN = {"tim": "*", "mul": "*", "plu": "+", "min": "-", "div": "/"}
MINUS = {"−": "-", "–": "-"}
NAME_TAIL = re.compile(r"\w*")
GLUED = re.compile(r"[xX]\s*[$(]?\s*\.?\d")


class Token(NamedTuple):
    """`word` is a word in lower case or an operator; `value` that of a number."""

    kind: str
    start: int
    end: int
    word: str = ""
    value: Number = 0
    places: int = 0

    @property
    def figure(self) -> Figure:
        return Figure(self.start, self.end, self.value, self.places)


def tokens(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    found: list[Token] = []
    place, end = start, len(text) if end is None else end
    while place < end and (match := TOKEN.match(text, place, end)):
        token = _token(text, match, found)
        place = token.end if token else match.end()
        if token:
            found.append(token)
    return found


SKIPPED = ("skip", "money")
SIMPLE = {
    "bullet": "stop", "stop": "stop", "frac": "frac", "percent": "%", "odd": "name",
    "relation": "name", "equals": "=", "open": "(", "close": ")", "other": "name",
}  # fmt: skip


def _token(text: str, match: re.Match[str], found: list[Token]) -> Token | None:
    name = match.lastgroup or ""
    start, end = match.span(name)
    if name in SKIPPED:
        return None
    if name in SIMPLE:
        return Token(SIMPLE[name], start, end, text[start:end])
    if name == "number":
        return _number(text, start, end)
    if name == "word":
        is_glued = bool(found) and found[-1].end == start and found[-1].kind == ")"
        is_letter = end - start == 1 and text[start] not in "aAIi"
        return Token(
            "name" if is_letter or is_glued else "word", start, end, text[start:end].lower()
        )
    if name == "spoken":
        return Token("operator", start, end, SPOKEN[text[start : start + 3]])
    if name == "operator":
        return Token("operator", start, end, MINUS.get(text[start], text[start]))
    if name == "bottom":
        return Token(
            "number", start, end, "", Fraction(int(match["top"]), int(match["bottom"])), -1
        )
    if name == "of":
        return Token("of" if _is_share(found) else "word", start, end, "of")
    if name in ("times", "divided"):
        return Token("operator", start, end, "*" if name == "times" else "/")
    return _wording(text[start:end], start, end, name)


def _number(text: str, start: int, end: int) -> Token:
    """Digits glued to a letter are a name, unless the letter is a times sign or a unit."""
    rest = text[end : end + 8]
    glued = rest[:1].isalpha() or rest[:1] == "_"
    if glued and not GLUED.match(rest) and not SUFFIX.match(rest):
        tail = NAME_TAIL.match(text, end)
        return Token("name", start, tail.end() if tail else end)
    if end - start > MAX_DIGITS or (start and text[start - 1] in "_"):
        return Token("name", start, end)
    return Token("number", start, end, "", *read(text[start:end]))


def _wording(written: str, start: int, end: int, name: str) -> Token:
    if name == "degree":
        return Token("word", start, end, "degrees")
    inner = written.partition("{")[2].rstrip("}").strip() if name == "text" else written.lstrip("-")
    kind = "name" if any(char.isdigit() for char in inner) else "word"
    return Token(kind, start, end, inner.lower())


def _is_share(found: list[Token]) -> bool:
    """After 20%, 3/4 or a closed fraction, "of" multiplies."""
    if not found:
        return False
    if found[-1].kind in ("%", ")") or (found[-1].kind == "number" and found[-1].places == -1):
        return True
    return found[-1].kind == "number" and len(found) > 1 and found[-2].word == "/"
