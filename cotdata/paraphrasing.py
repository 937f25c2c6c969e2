"""Whether a text says the same as a trace in other words.

    gate(row, "In May she sold half of 48, so 24 …", "stop")   # None: accepted

A paraphrase must end where the trace ends (the task's own verifier decides),
keep its numbers in their order, change enough words to be no copy and few
enough to be no fresh solution, and say nothing about being a paraphrase. Each
refusal has a short reason. The bands are stated in the code below, once.

The gate cannot see a wrong word between right numbers ("more" for "less"); a
reader or a second model can.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from cotdata.prompts import Prompt
from cotdata.schema import Row
from cotdata.steps import segment
from cotdata.tasks import get_task

# Share of words, in order, that both texts have: above COPY it is a copy, below
# FRESH the model solved the problem anew.
COPY, FRESH = 0.9, 0.12
# Numbers of the original that must come back, and how well their order must agree.
NUMBERS_KEPT, NUMBERS_ORDER = 1.0, 0.6
# A paraphrase may merge or split steps, within this factor.
STEPS_FACTOR = 2.0

NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
WORD = re.compile(r"[A-Za-z']+|\d[\d.,]*")
MARKS = re.compile(r"<<[^>]*>>")
# "One" is left out: it seldom counts anything.
NUMBER_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "dozen": "12", "half": "2",
    "twice": "2", "double": "2", "thrice": "3", "quarter": "4",
}  # fmt: skip
META = re.compile(
    r"^\W*(?:sure|certainly|of course|okay|ok|here(?:'s| is| are)|below is|rewritten|paraphras\w*|"
    r"rephras\w*|reworded|in other words|as requested|i (?:have|will|rewrote)|the (?:re\w+ed|"
    r"following is))\b"
    r"|\b(?:paraphras\w+|rephras\w+|rewritten (?:version|solution|text)|reworded|"
    r"original (?:text|solution|version|trace)|i hope this|let me know|as an ai)\b",
    re.IGNORECASE,
)


INSTRUCTIONS = {
    "code": "Rewrite the solution below: other comments, other names for local variables, other "
    "words around the code. The function's name and what the program does must not change.",
    "text": "Say the solution below again in your own words. Keep every step, every number and "
    "the final answer, in the same order and in the same form.",
}
PROMPT = "{instruction} Write only the new solution.\n\nProblem: {problem}\n\nSolution:\n{trace}"
PROMPT_SHA = hashlib.sha256(repr((INSTRUCTIONS, PROMPT)).encode()).hexdigest()[:12]


def rewrite_prompt(row: Row) -> Prompt:
    instruction = INSTRUCTIONS["code" if row["tests"] else "text"]
    text = PROMPT.format(instruction=instruction, problem=row["problem"], trace=row["trace"])
    return Prompt(style="chat", messages=({"role": "user", "content": text},))


@dataclass(frozen=True, kw_only=True, slots=True)
class Measures:
    """`similarity` in [0, 1] by words; the shares are of the original's numbers."""

    similarity: float
    numbers_kept: float
    numbers_order: float


Reason = tuple[str, str]


def gate(row: Row, text: str, finish_reason: str | None) -> Reason | None:
    """Why the text is no paraphrase of the row's trace, or None."""
    if finish_reason != "stop":
        return "truncated", f"finish reason {finish_reason}"
    if found := META.search(text):
        return "meta_talk", found[0]
    return _answer_reason(row, text) or _content_reason(row, text)


def _answer_reason(row: Row, text: str) -> Reason | None:
    """The final answers must be equal by the task's verifier, right or wrong."""
    task = get_task(row["task"])
    original = task.verify(row, row["trace"])
    verdict = task.verify(row, text)
    if verdict.verdict == "no_answer":
        return "no_answer", verdict.reason
    if original.correct:
        same = verdict.correct
    else:
        same = task.verify({**row, "answer": original.answer}, text).correct
    return None if same else ("answer_changed", f"{original.answer} became {verdict.answer}")


def _content_reason(row: Row, text: str) -> Reason | None:
    found = measures(row["trace"], text)
    if found.similarity > COPY:
        return "copied", f"similarity {found.similarity:.2f}"
    if row["tests"]:
        return None
    if found.numbers_kept < NUMBERS_KEPT:
        return "numbers_lost", f"{found.numbers_kept:.0%} of the numbers are there"
    known = numbers(row["trace"]) | numbers(row["problem"])
    if added := numbers(text) - known:
        return "numbers_added", ", ".join(sorted(added))
    if found.similarity < FRESH or found.numbers_order < NUMBERS_ORDER:
        return "fresh_solution", f"similarity {found.similarity:.2f}"
    return _steps_reason(row, text)


def _steps_reason(row: Row, text: str) -> Reason | None:
    before, after = (_num_steps(t, row["task"]) for t in (row["trace"], text))
    if not before / STEPS_FACTOR <= max(after, 1) <= max(before, 1) * STEPS_FACTOR + 1:
        return "steps_changed", f"{before} steps became {after}"
    return None


def _num_steps(trace: str, task: str) -> int:
    return sum(piece.kind in ("step", "row") for piece in segment(trace, task))


def measures(original: str, text: str) -> Measures:
    before = numbers(original)
    return Measures(
        similarity=_agreement(_words(original), _words(text)),
        numbers_kept=len(before & numbers(text)) / len(before) if before else 1.0,
        numbers_order=_agreement(_number_list(original), _number_list(text)) if before else 1.0,
    )


def numbers(text: str) -> set[str]:
    return set(_number_list(text))


def _number_list(text: str) -> list[str]:
    """Values in reading order; number words count, calculator marks do not."""
    spelled = re.sub(
        r"[A-Za-z]+", lambda m: NUMBER_WORDS.get(m[0].lower(), m[0]), MARKS.sub("", text)
    )
    return [_plain(match[0]) for match in NUMBER.finditer(spelled)]


def _plain(number: str) -> str:
    value = number.replace(",", "")
    return value.rstrip("0").rstrip(".") if "." in value else value


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(MARKS.sub("", text))]


def _agreement(before: list[str], after: list[str]) -> float:
    return SequenceMatcher(None, before, after, autojunk=False).ratio()
