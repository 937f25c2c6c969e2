"""Rulings on which equations are true, false, or not for a machine to say."""

import functools
import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cotdata.arithmetic import StepCheck, check_step
from cotdata.figures import Figure, Number, figures, written_like
from cotdata.steps import segment

# Rows of the training split whose visible text holds a wrong sum, read by hand.
WRONG_ROWS = (167, 168, 198, 224, 502, 1817, 3002, 3334, 3409, 4691, 4973, 5195, 5350, 5781, 6001)
WRONG_ROWS += (6157, 6256, 6700, 6713, 6760, 6812, 7178, 7270, 7444)

TRUE = r"""
48/2 = <<48/2=24>>24 clips
$4,200+$3,000 = $7200
1/2 of 1/2 = 1/4
7 is 14% of 50 = 7
$\frac{120}{50}(70) = \boxed{168}$
5 hours * 60 minutes/hour = 300 minutes
(2+3)(4) = 20
$2^{10} = 1{,}024$
90/300*100=30%
100% - 20% = 80%
6 times 1/4 equals 1.5
75x 8 = 600
6*(30 minutes/60 minutes) = 3
3 − -2 = 5
\dfrac{54\text{ ft}^2}{9} = 6\text{ ft}^2
2*3 = 6 = 3+3
40 rolls - 16 rolls = 24 rolls
Step 1: 2+2 = 4
1. 2+2 = 4
* 2+2 = 4
because - 18/-2 = 9
"""
FALSE = r"""
48/2 = <<48/2=24>>26 clips
48/2 = <<48/2=26>>26
$4200+$3000 = $8600
8*3 = <<80*3=240>>240
70 + 40 = 100 people
25% of the 28 cats is 8.
So $3 \cdot 5 = 16$.
100% - 20% = 70%
90/300*100=31%
13,2000 / 60 = 220
-5 + 3 = 2
- 3 + 4 = 8
10/3 = 3.34
2*3.50=7.10
12 - 7 plus 2 equals 8
$\frac{10}{4} = 3.5$
It costs $5 + $6 = $12.
14*20=140 minutes
"""
ROUNDED = r"""
10/3 = 3.33
10/3 = 3.3
2/3 = 0.67
2/3 = .66
2.5*3 = 8
"""
SKIPPED = r"""
11x+15=301
S + 2S + 1 = 7
we get X*11/4 = $330
10 pages on day 1 * 2 = 20
Weeks 3-4 from Weeks 1-2 = 96 - 70
20 + 10 pens to the 29 + 24 already up = 83
14, 400 / 80 = 180
1/2 a cup = 4 ounces
0900-0130 = 0730
6:00+48=6:48 PM
45 * 0,2 = 9
the day 5 - 3 = 2
5 thousand dollars each, 5 * 3 = $15,000
76/12=6\frac{1}{3}
10/4 = 2 remainder 2
7/2 = 4
$1 / 2 = 50 cents
1+2+...+10 = 55
f(3) = 9
x_1 + 2 = 5
2*30 = 1 hour
15/90 * 100% = 16.66
\frac{1}{2}bh=\frac{1}{2}(8)
5! + 1 = 7
2 > 1.5
60*2 minutes = 2 hours
8 x 1 1/2 = 12
2+2 = \sqrt{16}
1 = 2^100000 + 2^(10^9)
1/0 = 5
10/3 = 3
"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [(text, "true") for text in TRUE.split("\n")[1:-1]]
    + [(text, "false") for text in FALSE.split("\n")[1:-1]]
    + [(text, "rounded") for text in ROUNDED.split("\n")[1:-1]]
    + [(text, "skip") for text in SKIPPED.split("\n")[1:-1]]
    + [("He has 48/2 = 24 + 3 = 27 cookies.", "runon")],
)
def test_the_verdict_on_an_equation(text: str, verdict: str) -> None:
    assert check_step(text).verdict == verdict


def test_every_case_has_its_verdict(shared_cases: Path) -> None:
    cases = map(json.loads, (shared_cases / "flaws.jsonl").read_text().splitlines())
    checked = [case for case in cases if case["operation"] == "check"]
    for case in checked:
        asked = "runon" if "run-on" in case["must"][0] else case["must"][0].split()[1]
        assert check_step(case["trace"]).verdict == asked, case["id"]
    assert len(checked) == 10


@functools.cache
def human_steps(path: Path) -> list[tuple[int, str, StepCheck]]:
    rows = [json.loads(line)["answer"] for line in path.read_text().split("\n")[:-1]]
    pieces = [(i, row, piece) for i, row in enumerate(rows) for piece in segment(row, "gsm8k")]
    texts = [(i, row[p.start : p.end]) for i, row, p in pieces if p.is_step]
    return [(i, text, check_step(text)) for i, text in texts]


def test_human_steps_are_checkable_and_only_wrong_ones_are_false(shared_data: Path) -> None:
    checks = human_steps(shared_data / "gsm8k_train.jsonl")
    seen = [
        any(e.source == "text" and e.verdict != "skip" for e in c.equations) for *_, c in checks
    ]
    assert sum(seen) > 0.7 * len(checks)
    assert {row for row, _, check in checks if check.verdict == "false"} == set(WRONG_ROWS)


def test_a_changed_result_is_false_with_and_without_its_mark(shared_data: Path) -> None:
    num_false, num_edits = 0, 0
    for row, text, check in human_steps(shared_data / "gsm8k_train.jsonl")[:3000]:
        equation = next((e for e in check.of("true") if e.result and e.operators), None)
        value = equation.result.value + 1 + row % 2 if equation and equation.result else 0
        if equation is None or (changed := edited(text, equation.copies, value)) is None:
            continue
        num_edits += 1
        num_false += check_step(changed).verdict == "false"
    assert num_false > 0.998 * num_edits > 2000


def edited(text: str, copies: tuple[Figure, ...], value: Number) -> str | None:
    for place in sorted(copies, reverse=True):
        written = written_like(text[place.start : place.end], value)
        if written is None:
            return None
        text = text[: place.start] + written + text[place.end :]
    return text


def test_all_copies_of_a_result_are_named() -> None:
    text = "He sold 48/2 = <<48/2=24>>24 clips."
    (said, mark) = check_step(text).equations
    assert [text[c.start : c.end] for c in said.copies] == ["24", "24"]
    assert said.twin == mark
    assert [text[o.start : o.end] for o in said.operands] == ["48", "2"]
    assert [o.word for o in said.operators] == ["/"]


@given(
    a=st.integers(0, 10**6), b=st.integers(1, 10**6), op=st.sampled_from("+-*"), off=st.integers()
)
def test_whole_numbers_are_never_rounded(a: int, b: int, op: str, off: int) -> None:
    assume(off)
    value = {"+": a + b, "-": a - b, "*": a * b}[op]
    assert check_step(f"{a:,} {op} {b} = {value}").verdict == "true"
    assert check_step(f"{a:,} {op} {b} = {value + off}").verdict == "false"


@given(text=st.text(alphabet="0123456789+-*/=()^{}.,%$ \\fracx<>&\n!:_") | st.text())
def test_any_text_has_a_verdict_and_its_spans_lie_in_it(text: str) -> None:
    for equation in check_step(text).equations:
        assert 0 <= equation.left[0] < equation.left[1] <= len(text)
        assert all(text[c.start : c.end].strip() for c in equation.copies)


@given(value=st.integers(0, 10**9), places=st.integers(0, 4))
def test_a_number_is_written_back_as_it_was_read(value: int, places: int) -> None:
    printed = written_like(
        f"1,000.{'0' * places}" if places else "1,000", Fraction(value, 10**places)
    )
    assert printed is not None
    (read,) = figures(printed)
    assert read.value == Fraction(value, 10**places)
