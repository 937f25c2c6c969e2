r"""A verdict on a trace whose final answer is a number, a formula or a word.

    judge_answer("\\frac{1}{2}", "So \\boxed{0.5}.", None, "math/1").correct    # True

`cotdata.answers` locates, `cotdata.equivalence` compares, `cotdata.mathpool` decides
what is left. Verdicts on one pair of answers are kept, so many samples of one problem
cost little; a fault of the checker is the one outcome that is not kept.
"""

import functools
from dataclasses import dataclass
from importlib.metadata import version

from cotdata import mathpool
from cotdata.answers import Located, Missing, locate
from cotdata.equivalence import compare
from cotdata.errors import InputError
from cotdata.guards import too_complex
from cotdata.notation import canonical
from cotdata.references import read_reference
from cotdata.verdicts import Verdict, VerdictName

CHECKER = f"math-verify/{version('math-verify')}"


@dataclass(frozen=True, slots=True)
class _Outcome:
    verdict: VerdictName
    reason: str


class _CheckerFailed(Exception):
    """Raised past the caches: the next time may do better."""


def judge_answer(reference: str, trace: str, finish_reason: str | None, verifier: str) -> Verdict:
    found = locate(trace, finish_reason)
    if isinstance(found, Missing):
        return Verdict(verdict="no_answer", reason=found.reason, verifier=verifier)
    outcome = _outcome(reference, found)
    return Verdict(
        verdict=outcome.verdict,
        reason=outcome.reason,
        verifier=verifier,
        answer=found.text,
        span=found.span,
        method=found.method,
    )


def _outcome(reference: str, found: Located) -> _Outcome:
    try:
        gold = read_reference(reference)
    except InputError:
        return _Outcome("error", "unreadable_reference")
    try:
        return _decided(gold, found.text)
    except _CheckerFailed:
        return _Outcome("error", "checker_failed")


@functools.lru_cache(maxsize=200_000)
def _decided(gold: str, said: str) -> _Outcome:
    comparison = compare(gold, said)
    if comparison.equal is not None:
        return _Outcome("correct" if comparison.equal else "wrong", comparison.reason)
    if too_complex(canonical(gold)):
        return _Outcome("error", "reference_too_complex")
    if too_complex(canonical(said)):
        return _Outcome("wrong", "too_complex")
    return _asked(canonical(gold), canonical(said))


# The two sides meet here a second time when only their spelling differed.
@functools.lru_cache(maxsize=200_000)
def _asked(gold: str, said: str) -> _Outcome:
    reply = mathpool.ask(gold, said)
    if reply.kind == "timeout":
        return _Outcome("timeout", "check_timeout")
    if reply.kind == "fault":
        raise _CheckerFailed
    is_equal = reply.kind == "equal"
    return _Outcome("correct", "math_verify") if is_equal else _Outcome("wrong", "math_verify")
