"""The engine openai against a local server that fails in every usual way."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

pytest.importorskip("aiohttp", reason="install cotdata[openai]")

from openai_server import (
    Handler,
    Server,
    answer,
    doubled,
    reset,
    running,
    slow,
    text,
    torn,
    whole,
)

from cotdata.engines import Completion, Refusal, Request, Sampling, open_engine
from cotdata.engines._http import Client, Fault, Patience, seconds_of
from cotdata.engines.openai import reply_of
from cotdata.errors import EngineError, UsageError
from cotdata.prompts import Prompt

FAST = {"first_wait_s": "0.01"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with running(Server()) as server:
        yield server


def chat(number: int) -> Request:
    turn = {"role": "user", "content": f"question {number}"}
    return request(number, Prompt(style="chat", messages=(turn,)))


def plain(number: int) -> Request:
    return request(number, Prompt(style="plain", text=f"question {number}"))


def request(number: int, prompt: Prompt) -> Request:
    sampling = Sampling(max_tokens=9, temperature=0.5, top_p=0.9, seed=number, stop=("\nQ",))
    return Request(id=f"r{number}", prompt=prompt, sampling=sampling)


def ask(
    server: Server, requests: list[Request], **options: object
) -> dict[str, Completion | Refusal]:
    given = {"base_url": server.url, **FAST, **{k: str(v) for k, v in options.items()}}
    with closing(open_engine("openai", "m", given)) as engine:
        replies = list(engine.generate(iter(requests)))
    assert len(replies) == len({reply.id for reply in replies})
    return {reply.id: reply for reply in replies}


def one(server: Server, **options: object) -> Completion | Refusal:
    return ask(server, [chat(1)], **options)["r1"]


def test_every_request_is_answered_by_its_own_reply(server: Server) -> None:
    replies = ask(server, [chat(n) for n in range(50)], concurrency=8)
    texts = {key: reply.text for key, reply in replies.items() if isinstance(reply, Completion)}
    assert texts == {f"r{n}": f"reply to question {n} with {n}" for n in range(50)}


def test_the_sampling_is_sent(server: Server) -> None:
    ask(server, [chat(1), plain(2)], concurrency=1)
    first, second = server.asked
    sent = {"model": "m", "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "stop": ["\nQ"]}
    assert first == {**sent, "seed": 1, "messages": [{"role": "user", "content": "question 1"}]}
    assert second == {**sent, "seed": 2, "prompt": "question 2"}


def test_a_servers_own_fields_are_laid_over_the_request(server: Server) -> None:
    one(server, body='{"top_k": 5}', length_field="max_completion_tokens")
    assert (server.asked[0]["top_k"], server.asked[0]["max_completion_tokens"]) == (5, 9)


@pytest.mark.parametrize(
    "fault",
    [
        answer(500, {"error": {"message": "boom"}}), answer(502, "bad gateway"),
        answer(503, "loading"), answer(429, {"error": "slow down"}), torn, doubled, reset,
        text('{"choices": []}'), text(""), text("[]"),
        text('{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}'),
    ],
)  # fmt: skip
def test_a_fault_is_tried_again_and_changes_no_reply(fault: Handler, server: Server) -> None:
    server.script = [fault, fault]
    reply = one(server)
    assert isinstance(reply, Completion)
    assert reply.text == "reply to question 1 with 1"
    assert len(server.asked) >= 3


def test_faults_among_many_lose_and_double_nothing(server: Server) -> None:
    faults = [answer(500, "boom"), answer(429, "busy"), torn, doubled, reset]
    server.script = [fault for fault in faults for _ in range(12)]
    replies = ask(server, [chat(n) for n in range(200)], concurrency=16, tries=12)
    assert sum(isinstance(reply, Completion) for reply in replies.values()) == 200


def test_in_flight_requests_reach_the_cap_and_stay_under_it(server: Server) -> None:
    server.always = slow(0.02)
    ask(server, [chat(n) for n in range(60)], concurrency=7)
    assert server.peak == 7


def test_in_flight_requests_recover_after_a_time_of_faults(server: Server) -> None:
    server.script, server.always = [answer(429, "busy")] * 20, slow(0.02)
    requests = (chat(n) for n in range(80))
    given = {"base_url": server.url, "concurrency": "8", **FAST}
    with closing(open_engine("openai", "m", given)) as engine:
        replies = engine.generate(requests)
        [next(replies) for _ in range(20)]
        server.peak = 0
        assert len(list(replies)) == 60
    assert server.peak == 8


def test_no_more_is_pulled_than_is_under_way(server: Server) -> None:
    pulled: list[int] = []
    source = (pulled.append(n) or chat(n) for n in range(100))  # type: ignore[func-returns-value]
    given = {"base_url": server.url, "concurrency": "5"}
    with closing(open_engine("openai", "m", given)) as engine:
        replies = engine.generate(source)
        next(replies)
        replies.close()  # type: ignore[attr-defined]
    assert len(pulled) == 5


def test_a_busy_server_costs_no_tries(server: Server) -> None:
    server.script = [answer(429, "busy")] * 9
    assert isinstance(one(server, tries=1, first_wait_s=0.001), Completion)


def test_retry_after_is_waited_for(server: Server) -> None:
    client = Client(None, server.url, Patience(tries=1, first_wait_s=0.01, busy_s=9))  # type: ignore[arg-type]
    fault = client._bad_status(429, "busy", "7")
    assert fault == Fault(words="429 busy", busy=True, wait_s=7.0)
    client._wait_together(fault, [time.monotonic()])
    assert client.resume_at > time.monotonic() + 6


def test_retry_after_may_be_a_date() -> None:
    assert seconds_of(email.utils.formatdate(time.time() + 3600)) > 3000
    assert (
        seconds_of("Thu, 01 Jan 1970 00:00:00 GMT") == seconds_of("soon") == seconds_of(None) == 0
    )


def test_a_server_that_is_always_busy_ends_the_run(server: Server) -> None:
    server.always = answer(429, {"error": {"message": "quota used up"}})
    with pytest.raises(EngineError, match=r"busy for .* last words: 429 quota used up"):
        one(server, busy_s=0.05)


def test_a_server_that_is_gone_ends_the_run_with_its_last_words(server: Server) -> None:
    server.script = [answer(500, {"error": {"message": "CUDA error"}})] * 3
    given = {"base_url": server.url, "concurrency": "1", "tries": "3", **FAST}
    with closing(open_engine("openai", "m", given)) as engine:
        replies = engine.generate(chat(n) for n in range(100))
        assert isinstance(next(replies), Refusal)
        next(replies)
        server.stop()
        with pytest.raises(EngineError, match=r"stopped answering; its last words"):
            list(replies)


def test_one_request_that_always_fails_is_refused_for_now(server: Server) -> None:
    server.script = [answer(500, {"detail": "bad luck"})] * 2
    replies = ask(server, [chat(n) for n in range(5)], tries=2, concurrency=1)
    lost = replies.pop("r0")
    assert isinstance(lost, Refusal)
    assert (lost.reason, lost.detail, lost.permanent) == ("server_error", "500 bad luck", False)
    assert all(isinstance(reply, Completion) for reply in replies.values())


def test_a_server_that_fails_for_all_ends_the_run(server: Server) -> None:
    server.always = answer(500, "CUDA error")
    with pytest.raises(EngineError, match=r"3 requests in a row .* CUDA error"):
        ask(server, [chat(n) for n in range(20)], tries=2, concurrency=2)


def test_a_slow_reply_counts_as_a_fault(server: Server) -> None:
    server.script = [slow(5)]
    assert isinstance(one(server, timeout_s=0.3), Completion)


@pytest.mark.parametrize(
    "said",
    [
        {"error": {"message": "This model's maximum context length is 8192 tokens."}},
        {"object": "error", "message": "The prompt is longer than max_model_len 8192"},
        {"error": {"message": "x", "code": "context_length_exceeded"}},
        {"detail": "Input prompt (9000 tokens) is too long"},
    ],
)
def test_a_prompt_over_the_context_is_refused_for_good(said: object, server: Server) -> None:
    server.script = [answer(400, said)]
    first = ask(server, [chat(0), chat(1)], concurrency=1)
    assert isinstance(first["r0"], Refusal)
    assert (first["r0"].reason, first["r0"].permanent) == ("prompt_too_long", True)
    assert isinstance(first["r1"], Completion)


def test_another_bad_request_is_not_held_against_the_row(server: Server) -> None:
    server.script = [answer(400, {"error": {"message": "unknown field seed"}})]
    reply = one(server)
    assert isinstance(reply, Refusal)
    assert not reply.permanent


@pytest.mark.parametrize(("status", "hint"), [(401, "OPENAI_API_KEY"), (404, "ends in /v1")])
def test_a_refused_key_or_model_ends_the_run_at_once(
    status: int, hint: str, server: Server
) -> None:
    server.always = answer(status, {"error": {"message": "no"}})
    with pytest.raises(EngineError, match=hint):
        one(server)
    assert len(server.asked) == 1


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_the_reasoning_field_is_kept(name: str, server: Server) -> None:
    body = {"messages": [{"content": "q"}], "seed": 1}
    server.script = [text(json.dumps(whole(body, **{name: "hm"})))]
    reply = one(server)
    assert isinstance(reply, Completion)
    assert reply.reasoning == "hm"


def test_a_model_cut_while_it_reasons_has_no_text() -> None:
    message = {"content": None, "reasoning": "so"}
    reply = reply_of("r", {"choices": [{"message": message, "finish_reason": "length"}]})
    assert isinstance(reply, Completion)
    assert (reply.text, reply.finish_reason, reply.reasoning) == ("", "length", "so")


def test_a_filtered_reply_is_refused_with_the_servers_reason() -> None:
    reply = reply_of("r", {"choices": [{"text": "", "finish_reason": "content_filter"}]})
    assert isinstance(reply, Refusal)
    assert (reply.reason, reply.permanent) == ("content_filter", True)


def test_the_key_comes_from_the_environment_alone(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    one(server)
    assert server.keys == ["Bearer sk-secret"]
    with pytest.raises(UsageError, match="unknown option"):
        one(server, api_key="sk-secret")


def test_the_address_may_come_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    with closing(open_engine("openai", "m", {})) as engine:
        assert len(list(engine.generate([chat(1)]))) == 1


def test_no_address_is_a_usage_error(server: Server) -> None:
    with pytest.raises(UsageError, match="base_url"):
        open_engine("openai", "m", {})


def test_no_server_is_said_at_once() -> None:
    with pytest.raises(EngineError, match="no server answers"):
        open_engine("openai", "m", {"base_url": "http://127.0.0.1:9/v1"})


def test_a_vllm_server_says_its_version() -> None:
    with (
        running(Server(), version="0.32.0") as server,
        closing(open_engine("openai", "m", {"base_url": server.url})) as engine,
    ):
        assert engine.version == "vllm 0.32.0"


def test_an_engine_serves_again_after_an_unfinished_round(server: Server) -> None:
    with closing(open_engine("openai", "m", {"base_url": server.url})) as engine:
        unfinished = engine.generate(chat(n) for n in range(100))
        next(unfinished)
        unfinished.close()  # type: ignore[attr-defined]
        assert len(list(engine.generate(chat(n) for n in range(3)))) == 3
