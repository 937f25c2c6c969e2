r"""Rulings on where a text states its final answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotdata.answers import Located, Missing, locate


def found(text: str, finish_reason: str | None = None) -> str | None:
    place = locate(text, finish_reason)
    return place.text if isinstance(place, Located) else None


def missing(text: str, finish_reason: str | None = None) -> str | None:
    place = locate(text, finish_reason)
    return place.reason if isinstance(place, Missing) else None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"First \boxed{5}. No: \boxed{7}.", "7"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\fbox{5}", "5"),
        (r"$\boxed 7$", "7"),
        (r"So $x=\boxed7$.", "7"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"a slip: \boxed{5 and then \boxed{7}", "7"),
        (r"\boxed{5} fails, so the answer is 7", "5"),
        (r"<think>\boxed{1}</think>\boxed{7}", "7"),
        (r"no opening tag</think>\boxed{7}", "7"),
    ],
)
def test_the_last_complete_box_wins(text: str, answer: str) -> None:
    assert found(text) == answer


@pytest.mark.parametrize(
    "joint", [", ", " and ", " or ", "$ and $", ", and ", r" \text{ or } ", "; "]
)
def test_neighbouring_boxes_form_a_list(joint: str) -> None:
    assert found(rf"The roots are $\boxed{{2}}{joint}\boxed{{3}}$.") == "2, 3"


@pytest.mark.parametrize("joint", [". Checked: ", " that is ", " so $x = $ "])
def test_boxes_with_words_between_do_not(joint: str) -> None:
    assert found(rf"\boxed{{2}}{joint}\boxed{{3}}") == "3"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_marker"),
        ("There are 4! ways, and 24 of these are", "no_marker"),
        ("The day is Monday.", "no_marker"),
        (r"\boxed{12}, better: \boxed{", "unfinished_box"),
        (r"\boxed{12", "unfinished_box"),
        (r"\boxed{}", "empty_box"),
        (r"\boxed{7} so \boxed{ \text{} }", "empty_box"),
        (r"<think>maybe \boxed{9} but", "open_think"),
        (r"<think>a</think>\boxed{7}<think>again", "open_think"),
        (r"\boxed{7}</think> hm", "no_marker"),
        ("<answer>7", "unfinished_tag"),
        ("<answer>7</answer><answer> </answer>", "empty_tag"),
        ("The answer is", "unfinished_phrase"),
        ("What is the answer? Let me see. 7", "no_marker"),
    ],
)
def test_no_answer_has_a_reason(text: str, reason: str) -> None:
    assert missing(text) == reason


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer>41</answer> Hmm, 42 was close.", "41"),
        ("<answer>1</answer><answer>\n 2 </answer>", "2"),
        ("<ANSWER>$7$</ANSWER>", "$7$"),
        ("<answer>The answer is 7.</answer>", "7"),
    ],
)
def test_the_last_tag_wins(text: str, answer: str) -> None:
    assert found(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("6*7=42\n#### 42", "42"),
        ("#### 42\n\nQuestion: more\n#### 17", "42"),
        ("#### Step 1: add\n2+3\n#### 5", "5"),
        ("#### 1. Add both\n2+3\n#### 5", "5"),
        ("#### $1,200 in all", "$1,200"),
        ("#### Answer: 18", "18"),
    ],
)
def test_hash_marks_count_where_no_heading_follows(text: str, answer: str) -> None:
    assert found(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The answer is 70,000", "70,000"),
        ("The answer is 42 apples, not 45.", "42"),
        ("The answer is 6. The answer is 7.", "7"),
        (r"The final answer is \$18.9", r"\$18.9"),
        (r"**Answer: \$18 per day.**", r"\$18"),
        ("Final Answer: **73**", "73"),
        ("**Final Answer**\n\n18 dollars", "18"),
        ("### Answer\n$18$", "18"),
        ("The answer is C.", "C"),
        ("The answer is 2 1/4", "2 1/4"),
        ("The answer is 9**9**9", "9**9**9"),
        ("The answer is 3x - y = 7.", "3x - y = 7"),
        (r"The answer is \(\frac{1}{2}\).", r"\frac{1}{2}"),
        ("The answers are $1$ and $2$.", "1$ and $2"),
        ("The answer is $18 (and $5 are left).", "$18"),
        ("The answer is 3 million dollars.", "3 million"),
        ("The answer is that she has 12 left.", "12"),
        ("The answer to the question is 5", "5"),
        ("答案是 42。", "42"),
    ],
)
def test_the_last_answer_phrase_wins(text: str, answer: str) -> None:
    assert found(text) == answer


def test_a_concluding_sentence_with_one_number_states_the_answer() -> None:
    assert found("He pays 4 * 7 = 28.\nSo the order costs $29.00.") == "$29.00"


@pytest.mark.parametrize(
    "text",
    ["So 4 + 3 = 7 are left.", "So the 3 pay $29.", "So far there are 24.", "So there are 24"],
)
def test_any_other_last_sentence_does_not(text: str) -> None:
    assert missing(text) == "no_marker"


@pytest.mark.parametrize(
    "text", ["The answer is 42", "#### 4", r"so \boxed{4", "So it is 7.", "<answer>4"]
)
def test_a_text_cut_at_its_limit_has_no_open_answer(text: str) -> None:
    assert missing(text, "length") == "truncated"


@pytest.mark.parametrize("text", [r"\boxed{42} and on", "<answer>42</answer> and on"])
def test_a_text_cut_after_its_answer_keeps_it(text: str) -> None:
    assert found(text, "length") == "42"


@given(st.text(alphabet="ab1 \n", max_size=40), st.text(alphabet="1x+{}", max_size=12))
def test_a_balanced_box_comes_back_whole(before: str, inner: str) -> None:
    balanced = inner.replace("{", "").replace("}", "") or "7"
    assert found(rf"{before}\boxed{{{balanced}}}.") == balanced


@given(st.text(max_size=200))
def test_the_span_is_where_the_answer_stands(text: str) -> None:
    for whole in (text, rf"{text} The answer is {text}", f"{text}\n#### {text}"):
        place = locate(whole)
        if isinstance(place, Located) and place.method != "boxed":
            assert whole[slice(*place.span)] == place.text
