"""The engine openai against a real vLLM server on the CPU, with SmolLM2."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from cotdata.engines import Completion, Engine, Refusal, Request, Sampling, open_engine
from cotdata.errors import EngineError
from cotdata.prompts import Prompt

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]
CONTEXT = 512


@pytest.fixture(scope="module")
def server(smollm2: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    for package in ("vllm", "aiohttp"):
        if find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(smollm2)]
    words += [
        "--served-model-name",
        "smollm2",
        "--port",
        str(port),
        "--max-model-len",
        str(CONTEXT),
    ]
    words += ["--enforce-eager", "--dtype", "float32", "--max-num-seqs", "8"]
    # Without a size of its own the server claims nearly all of the machine's memory.
    running = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1"},
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}/v1"
    try:
        wait_until_up(running, url)
        yield running, url
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def wait_until_up(running: subprocess.Popen[bytes], url: str) -> None:
    while running.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/models").close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(1)
    pytest.fail(f"the vLLM server ended with status {running.returncode}")


@pytest.fixture
def engine(server: tuple[subprocess.Popen[bytes], str]) -> Iterator[Engine]:
    options = {"base_url": server[1], "concurrency": "12", "first_wait_s": "0.1", "tries": "4"}
    with closing(open_engine("openai", "smollm2", options)) as engine:
        yield engine


def asked(number: int, text: str = "What is {n} + 2?", max_tokens: int = 8) -> Request:
    prompt = Prompt(style="plain", text=text.format(n=number))
    if number % 2:
        prompt = Prompt(style="chat", messages=({"role": "user", "content": prompt.text},))
    sampling = Sampling(max_tokens=max_tokens, temperature=0.0, top_p=1.0, seed=number)
    return Request(id=str(number), prompt=prompt, sampling=sampling)


def test_a_real_server_answers_chat_and_plain(engine: Engine) -> None:
    replies = list(engine.generate(asked(n) for n in range(16)))
    assert engine.version.startswith("vllm 0.")
    assert sorted(int(reply.id) for reply in replies) == list(range(16))
    for reply in replies:
        assert isinstance(reply, Completion), reply
        assert 0 < reply.completion_tokens <= 8
        assert reply.text or reply.completion_tokens == 1


def test_a_real_servers_context_error_is_a_refusal(engine: Engine) -> None:
    long, short = engine.generate([asked(0, text="word " * 600), asked(2)])
    replies = {long.id: long, short.id: short}
    refused = replies["0"]
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.permanent) == ("prompt_too_long", True)
    assert isinstance(replies["2"], Completion)


def test_an_unknown_model_ends_the_run(server: tuple[subprocess.Popen[bytes], str]) -> None:
    with (
        closing(open_engine("openai", "other", {"base_url": server[1]})) as engine,
        pytest.raises(EngineError, match="check the model's name"),
    ):
        list(engine.generate([asked(1)]))


def test_it_sends_the_prompt_that_the_embedded_engine_sends(engine: Engine, smollm2: Path) -> None:
    with closing(open_engine("transformers", str(smollm2), {"dtype": "float32"})) as embedded:
        ours = {r.id: r for r in embedded.generate([asked(1), asked(2)])}
    theirs = {r.id: r for r in engine.generate([asked(1), asked(2)])}
    assert ours == theirs


def test_a_killed_server_ends_the_run(
    server: tuple[subprocess.Popen[bytes], str], engine: Engine
) -> None:
    replies = engine.generate(asked(n, max_tokens=200) for n in range(200))
    next(iter(replies))
    os.killpg(server[0].pid, signal.SIGKILL)
    with pytest.raises(EngineError, match=r"last words"):
        list(replies)
