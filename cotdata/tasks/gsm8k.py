r"""GSM8K: grade-school word problems with a number as the answer (OpenAI, MIT).

    parse({"question": "…", "answer": "9 * 2 = <<9*2=18>>18\n#### 18"})["answer"]   # "18"
    verify({"answer": "18"}, "9 * 2 = 18. The answer is 18.").correct             # True

Takes the Hub's columns (question, answer) or our own (problem, answer, solution).
Where answers stand and when two are equal is decided in `cotdata.answers` and
`cotdata.equivalence`.
"""

import re

from cotdata.errors import InputError
from cotdata.mathverdict import CHECKER, judge_answer
from cotdata.notation import CALCULATOR_MARK
from cotdata.references import read_reference, stated_reference
from cotdata.schema import Row
from cotdata.tasks import HubSource, Shot, Task
from cotdata.verdicts import Verdict

VERIFIER = f"gsm8k/1 {CHECKER}"

INSTRUCTION = (
    "Think about the problem step by step, then end with one line of this form: The answer is N."
)
ANSWER_LINE = re.compile(r"\s*^####[ \t]*(.*?)[ \t]*$\s*", re.MULTILINE)


def parse(row: Row) -> Row:
    problem = row.get("problem") or row.get("question")
    if not isinstance(problem, str) or not problem.strip():
        raise InputError("no problem text (columns: problem or question)")
    answer = row.get("answer")
    solution = row.get("solution")
    if solution is None and isinstance(answer, str) and "####" in answer:
        solution = answer
    stated = solution if answer is None else answer
    if stated is None or not str(stated).strip():
        raise InputError("no reference answer (columns: answer or solution)")
    return {"problem": problem.strip(), "answer": _final(str(stated)), "solution": solution}


def _final(text: str) -> str:
    if "\n" in text.strip() and "####" not in text and "\\boxed" not in text:
        raise InputError("the solution has no final line `#### N`")
    return read_reference(text)


def question(row: Row) -> str:
    return str(row["problem"])


def strip_calculator_marks(text: str) -> str:
    """Without the `<<9*2=18>>` that the published solutions hold."""
    return CALCULATOR_MARK.sub("", text)


def normalise_answer_line(text: str) -> str:
    """The line `#### 18` as the instruction asks for it."""
    return ANSWER_LINE.sub(r"\nThe answer is \1.", text).strip()


def human_trace(row: Row) -> str | None:
    solution = row.get("solution")
    return normalise_answer_line(strip_calculator_marks(solution)) if solution else None


def verify(problem: Row, trace: str, finish_reason: str | None = None) -> Verdict:
    return judge_answer(stated_reference(problem), trace, finish_reason, VERIFIER)


def _shot(problem: str, answer: str, trace: str) -> Shot:
    return Shot(problem={"problem": problem, "answer": answer}, trace=trace)


SHOTS = (
    _shot(
        "A bakery packs 6 rolls in a bag. On Saturday it sold 14 bags before noon and 9 bags "
        "after noon. How many rolls did it sell on Saturday?",
        "138",
        "The bakery sold 14 + 9 = 23 bags. With 6 rolls in each bag that is 23 * 6 = 138 rolls.\n"
        "The answer is 138.",
    ),
    _shot(
        "Nadia saves $15 a week. She wants a bicycle that costs $240 and already has $90. In how "
        "many weeks can she buy it?",
        "10",
        "Nadia still needs 240 - 90 = 150 dollars. At 15 dollars a week that takes "
        "150 / 15 = 10 weeks.\nThe answer is 10.",
    ),
    _shot(
        "A tank holds 80 liters and is three quarters full. Someone takes out 25% of the water. "
        "How many liters are left?",
        "45",
        "Three quarters of 80 liters are 80 * 3 / 4 = 60 liters. A quarter of that is "
        "60 / 4 = 15 liters, so 60 - 15 = 45 liters are left.\nThe answer is 45.",
    ),
    _shot(
        "Omar is 4 years older than twice the age of his sister. Together they are 34 years old. "
        "How old is Omar?",
        "24",
        "Let the sister be s years old. Then Omar is 2s + 4, and s + 2s + 4 = 34. So 3s = 30 and "
        "s = 10. Omar is 2 * 10 + 4 = 24 years old.\nThe answer is 24.",
    ),
    _shot(
        "A train covers 150 miles in 2.5 hours. At the same speed, how many miles does it cover "
        "in 4 hours?",
        "240",
        "The speed is 150 / 2.5 = 60 miles per hour. In 4 hours the train covers "
        "60 * 4 = 240 miles.\nThe answer is 240.",
    ),
)

TASK = Task(
    name="gsm8k",
    about="grade-school word problems with a number as the answer",
    instruction=INSTRUCTION,
    parse=parse,
    question=question,
    human_trace=human_trace,
    verify=verify,
    verifier=VERIFIER,
    shots=SHOTS,
    source=HubSource(repo="openai/gsm8k", config="main", license="MIT"),
)
