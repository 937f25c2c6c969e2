"""Countdown where a number may be left out: each is used at most once.

The same as `countdown` otherwise. A task of its own, so that a dataset says which
rule its verdicts were given under.
"""

from dataclasses import replace

from cotdata.schema import Row
from cotdata.tasks import countdown
from cotdata.verdicts import Verdict

VERIFIER = "countdown_subset/1"


def question(problem: Row) -> str:
    return countdown.question(problem).replace("each once", "each at most once")


def verify(problem: Row, trace: str, finish_reason: str | None = None) -> Verdict:
    return countdown.judge(problem, trace, is_subset_allowed=True, verifier=VERIFIER)


TASK = replace(
    countdown.TASK,
    name="countdown_subset",
    about="reach a target with given numbers, each used at most once",
    question=question,
    verify=verify,
    verifier=VERIFIER,
)
