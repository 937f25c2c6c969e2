"""Countdown where a number may be left out: each is used at most once.

    verify({"numbers": [2, 3, 4], "target": 12}, "<answer>3 * 4</answer>").correct

The same as `countdown` otherwise. A task of its own, so that a dataset says which
rule its verdicts were given under, and the question agrees with the rule.
"""

from dataclasses import replace
from functools import partial

from cotdata.schema import Row
from cotdata.tasks import Shot, countdown
from cotdata.verdicts import Verdict

VERIFIER = "countdown_subset/2"

parse = partial(countdown.parse, rule="subset")


def verify(problem: Row, trace: str, finish_reason: str | None = None) -> Verdict:
    return countdown.judge(problem, trace, finish_reason, rule="subset", verifier=VERIFIER)


def _shot(shot: Shot, *more: int) -> Shot:
    numbers = [*shot.problem["numbers"], *more]
    return replace(shot, problem=parse({"numbers": numbers, "target": shot.problem["target"]}))


# One worked example leaves a number out.
first, second, *others = countdown.SHOTS

TASK = replace(
    countdown.TASK,
    name="countdown_subset",
    about="reach a target with given numbers, each used at most once",
    parse=parse,
    question=partial(countdown.question, rule="subset"),
    human_trace=partial(countdown.human_trace, rule="subset"),
    verify=verify,
    verifier=VERIFIER,
    shots=(_shot(first), _shot(second, 7), *map(_shot, others)),
)
