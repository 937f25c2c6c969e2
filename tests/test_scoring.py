"""A score is the plain log-likelihood of the trace under the student, nothing else."""

import pytest

pytest.importorskip("transformers")

import torch
from tinymodels import FAMILIES, countdown_row, make_student
from transformers import AutoModelForCausalLM

from cotdata.scoring import Score, ScoreSettings, Unscored, batches_by_length, open_scorer
from cotdata.training.examples import Example, build_example

ROWS = [countdown_row(number) for number in range(9)]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {style: make_student(folder / style, FAMILIES[style == "chat"]) for style in STYLES}


STYLES = ("plain", "chat")


def by_hand(place, tokenizer, row, style) -> list[float]:
    example = build_example(row, tokenizer, style=style, num_shots=0)
    with torch.inference_mode():
        model = AutoModelForCausalLM.from_pretrained(place)
        logits = model(torch.tensor([example.ids])).logits[0].double().log_softmax(-1)
    wanted = enumerate(example.ids[example.num_prompt :], example.num_prompt)
    return [-logits[position - 1, token].item() for position, token in wanted]


@pytest.mark.parametrize("style", STYLES)
def test_batches_score_each_token_as_a_row_alone(places, style):
    scorer = open_scorer(str(places[style]), ScoreSettings(style=style))
    scores = {score.trace_id: score for score in scorer.scores(ROWS)}
    assert sorted(scores) == [row["trace_id"] for row in ROWS]
    for row in ROWS:
        expected = by_hand(places[style], scorer.tokenizer, row, style)
        assert scores[row["trace_id"]].tokens == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("batch_tokens", [1, 150, 100_000])
def test_the_size_of_batches_does_not_change_a_score(places, batch_tokens):
    settings = ScoreSettings(batch_tokens=batch_tokens)
    scores = open_scorer(str(places["plain"]), settings).scores(ROWS)
    plain = open_scorer(str(places["plain"]), ScoreSettings()).scores(ROWS)
    found, expected = ({s.trace_id: s.nll_per_token for s in each} for each in (scores, plain))
    assert found == pytest.approx(expected, abs=1e-5)


def test_a_trace_longer_than_the_students_context_is_not_scored_and_the_rest_goes_on(places):
    rows = [ROWS[0], countdown_row(1, trace="1 + 2 = 3 " * 900), ROWS[2]]
    scorer = open_scorer(str(places["plain"]), ScoreSettings())
    found = {score.trace_id: score for score in scorer.scores(rows)}
    unscored = found["t1"]
    assert isinstance(unscored, Unscored) and unscored.reason == "too_long"
    assert isinstance(found["t0"], Score) and isinstance(found["t2"], Score)


def test_the_dtype_is_stated_with_the_scores(places):
    scorer = open_scorer(str(places["plain"]), ScoreSettings(dtype="bfloat16"))
    assert scorer.scored_by["dtype"] == "bfloat16" == str(scorer.model.dtype).removeprefix("torch.")


def test_a_batch_never_exceeds_its_tokens_unless_it_is_one_row():
    items = [(str(n), Example(ids=[0] * n, num_prompt=1)) for n in (3, 50, 7, 20, 21, 9)]
    batches = list(batches_by_length(items, 40))
    assert sorted(key for batch in batches for key, _ in batch) == sorted(key for key, _ in items)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(len(e.ids) for _, e in batch) <= 40
