"""Which share of steps was made wrong in what a model learned from: read off the lineage.

level_of(manifest)    # Level(series="wrong_operation", level=.25), or None

A series is one way of editing, such as the placebo; its levels make one line of
the tolerance curve.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cotdata.manifest import Manifest

ARM = re.compile(r"level-(0|1|0?\.\d+|[01]\.\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    series: str
    level: float


def level_of(manifest: Manifest) -> Level | None:
    edited = [step for step in manifest.lineage() if step.stage == "flaw"]
    arm = ARM.fullmatch(str(edited[-1].options.get("arm"))) if edited else None
    if arm is None:
        return None
    operators = edited[-1].options.get("operators") or ["flaw"]
    named = [operators] if isinstance(operators, str) else operators
    return Level(series=", ".join(map(str, named)), level=float(arm[1]))


def are_compared(first: Level | None, second: Level | None) -> bool:
    """Of a curve's many pairs those that ask something: the same level, or level 0."""
    if first is None or second is None:
        return True
    if first.series == second.series:
        return 0 in (first.level, second.level)
    return first.level == second.level
