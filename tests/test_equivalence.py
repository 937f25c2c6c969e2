r"""Rulings on when two answers are the same; the reference comes first."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotdata.algebra import same_formula
from cotdata.equivalence import compare
from cotdata.mathverdict import judge_answer
from cotdata.notation import canonical
from cotdata.numerals import read_number

SAME = [
    ("10,080", r"10\,080"), ("10{,}080", "10080"), (r"10,\! 080", "10,080"), ("1 000", "1000"),
    ("10,080", "１０，０８０"), ("3,5", "3，5"), ("-3", "−3"), ("4", "004"), ("0.1", ".1"),
    ("18.90", r"\$18.9"), ("18", "$18"), ("1500000", "1.5e6"), ("1500000", r"1.5\times10^{6}"),
    ("2.25", "2 1/4"), (r"2\frac14", "2.25"), (r"\frac{14}{3}", r"\frac{28}{6}"), ("1/2", r".5"),
    (r"\frac13", r"0.\overline{3}"), ("3000000", "3 million"), ("2½", "2.5"),
    (r"40\%", "0.4"), (r"40\%", "40"), ("40", r"40\%"), ("0.4", r"40\%"), ("40", "40 percent"),
    (r"12\text{ cm}^2", "12"), ("35", r"35\ cm"), (r"5\text{ hours}", "5 hrs"), ("30", "30°"),
    (r"60^{\circ}", "60"), ("60", "60 degrees"), ("2:3", r"\frac{2}{3}"),
    (r"8\!:\!34 \text{ p.m.}", r"8:34\text{ PM}"), ("2516_8", "2516"), ("2516_8", "2516_{8}"),
    ("1101_2", r"1101_{\text{two}}"), (r"\text{(C)}", "C"), ("C", "(c)"), (r"\textbf{(B)}\ 4", "B"),
    (r"\textbf{(B)}\ 4", "4"), ("B", "B) 4"), (r"\text{Evelyn}", "Evelyn"),
    (r"\text{even}", "Even"),
    (r"\text{yes}", "Yes"), ("13", r"\text{13}"), ("1,2,3", "3,2,1"), (r"\{1,2\}", "2, 1"),
    ("(1,2)", "1,2"), (r"1331 \text{ and } 1728", "1728, 1331"), ("(1,2),(3,4)", "(3,4),(1,2)"),
    (r"\left(\frac12,-3\right)", "(0.5,-3)"), (r"\begin{pmatrix}-7\\16\end{pmatrix}", "(-7,16)"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}"),
    (r"[\sqrt{2},\infty)", r"m\ge\sqrt{2}"), (r"m\ge\sqrt{2}", r"[\sqrt{2},\infty)"),
    (r"(-\infty,1)\cup(3,\infty)", r"x<1 \text{ or } x>3"), ("(1,3]", r"1 < x \leq 3"),
    ("[1,3]", r"3 \ge x \ge 1"), (r"x \in [1,3]", "[1,3]"), ("5", "x = 5"), ("x=5", "5"),
    ("y = 2x+3", "2x+3"), ("2x+3", "f(x)=3+2x"), ("5", "2+3=5"), ("n=2,3,4", "n=4, n=3, n=2"),
    (r"\pm 3", "3,-3"), (r"1\pm\sqrt2", r"1-\sqrt{2}, 1+\sqrt{2}"), (r"\infty", r"+\infty"),
    ("x^2-1", "(x-1)(x+1)"), (r"2\sqrt3", r"\sqrt{12}"),
    (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt2}"),
    (r"0.5\pi", r"\frac{\pi}{2}"), (r"\frac{1}{1+i}", r"\frac{1-i}{2}"), ("120", r"\binom{10}{3}"),
    ("7", "(" * 400 + "7" + ")" * 400), (r"\emptyset", r"\varnothing"),
    ("(1,2)", r"\langle 1,2\rangle"),
]  # fmt: skip
SAME += [
    ("12", "12cm"), ("5", "5 m"), ("9", "9 m/s"), (r"\text{A,B}", "B, A"), ("D", "d)"),
    ("f(x)=x^2", "y=x^2"), ("3:5", "3 : 5"), ("0.75", r"75\%"), (r"33\frac{1}{3}\%", r"\frac13"),
    (r"\frac{1}{\sqrt{2}-1}", r"1+\sqrt2"), ("24", "4!"), ("x>3", "3<x"), 
    (r"[0,1]\cup\{2\}", r"\{2\}\cup[0,1]"), (r"-1\pm i", "-1-i, -1+i"),
    ("42", "21*2=<<21*2=42>>42"),
]  # fmt: skip
DIFFERENT = [
    (r"50\text{ cents}", r"\$0.50"), ("11_2", "11_{10}"), (r"2\pi", "6.283185307"), ("i", "-i"),
    (r"\frac13", r"33.3\%"), (r"[0,1]\cup[2,3]", "[0,3]"), ("(3,4)", r"\{3,4\}"),
    (r"\frac13", "0.333333"), (r"\frac{14}{3}", "4.67"), ("0.0000001", "0.0000002"),
    ("9007199254740993", "9007199254740992"), (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}"),
    (r"\frac{1}{2004!}", r"\frac{1}{2006!}"), ("2^{1000000}", "2^{1000001}"), ("2", "2 2/3"),
    ("(x+1)^{2000}", "(x+1)^{1999}"), (r"\sqrt{17}", "4.123105625617661"), ("40", "0.4"),
    (r"40\%", "4"), (r"3\text{ hours}", r"180\text{ minutes}"),
    (r"3\text{ hours}", r"3\text{ minutes}"),
    ("3", "3 million"), ("1,2", "12"), ("1101_2", "1101_3"), ("1101_2", "13"), ("C", "D"),
    (r"\textbf{(B)}\ 4", r"\textbf{(C)}\ 4"), (r"\text{Evelyn}", r"\text{Angela}"),
    (r"\text{even}", "2k+1"), ("1331, 1728", "1728"), ("7", r"6 \text{ or } 7"), ("7", "x=6, x=7"),
    (r"\{1,2\}", r"\{1,2,3\}"), ("(1,2)", "(2,1)"), ("(1,2,3)", r"\{1,2,3\}"), ("[2,5)", "[2,5]"),
    ("(2,5)", "[2,5]"), ("x>2", "x<2"), ("x<5", r"x \le 5"), ("n=2,3,4", "n=1,2,3"),
    ("(1,2),(3,4)", "(1,2),(4,3)"), (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
     r"\begin{pmatrix}1&3\\2&4\end{pmatrix}"), ("x=5", "y=5"), ("x", "y"), ("x", "X"), 
    (r"\pm 2021", "2021"), (r"-\infty", r"\infty"), ("12:00", "1:00"), ("2:3", "3:2"),
    (r"8:34\text{ a.m.}", r"8:34\text{ p.m.}"), ("4", r"4\sqrt{2}"), ("5x", "5"), ("3i", "3"),
    ("7", "9^{9^{9}}"), (r"60^\circ", r"\frac{\pi}{3}"), (r"\frac{1}{2}", "\frac{1}{2}"),
    ("x=1,y=2", "x=2,y=1"), ("7", "7" * 399), ("5", "2+3=6"),
]  # fmt: skip
BY_COMPUTER_ALGEBRA = [
    (r"\sqrt[3]{16}", r"2\sqrt[3]{2}", "correct"),
    (r"\sqrt{1/n}", r"\frac{1}{\sqrt{n}}", "correct"),
    (r"\sqrt{x^2}", "x", "wrong"),
    ("2x+4y-3=0", r"y=-\frac12 x+\frac34", "correct"),
    ("3x-y+13=0", "3x+4y+14=0", "wrong"),
    (r"\ln 4", r"2\ln 2", "correct"),
    (r"\tan 45^\circ", "1", "correct"),
    (r"(-\infty,\infty)", r"\mathbb{R}", "correct"),
    (r"\log_2 8", "3", "correct"),
    (r"\sin x", r"\cos x", "wrong"),
    ("n", "n!", "wrong"),
    ("x=3", "3=x", "correct"),
    (r"\textbf{(B)}\ \sqrt[3]{16}", r"2\sqrt[3]{2}", "correct"),
    (r"x=\sqrt[3]{16}, y=1", r"y=1, x=2\sqrt[3]{2}", "correct"),
    (r"(1, \sqrt[3]{16})", r"(1, 2\sqrt[3]{3})", "wrong"),
]


@pytest.mark.parametrize(("reference", "answer"), SAME)
def test_these_say_the_same(reference: str, answer: str) -> None:
    assert compare(reference, answer).equal is True


@pytest.mark.parametrize(("reference", "answer"), DIFFERENT)
def test_these_do_not(reference: str, answer: str) -> None:
    assert compare(reference, answer).equal is False


@pytest.mark.parametrize(("reference", "answer", "verdict"), BY_COMPUTER_ALGEBRA)
def test_these_need_computer_algebra(reference: str, answer: str, verdict: str) -> None:
    assert compare(reference, answer).equal is None
    assert judge_answer(reference, rf"\boxed{{{answer}}}", None, "t").verdict == verdict


@pytest.mark.parametrize(
    "reference", ["", r"\boxed{}", r"\boxed{7", r"\frac{1}{", "See the figure."]
)
def test_an_unreadable_reference_is_an_error(reference: str) -> None:
    assert judge_answer(reference, r"\boxed{7}", None, "t").verdict == "error"


@pytest.mark.parametrize("answer", ["9^{9^{9^{9}}}", "9" * 500, r"\binom{100000000}{50000000}"])
def test_what_is_too_complex_is_wrong_as_an_answer_and_an_error_as_a_reference(answer: str) -> None:
    verdict = judge_answer("7", rf"\boxed{{{answer}}}", None, "t")
    assert (verdict.verdict, verdict.reason) == ("wrong", "too_complex")
    assert judge_answer(answer, r"\boxed{7}", None, "t").verdict == "error"


FRACTIONS = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**6)


@given(FRACTIONS, FRACTIONS)
def test_fractions_decide_both_ways(one: Fraction, other: Fraction) -> None:
    spelt = rf"\frac{{{other.numerator}}}{{{other.denominator}}}"
    assert compare(str(one), spelt).equal is (one == other)


@given(st.integers(0, 10**30))
def test_grouping_changes_no_number(number: int) -> None:
    assert read_number(canonical(f"{number:,}")) == number
    assert compare(str(number), f"{number:,}".replace(",", "{,}")).equal
    assert compare(str(number), f"${number:,}.00").equal


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_neighbouring_decimals_are_told_apart(number: int, places: int) -> None:
    one, other = (Fraction(n, 10**places) for n in (number, number + 1))
    assert compare(str(one), f"{float(one):.{places}f}").equal
    assert not compare(str(one), f"{float(other):.{places}f}").equal


@given(st.lists(st.integers(-99, 99), min_size=2, max_size=6, unique=True))
def test_a_list_is_free_in_order_and_a_tuple_is_not(values: list[int]) -> None:
    turned = [*values[1:], values[0]]
    first, second = (", ".join(map(str, v)) for v in (values, turned))
    assert compare(first, second).equal
    assert not compare(f"({first})", f"({second})").equal


@given(st.integers(-30, 30), st.integers(-30, 30))
def test_a_product_equals_its_expansion(a: int, b: int) -> None:
    assert same_formula(f"(x+({a}))(x+({b}))", f"x^2+({a + b})x+({a * b})")
    assert not same_formula(f"(x+({a}))(x+({b}))", f"x^2+({a + b})x+({a * b + 1})")


@given(st.integers(2, 500), st.integers(1, 40))
def test_a_square_comes_out_of_its_root(inside: int, outside: int) -> None:
    same = same_formula(rf"{outside}\sqrt{{{inside}}}", rf"\sqrt{{{outside * outside * inside}}}")
    assert same is not False
    assert same_formula(rf"\sqrt{{{inside}}}", rf"-\sqrt{{{inside}}}") is not True


@given(st.text(alphabet="0123456789xyn+-*/^(){}[],.=<>\\frac sqrt!%:_|&", max_size=40))
def test_a_text_equals_itself_and_nothing_crashes(text: str) -> None:
    assert compare(text, text).equal
    assert compare("7", text).equal in (True, False, None)


@given(st.text(max_size=30))
def test_spelling_twice_changes_nothing(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)
