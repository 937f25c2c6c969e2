r"""What the reference answer of a problem is, and whether it can be read.

    read_reference("… $\\boxed{12}$.")      # "12"
    read_reference("9 * 2 = 18\n#### 18")   # "18"
    read_reference("\\frac{1}{2}")          # the answer itself

A reference that cannot be read is an error when data load and a verdict `error` when
a trace is verified, never a wrong or a right answer.
"""

import functools
import re

from cotdata.answers import Located, locate
from cotdata.errors import InputError
from cotdata.notation import canonical
from cotdata.schema import Row

MARKED = re.compile(r"####\s*([^\n]*)")
WORDS = re.compile(r"(?<![\\a-zA-Z])[A-Za-z]{2,}")
IN_TEXT = re.compile(r"\\[a-z]+\*?(?:\s*\{[^{}\\]*\})?")
MAX_WORDS = 3


@functools.lru_cache(maxsize=65536)
def read_reference(text: str) -> str:
    """The last box, else the last `####` line, else the text if it is an answer."""
    answer = _boxed(text) if "\\boxed" in text or "\\fbox" in text else _marked(text)
    if not canonical(answer):
        raise InputError(
            "the reference answer is empty", hint="give it in \\boxed{…} or after ####"
        )
    if not _is_balanced(answer):
        raise InputError(f"the reference answer has unbalanced braces: {answer[:80]}")
    return answer


def _boxed(text: str) -> str:
    found = locate(text)
    if not isinstance(found, Located) or found.method != "boxed":
        raise InputError("the reference holds no complete, filled \\boxed{…}")
    return found.text


def _marked(text: str) -> str:
    lines = MARKED.findall(text)
    if lines:
        return str(lines[-1]).strip()
    if len(WORDS.findall(IN_TEXT.sub(" ", text))) >= MAX_WORDS:
        raise InputError(
            f"the reference is a sentence, not an answer: {text[:80]}",
            hint="give the answer alone, or in \\boxed{…}, or after ####",
        )
    return text.strip()


def _is_balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text.replace("\\\\", "")):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def stated_reference(problem: Row) -> str:
    """What a row says of its answer: the column `answer`, else the solution."""
    for column in ("answer", "solution"):
        value = problem.get(column)
        if value is not None and str(value).strip():
            return str(value)
    return ""
