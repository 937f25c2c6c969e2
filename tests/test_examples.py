"""What a student is trained on: the asked prompt's ids, then the trace and its end."""

import pytest

pytest.importorskip("transformers")

from tinymodels import FAMILIES, Family, countdown_row, make_tokenizer

from cotdata.errors import InputError
from cotdata.prompts import build_prompt, prompt_ids
from cotdata.tasks import get_task
from cotdata.training.examples import IGNORED, ExampleBuilder, build_example

NAMED = pytest.mark.parametrize(
    "family", FAMILIES, ids=lambda f: f"{f.name}-{'chat' if f.chat else 'plain'}"
)


def builder(family: Family, **more: object) -> ExampleBuilder:
    settings = {"style": "plain", "num_shots": 0, "max_length": 512, "too_long": "drop", **more}
    return ExampleBuilder(tokenizer=make_tokenizer(family), **settings)  # type: ignore[arg-type]


@NAMED
def test_trained_prompt_is_the_asked_prompt_token_for_token(family: Family) -> None:
    tokenizer, row = make_tokenizer(family), countdown_row(3)
    style = "chat" if family.chat else "plain"
    for num_shots in (0, 1):
        example = build_example(row, tokenizer, style=style, num_shots=num_shots)
        prompt = build_prompt(get_task("countdown"), row, style=style, num_shots=num_shots)
        assert example.ids[: example.num_prompt] == prompt_ids(tokenizer, prompt)


@NAMED
def test_loss_covers_the_whole_trace_and_its_end_token_and_nothing_else(family: Family) -> None:
    tokenizer, row = make_tokenizer(family), countdown_row(3)
    example = build_example(row, tokenizer, style="chat" if family.chat else "plain", num_shots=0)
    trained = [label for label in example.labels if label != IGNORED]
    assert trained == [
        *tokenizer(row["trace"], add_special_tokens=False)["input_ids"],
        tokenizer.eos_token_id,
    ]
    assert example.labels[: example.num_prompt] == [IGNORED] * example.num_prompt


@NAMED
def test_begin_token_comes_at_most_once(family: Family) -> None:
    tokenizer = make_tokenizer(family)
    example = build_example(countdown_row(1), tokenizer, style="plain", num_shots=0)
    assert example.ids.count(tokenizer.bos_token_id) == int(family.has_bos)


def test_end_token_is_trained_where_padding_is_the_same_token() -> None:
    family = next(f for f in FAMILIES if f.pad_is_eos)
    made = builder(family)
    (example,) = made.examples([countdown_row(0)])
    assert example.labels[-1] == made.tokenizer.eos_token_id == made.tokenizer.pad_token_id


def test_an_example_longer_than_the_limit_is_dropped_whole_and_counted() -> None:
    made = builder(FAMILIES[0], max_length=1)
    assert list(made.examples([countdown_row(0), countdown_row(1, trace=" ")])) == []
    assert made.coverage.dropped == {"too_long": 1, "empty_trace": 1}
    assert "dropped: 1 empty_trace, 1 too_long" in made.coverage.line()


def test_an_example_longer_than_the_limit_is_refused_by_name_when_asked() -> None:
    made = builder(FAMILIES[0], max_length=1, too_long="refuse")
    with pytest.raises(InputError, match=r"t0: .* truncated answer"):
        list(made.examples([countdown_row(0)]))
