r"""MATH: competition problems whose answer is a formula, a number or a word (Hendrycks et al.).

    parse({"problem": "…", "level": "Level 2", "type": "Algebra",
           "solution": "… $\\boxed{\\frac{1}{2}}$."})["answer"]           # "\\frac{1}{2}"
    verify({"answer": "\\frac{1}{2}"}, "So it is \\boxed{0.5}.").correct  # True

Takes the Hub's columns of MATH (problem, level, type, solution) and MATH-500 (with
answer, subject and a level that is a number), or our own. The gold answer is the
column `answer`, else the last box of the solution; a row with neither is refused.
"""

from cotdata.errors import InputError
from cotdata.mathverdict import CHECKER, judge_answer
from cotdata.references import read_reference, stated_reference
from cotdata.schema import Row
from cotdata.tasks import HubSource, Shot, Task
from cotdata.verdicts import Verdict

VERIFIER = f"math/1 {CHECKER}"

INSTRUCTION = "Think about the problem step by step, then put the final answer in \\boxed{}."


def parse(row: Row) -> Row:
    problem = row.get("problem") or row.get("question")
    if not isinstance(problem, str) or not problem.strip():
        raise InputError("no problem text (columns: problem or question)")
    solution, level = row.get("solution"), row.get("level")
    return {
        "problem": problem.strip(),
        "answer": _gold(row.get("answer"), solution),
        "solution": solution,
        "subject": row.get("subject") or row.get("type"),
        "level": f"Level {level}" if isinstance(level, int) else level,
        "source_id": row.get("source_id") or row.get("unique_id"),
    }


def _gold(answer: object, solution: object) -> str:
    if answer is not None and str(answer).strip():
        return read_reference(str(answer))
    if not isinstance(solution, str) or ("\\boxed" not in solution and "\\fbox" not in solution):
        raise InputError(
            "no reference answer", hint="a column `answer`, or a \\boxed{…} in the solution"
        )
    return read_reference(solution)


def question(row: Row) -> str:
    return str(row["problem"])


def human_trace(row: Row) -> str | None:
    solution = row.get("solution")
    return str(solution).strip() if solution else None


def verify(problem: Row, trace: str, finish_reason: str | None = None) -> Verdict:
    return judge_answer(stated_reference(problem), trace, finish_reason, VERIFIER)


def _shot(problem: str, answer: str, trace: str) -> Shot:
    return Shot(problem={"problem": problem, "answer": answer}, trace=trace)


SHOTS = (
    _shot(
        r"Find all real $x$ with $x^2 - 4x = 21$.",
        "-3, 7",
        r"Moving everything to one side gives $x^2 - 4x - 21 = 0$, which factors as "
        r"$(x - 7)(x + 3) = 0$. So $x = 7$ or $x = -3$, and the answer is $\boxed{-3, 7}$.",
    ),
    _shot(
        r"A bag holds 4 red and 6 blue balls. Two balls are drawn without putting the first one "
        r"back. What is the probability that both are red?",
        r"\frac{2}{15}",
        r"The first ball is red with probability $\frac{4}{10}$. Then 3 of the 9 balls left are "
        r"red, so the second is red with probability $\frac{3}{9}$. Both are red with probability "
        r"$\frac{4}{10} \cdot \frac{3}{9} = \frac{12}{90} = \boxed{\frac{2}{15}}$.",
    ),
    _shot(
        r"What is the distance between the points $(1, -2)$ and $(5, 6)$?",
        r"4\sqrt{5}",
        r"The coordinates differ by $4$ and by $8$, so the distance is "
        r"$\sqrt{4^2 + 8^2} = \sqrt{80} = \boxed{4\sqrt{5}}$.",
    ),
    _shot(
        r"For which real $t$ is $\sqrt{6 - 2t}$ defined? Answer in interval notation.",
        r"(-\infty, 3]",
        r"The number under the root must not be negative: $6 - 2t \ge 0$, that is $t \le 3$. "
        r"As an interval this is $\boxed{(-\infty, 3]}$.",
    ),
)

TASK = Task(
    name="math",
    about="competition problems whose answer is a formula, a number or a word",
    instruction=INSTRUCTION,
    parse=parse,
    question=question,
    human_trace=human_trace,
    verify=verify,
    verifier=VERIFIER,
    shots=SHOTS,
    source=HubSource(repo="DigitalLearningGmbH/MATH-lighteval", license="MIT"),
    waits=True,
)
