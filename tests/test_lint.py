"""Lint: each known way to spoil a fine-tuning run is named before it starts."""

import pytest

pytest.importorskip("transformers")

from tinymodels import CHAT, FAMILIES, countdown_row, make_tokenizer

from cotdata.training.lint import LintReport, LintSettings, lint_traces

PLAIN, CHATTING = FAMILIES[0], FAMILIES[1]


def lint(*rows, family=PLAIN, template=None, held_out=(), generation_eos=(), **more) -> LintReport:
    tokenizer = make_tokenizer(family)
    tokenizer.chat_template = template or tokenizer.chat_template
    settings = LintSettings(style="chat" if family.chat else "plain", **more)
    return lint_traces(rows, tokenizer, settings, held_out=held_out, generation_eos=generation_eos)


def kinds(report: LintReport) -> dict[str, str]:
    return {finding.kind: finding.level for finding in report.findings}


@pytest.mark.parametrize("family", [PLAIN, CHATTING], ids=["plain", "chat"])
def test_a_sound_set_has_no_findings(family):
    assert kinds(lint(*map(countdown_row, range(6)), family=family)) == {}


@pytest.mark.parametrize(
    ("row", "kind", "level"),
    [
        (countdown_row(0, trace=" \n"), "empty_trace", "warning"),
        (countdown_row(0, finish_reason="length"), "truncated", "warning"),
        (countdown_row(0, verdict="timeout"), "unverified", "warning"),
        (countdown_row(0, trace="1 + 2</s> = 3"), "end_token_inside", "error"),
        (countdown_row(0, trace="1 + 2<|im_start|> = 3"), "special_token_inside", "warning"),
        (countdown_row(0, trace="1 + 2 = 3 " * 400), "too_long", "warning"),
        (countdown_row(1), "duplicate", "warning"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_spoiled_row_is_counted_and_named(row, kind, level):
    report = lint(countdown_row(1), row)
    assert kinds(report) == {kind: level}
    assert report.findings[0].count == 1 and report.findings[0].ids == [row["trace_id"]]


def test_problems_of_an_evaluation_set_stop_the_run():
    report = lint(countdown_row(1), countdown_row(2), held_out=frozenset({"p2"}))
    (error,) = report.errors
    assert error.kind == "leaked_problem" and error.ids == ["t2"]


def test_a_set_of_which_nothing_is_left_stops_the_run():
    assert kinds(lint()) == {"no_traces": "error"}
    assert kinds(lint(countdown_row(0), max_length=4))["nothing_fits"] == "error"


def test_only_the_first_ids_are_kept_and_all_are_counted():
    (finding,) = lint(*(countdown_row(n, finish_reason="length") for n in range(9))).findings
    assert finding.count == 9 and len(finding.ids) == 5
    assert finding.line().startswith("warning: truncated: 9 traces: cut") and "…" in finding.line()


def test_a_begin_token_from_text_and_tokenizer_is_found():
    family = FAMILIES[2]
    tokenizer = make_tokenizer(family)
    tokenizer.chat_template = "<s>" + CHAT
    row = countdown_row(0, problem="x")
    from cotdata.prompts import Prompt, prompt_ids

    doubled = prompt_ids(tokenizer, Prompt(style="plain", text="<s>x"))
    assert doubled[:2] == [tokenizer.bos_token_id] * 2
    assert "double_begin" not in kinds(lint(row, family=family))


def test_a_merge_across_the_boundary_is_told():
    report = lint(countdown_row(0, trace="\n\n3 + 3"), family=FAMILIES[2])
    assert kinds(report).get("boundary_differs") == "warning"


def test_a_template_that_inserts_a_system_prompt_is_quoted():
    template = "<|im_start|>system\nYou are helpful.<|im_end|>\n" + CHAT
    (finding,) = lint(countdown_row(0), family=CHATTING, template=template).findings
    assert finding.kind == "template_system" and "'You are helpful.'" in finding.about


def test_smollm2s_own_system_prompt_is_found():
    smollm2 = FAMILIES[-1]
    assert "template_system" in kinds(lint(countdown_row(0), family=smollm2))


def test_a_template_with_todays_date_is_told():
    template = "{{ strftime_now('%Y') }}" + CHAT
    assert "template_date" in kinds(lint(countdown_row(0), family=CHATTING, template=template))


def test_a_template_that_ends_answers_with_another_token_is_told():
    template = CHAT.replace("<|im_end|>", "</s>")
    report = lint(countdown_row(0), family=CHATTING, template=template)
    assert kinds(report) == {"template_end_differs": "warning"}


def test_a_generation_config_that_stops_elsewhere_is_told():
    assert kinds(lint(countdown_row(0), generation_eos=[999])) == {
        "generation_end_differs": "warning"
    }


def test_chat_prompts_without_a_template_stop_the_run():
    tokenizer = make_tokenizer(PLAIN)
    report = lint_traces([], tokenizer, LintSettings(style="chat"))
    assert kinds(report)["no_chat_template"] == "error"


@pytest.mark.parametrize("family", [PLAIN, CHATTING], ids=["plain", "chat"])
def test_the_rendered_example_marks_exactly_what_is_trained(family):
    row, end = countdown_row(0), make_tokenizer(family).eos_token
    rendered = lint(row, family=family).rendered
    assert rendered.endswith(f"⟦{row['trace']}{end}⟧") and rendered.count("⟦") == 1
