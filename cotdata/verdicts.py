"""The five verdicts on a trace, and what was seen when one was given.

`correct` and `wrong` are the only two that enter a training arm by default.
`no_answer`: no final answer could be located. `timeout`: the candidate or its
check ran out of time. `error`: the reference cannot be read, there are no
tests, or the checker failed even on a retry. A machine fault is no verdict:
it is raised as `EngineError` or `SandboxError` and the row is failed.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

VerdictName = Literal["correct", "wrong", "no_answer", "timeout", "error"]
VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """`span` is the answer's place in the trace as character offsets (start, end)."""

    verdict: VerdictName
    reason: str
    verifier: str
    answer: str | None = None
    span: tuple[int, int] | None = None
    method: str | None = None

    @property
    def correct(self) -> bool:
        return self.verdict == "correct"


VERDICT_COLUMNS = (
    "verdict", "verdict_reason", "verifier", "final_answer", "answer_span", "answer_method",
)  # fmt: skip


def verdict_columns(verdict: Verdict) -> dict[str, Any]:
    """A verdict as trace columns."""
    span = verdict.span
    return {
        "verdict": verdict.verdict,
        "verdict_reason": verdict.reason,
        "verifier": verdict.verifier,
        "final_answer": verdict.answer,
        "answer_span": {"start": span[0], "end": span[1]} if span else None,
        "answer_method": verdict.method,
    }
