r"""The process that asks sympy: one pair of answers at a time, over two pipes.

    python -c "from cotdata.mathworker import main; main()"
    {"kind": "same", "reference": "2\\sqrt3", "answer": "\\sqrt{12}", "limit_s": 3}
    {"equal": true}

It holds no clock: `cotdata.mathpool` kills it. Should its parent die while it computes,
the kernel ends it at its CPU limit; otherwise it ends when its input does. `raw` jobs
ask math-verify as it ships, with whole texts, for a second opinion.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import resource
import sys
import time
from fractions import Fraction
from typing import IO, Any

MEMORY_BYTES = 3 * 2**30
CPU_GRACE_S = 2
TRIGONOMETRY = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-z])")
DEGREES = re.compile(r"(\d+(?:\.\d+)?)\s*\^\\circ")
DECIMAL = re.compile(r"(?<![\w.])(\d*)\.(\d+)(?![\w.])")


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable(logging.CRITICAL)
    _warm_up()
    _send(replies, {"ready": True})
    for line in sys.stdin:
        _send(replies, _done(json.loads(line)))


def _send(replies: IO[str], message: dict[str, Any]) -> None:
    replies.write(json.dumps(message) + "\n")


def _warm_up() -> None:
    """Imports and the parser's tables belong to the start, not to the first job."""
    sympy_equal(r"\sqrt{2}+x", r"\frac{1}{\sqrt{2}}")


def _done(job: dict[str, Any]) -> dict[str, Any]:
    spent = math.ceil(time.process_time() + job["limit_s"]) + CPU_GRACE_S
    resource.setrlimit(resource.RLIMIT_CPU, (spent, resource.RLIM_INFINITY))
    try:
        if job["kind"] == "raw":
            return {"equal": raw_equal(job["reference"], job["answer"])}
        from cotdata.equivalence import compare

        return {"equal": compare(job["reference"], job["answer"], sympy_equal).equal}
    except MemoryError:
        return {"equal": None}


def sympy_equal(reference: str, answer: str) -> bool:
    """math-verify on two short spans with decimals made exact, and our rule on roots."""
    from math_verify import verify

    gold, said = _parsed(reference), _parsed(answer)
    if not gold or not said:
        return False
    same = verify(gold, said, float_rounding=12, numeric_precision=50, timeout_seconds=None)
    return bool(same) or _equal_where_real(gold[0], said[0])


def _parsed(text: str) -> list[Any]:
    from math_verify import LatexExtractionConfig, parse

    config = LatexExtractionConfig(boxed_match_priority=0)
    if TRIGONOMETRY.search(text):
        text = DEGREES.sub(r"{\\frac{\1\\pi}{180}}", text)
    boxed = f"$\\boxed{{{DECIMAL.sub(_exact, text)}}}$"
    return list(parse(boxed, extraction_config=[config], parsing_timeout=None))


def _exact(decimal: re.Match[str]) -> str:
    value = Fraction(decimal.group())
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _equal_where_real(gold: Any, said: Any) -> bool:
    """sqrt(1/n) is 1/sqrt(n): with positive letters, and wherever both are real."""
    from sympy import Expr, Symbol, simplify

    if not (isinstance(gold, Expr) and isinstance(said, Expr)) or not _has_root(gold, said):
        return False
    letters = gold.free_symbols
    if not letters or letters != said.free_symbols:
        return False
    difference = gold - said
    positive = {letter: Symbol(letter.name, positive=True) for letter in letters}
    try:
        if simplify(difference.subs(positive)) != 0:
            return False
        return all(_agree_at(gold, said, letters, number) for number in (-2, -3, -7))
    except (ValueError, TypeError, NotImplementedError, RecursionError):
        return False


def _has_root(*formulas: Any) -> bool:
    from sympy import Pow

    powers = [power for formula in formulas for power in formula.atoms(Pow)]
    return any(not power.exp.is_integer for power in powers)


def _agree_at(gold: Any, said: Any, letters: set[Any], number: int) -> bool:
    values = dict.fromkeys(letters, number)
    one, other = complex(gold.subs(values).evalf()), complex(said.subs(values).evalf())
    are_real = abs(one.imag) < 1e-12 and abs(other.imag) < 1e-12
    return not are_real or abs(one - other) < 1e-9 * max(1.0, abs(one))


def raw_equal(reference: str, text: str) -> bool:
    from math_verify import parse, verify

    gold, said = parse(reference, parsing_timeout=None), parse(text, parsing_timeout=None)
    return bool(verify(gold, said, timeout_seconds=None))
