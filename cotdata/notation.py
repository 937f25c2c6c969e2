r"""One spelling for every answer: what differs only in type-setting becomes equal.

    canonical("$\\dfrac12\\,$.")    # "\\frac{1}{2}"
    canonical("１０，０８０")        # "10,080"
    canonical("√5")                # "\\sqrt{5}"

Removed: dollar signs and other currency signs, `\left \right`, sizes, thin and
negative spaces, `{,}`, a closing period, Markdown, redundant outer brackets.
Rewritten: `dfrac tfrac`, arguments without braces, Unicode signs, full-width forms,
all text commands to `\text`. Percent, degrees and units stay: they have rules.
"""

import functools
import re
import unicodedata
from fractions import Fraction

MAX_LENGTH = 5_000

SIGNS = str.maketrans(
    {
        "−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "﹣": "-",
        "×": r"\times ", "÷": r"\div ", "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ",
        "∞": r"\infty ", "π": r"\pi ", "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ",
        "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ",
        "±": r"\pm ", "∓": r"\mp ", "°": r"^\circ ", "º": r"^\circ ", "ℝ": r"\mathbb{R}",
        "∅": r"\emptyset ", "²": "^{2}", "³": "^{3}", "⁴": "^{4}", "≈": r"\approx ",
        "€": "", "£": "", "¥": "", "₹": "", "，": ",", "、": ",", "。": ".", "⟨": r"\langle ",
        "⟩": r"\rangle ", "“": "", "”": "", "\u00a0": " ", "\u2009": " ", "\u202f": " ",
        "\u200b": "", "\ufeff": "",
    }
)  # fmt: skip
VULGAR = re.compile(r"(\d*)([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])")

TEXTS = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|mbox|hbox|(?:math)?(?:rm|bf|it|sf|tt)|mathnormal"
    r"|operatorname\*?|emph|bold|boldsymbol|mathbf)\s*\{"
)
SPACING = re.compile(
    r"(?<!\\)\\(?:[,;:>]|(?:left|right)(?![a-z])\.?|[Bb]igg?[lrm]?(?![a-z])|q?quad(?![a-z])"
    r"|(?:display|text|script)style(?![a-z])|limits(?![a-z])|phantom\{[^{}]*\}|hspace\{[^{}]*\})"
)
GROUPED = re.compile(r"(?<=\d)(?:\\[,:;> ]|~)(?=\d{3}(?!\d))")
THIN_COMMA = re.compile(r"\\!\s*,\s*(?:\\!)?\s*|,\s*\\!\s*|\{,\}(?:\s*\\!)?\s*")
BOXES = re.compile(r"\\(?:boxed|fbox)\s*\{")
FRACTION = re.compile(r"\\[dtc]frac(?![a-z])")
BARE_FRACTION = re.compile(
    r"\\frac\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|([0-9a-zA-Z]))\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}"
    r"|([0-9a-zA-Z]|\\pi(?![a-z])))"
)
BARE_ROOT = re.compile(r"\\sqrt\s*(\[[^\]]*\])?\s*(?:([0-9a-zA-Z])|(\\[a-z]+))")
REPEATING = re.compile(r"(?<![\d.])(\d{0,99})\.(\d{0,99})\\overline\s*\{(\d{1,99})\}")
UNICODE_ROOT = re.compile(r"√\s*(?:(\d+(?:\.\d+)?|[a-zA-Z])|\(([^()]*)\)|\{([^{}]*)\})")
SYNONYMS = (
    (re.compile(r"\\(?:leq|leqslant|le)(?![a-z])"), r"\\le "),
    (re.compile(r"\\(?:geq|geqslant|ge)(?![a-z])"), r"\\ge "),
    (re.compile(r"\\(?:neq|ne)(?![a-z])"), r"\\ne "),
    (re.compile(r"\\lt(?![a-z])"), "<"),
    (re.compile(r"\\gt(?![a-z])"), ">"),
    (re.compile(r"<="), r"\\le "),
    (re.compile(r">="), r"\\ge "),
    (re.compile(r"\\(?:lbrace|\{)"), r"\\{"),
    (re.compile(r"\\(?:rbrace|\})"), r"\\}"),
    (re.compile(r"\\l?dots[bcim]?(?![a-z])|\.\.\."), r"\\ldots "),
    (re.compile(r"\\lvert|\\rvert|\\vert|\\mid(?![a-z])"), "|"),
    (re.compile(r"\^\s*\{?\s*\\(?:circ|degree)(?![a-z])\s*\}?|\\degree(?![a-z])"), r"^\\circ "),
    (re.compile(r"(?<=[\w)}])\s*\*\*(?=\s*[-({\d a-zA-Z])"), "^"),
    (re.compile(r"\\text\{\s*(?:degrees?|deg)\s*\}|(?<=\d)\s+degrees?\b"), r"^\\circ "),
    (re.compile(r"\\text\{\s*per\s?cent\s*\}|(?<=\d)\s*per\s?cent\b"), r"\\%"),
    (re.compile(r"(?<!\\)%"), r"\\%"),
    (re.compile(r"\{?(\w+)\s*\\choose\s*(\w+)\}?"), r"\\binom{\1}{\2}"),
    (re.compile(r"\\varnothing|\\text\{\s*(?:empty set)\s*\}"), r"\\emptyset"),
)
CALCULATOR_MARK = re.compile(r"<<[^<>]*>>")
NUMBER_IN_TEXT = re.compile(r"\\text\{([^{}]*\d[^{}]*)\}")
MARKS = " \t\r\n,;:?*_`'\"~"
OPENED = {"(": ")", "{": "}"}


@functools.lru_cache(maxsize=65536)
def canonical(text: str) -> str:
    if len(text) > MAX_LENGTH:
        return text
    if not text.isascii():
        text = _ascii(" ".join(text.split()))
    if text.isalnum():
        return text
    text = _without_markup(text)
    if "\\" in text or "{" in text:
        text = _plain_latex(text)
    for pattern, replacement in SYNONYMS:
        text = pattern.sub(replacement, text)
    return _unwrapped(" ".join(text.split()))


def _ascii(text: str) -> str:
    text = VULGAR.sub(_vulgar, text.translate(SIGNS))
    wide = (unicodedata.normalize("NFKC", c) if "\uff00" <= c <= "\uffee" else c for c in text)
    text = UNICODE_ROOT.sub(lambda m: rf"\sqrt{{{m[1] or m[2] or m[3]}}}", "".join(wide))
    return text.translate(SIGNS)


def _vulgar(match: re.Match[str]) -> str:
    top, bottom = unicodedata.normalize("NFKC", match[2]).split("⁄")
    return rf"{match[1]}\frac{{{top}}}{{{bottom}}}"


def _without_markup(text: str) -> str:
    text = CALCULATOR_MARK.sub("", text)
    text = re.sub(r"\\?\$|(?<!\\)\\[()\[\]](?!\d+(?:pt|em|ex))", "", text)
    return text.strip("`").replace("\\textdollar", "")


def _plain_latex(text: str) -> str:
    text = BOXES.sub("{", text)
    text = THIN_COMMA.sub(",", text)
    text = GROUPED.sub("", text)
    text = SPACING.sub(" ", re.sub(r"(?<!\\)\\!", "", text))
    # The second half of a row break `\\` followed by a space is not a space command.
    text = re.sub(r"(?<!\\)((?:\\\\)*)\\ ", r"\1 ", text).replace("~", " ")
    text = TEXTS.sub(r"\\text{", text)
    text = FRACTION.sub(r"\\frac", text)
    text = REPEATING.sub(_repeating, BARE_FRACTION.sub(_fraction, text))
    return BARE_ROOT.sub(lambda m: rf"\sqrt{m[1] or ''}{{{m[2] or m[3]}}}", text)


def _repeating(match: re.Match[str]) -> str:
    whole, start, period = match.groups()
    ones = int("9" * len(period)) * 10 ** len(start)
    value = Fraction(int(whole + start + period or "0") - int(whole + start or "0"), ones)
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _fraction(match: re.Match[str]) -> str:
    top = match[1] if match[1] is not None else match[2]
    bottom = match[3] if match[3] is not None else match[4]
    return rf"\frac{{{top}}}{{{bottom}}}"


def _unwrapped(text: str) -> str:
    """Without the marks around the answer and brackets around one value."""
    while True:
        before = text
        text = text.strip(MARKS).removesuffix(".").removesuffix("\\").strip()
        text = _peeled(text)
        if words := NUMBER_IN_TEXT.fullmatch(text):
            text = words[1]
        if text == before:
            return text


def _peeled(text: str) -> str:
    """Brackets that enclose all of the text are taken off, round ones from one value only."""
    if text[:1] not in ("(", "{"):
        return text
    partner: dict[int, int] = {}
    open_places: list[int] = []
    for bracket in re.finditer(r"[(){}]", text):
        if bracket.group() in "({":
            open_places.append(bracket.start())
        elif open_places and OPENED[text[open_places[-1]]] == bracket.group():
            partner[open_places.pop()] = bracket.start()
    first, last = 0, len(text) - 1
    while partner.get(first) == last:
        first, last = first + 1, last - 1
    inner = text[first : last + 1]
    if first and text[first - 1] == "(" and not _is_one_value(inner):
        first, last = first - 1, last + 1
    return text[first : last + 1]


def _is_one_value(inner: str) -> bool:
    return "," not in inner and ";" not in inner and not inner.strip().isalpha()


def squeezed(text: str) -> str:
    """For comparing as text: without white space, and letter case kept."""
    return "".join(text.split())
