"""The scripted engine: replies depend on the request alone, faults only on options."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotdata.engines import Completion, Refusal, Request, Sampling
from cotdata.engines.fake import FakeEngine, open_fake
from cotdata.errors import EngineError, InputError, UsageError
from cotdata.prompts import Prompt
from cotdata.tasks import get_task


def request(number: int, max_tokens: int = 64, text: str = "What is {n} + {n}?") -> Request:
    sampling = Sampling(max_tokens=max_tokens, temperature=1.0, top_p=1.0, seed=number)
    prompt = Prompt(style="plain", text=text.format(n=number))
    return Request(id=f"p{number}:0", prompt=prompt, sampling=sampling)


def replies(count: int, **options: object) -> dict[str, Completion | Refusal]:
    engine = open_fake("m", {key: str(value) for key, value in options.items()})
    return {reply.id: reply for reply in engine.generate(map(request, range(count)))}


FAULTS = st.fixed_dictionaries(
    {name: st.floats(0, 1) for name in ("rate_429", "rate_500", "torn", "duplicate")}
    | {"out_of_order": st.floats(0, 1), "concurrency": st.integers(1, 9)}
)


@given(faults=FAULTS)
def test_faults_change_no_reply_and_lose_none(faults: dict[str, float]) -> None:
    assert replies(12, **faults) == replies(12)


def test_order_and_resumption_change_no_reply() -> None:
    engine = open_fake("m", {})
    again = [reply for n in (7, 3, 9) for reply in engine.generate([request(n)])]
    assert again == [replies(10)[reply.id] for reply in again]


def test_another_seed_prompt_or_model_is_another_reply() -> None:
    texts = {reply.text for reply in replies(50).values() if isinstance(reply, Completion)}
    other = next(iter(open_fake("other", {}).generate([request(1)])))
    assert len(texts) > 40
    assert other != replies(2)["p1:0"]


def test_out_of_order_replies_are_out_of_order() -> None:
    assert list(replies(20)) == [f"p{n}:0" for n in range(20)]
    assert list(replies(20, out_of_order=0.5)) != list(replies(20))


def test_the_cap_holds_and_is_reached() -> None:
    engine = open_fake("m", {"concurrency": "4", "latency_ms": "1"})
    list(engine.generate(map(request, range(12))))
    assert engine.peak_in_flight == 4


def test_no_more_is_pulled_than_is_running() -> None:
    pulled: list[int] = []
    source = (pulled.append(n) or request(n) for n in range(100))  # type: ignore[func-returns-value]
    next(iter(open_fake("m", {"concurrency": "4"}).generate(source)))
    assert len(pulled) == 4


def test_retries_are_counted() -> None:
    engine = open_fake("m", {"rate_429": "0.5"})
    list(engine.generate(map(request, range(40))))
    assert 60 < engine.attempts < 120


def test_refusals_are_the_share_asked_for() -> None:
    refused = [reply for reply in replies(400, refuse=0.25).values() if isinstance(reply, Refusal)]
    assert 60 < len(refused) < 140
    assert all(reply.permanent and reply.reason == "prompt_too_long" for reply in refused)


def test_failures_may_be_tried_again() -> None:
    failed = [reply for reply in replies(100, fail=0.5).values() if isinstance(reply, Refusal)]
    assert failed
    assert not any(reply.permanent for reply in failed)


def test_a_prompt_over_the_context_is_refused() -> None:
    engine = open_fake("m", {"context": "5"})
    long = request(1, text="one two three four five six {n}")
    first, second = engine.generate([long, request(2)])
    assert isinstance(first, Refusal)
    assert isinstance(second, Completion)


def test_an_engine_dies_when_asked() -> None:
    engine, seen = open_fake("m", {"die_after": "3"}), []
    with pytest.raises(EngineError, match="after 3 replies"):
        seen.extend(reply.id for reply in engine.generate(map(request, range(9))))
    assert len(seen) <= 3


def test_a_long_reply_is_cut_at_max_tokens() -> None:
    (cut,) = open_fake("m", {}).generate([request(1, max_tokens=3)])
    assert isinstance(cut, Completion)
    assert (cut.finish_reason, cut.completion_tokens, len(cut.text.split())) == ("length", 3, 3)


def test_reasoning_is_a_field_of_its_own() -> None:
    thought = list(replies(20, reasoning=1.0).values())
    assert all(isinstance(reply, Completion) and reply.reasoning for reply in thought)


def test_a_script_answers_by_prompt_or_id(tmp_path: Path) -> None:
    lines = [{"match": "What is 2", "text": "four"}, {"match": "p3:0", "text": "six"}]
    script = tmp_path / "replies.jsonl"
    script.write_text("\n".join(map(json.dumps, lines)))
    said = replies(4, script=script)
    assert [getattr(said[f"p{n}:0"], "text", "") for n in (2, 3)] == ["four", "six"]


@pytest.mark.parametrize("bad", ["nonsense", '{"text": "no match"}', '{"match": "a"}', "[]"])
def test_a_bad_script_names_its_line(bad: str, tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text('{"match": "a", "text": "b"}\n' + bad)
    with pytest.raises(InputError, match=r"replies\.jsonl:2"):
        open_fake("m", {"script": str(script)})


def test_a_missing_script_is_said() -> None:
    with pytest.raises(InputError, match="no such script"):
        open_fake("m", {"script": "nowhere.jsonl"})


@pytest.mark.parametrize("options", [{"latncy_ms": "1"}, {"refuse": "lots"}, {"concurrency": "0"}])
def test_a_bad_option_is_a_usage_error(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"latency_ms|a number|at least 1"):
        open_fake("m", options)


@pytest.mark.parametrize("name", ["countdown", "gsm8k"])
def test_the_guess_is_an_answer_that_the_task_can_judge(name: str) -> None:
    problem = {"problem": "x", "answer": "7", "numbers": [4, 6], "target": 24}
    (reply,) = FakeEngine("m", open_fake("m", {}).options).generate([request(1)])
    assert isinstance(reply, Completion)
    assert get_task(name).verify(problem, reply.text).verdict in ("correct", "wrong")
