"""What holds for every registered engine: a new file in engines/ is tested here for free."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from cotdata.engines import (
    Completion,
    Engine,
    Refusal,
    Request,
    Sampling,
    engine_names,
    engine_options,
    engine_spec,
    open_engine,
)
from cotdata.errors import MissingPackage, UsageError
from cotdata.prompts import Prompt

PACKAGES = {"fake": "json", "openai": "aiohttp", "transformers": "torch", "vllm": "vllm"}
# vLLM takes half a minute to start, so it is tried with the real models only.
SLOW = {"vllm"}
ENGINES = [
    pytest.param(name, marks=[pytest.mark.model] if name in SLOW else []) for name in engine_names()
]


@contextmanager
def opened(name: str, folder: Path) -> Iterator[Engine]:
    if name == "openai":
        from openai_server import Server, running

        with (
            running(Server()) as server,
            closing(open_engine(name, "m", {"base_url": server.url, "concurrency": "4"})) as engine,
        ):
            yield engine
        return
    options = {"fake": {"context": "60", "concurrency": "4"}, "transformers": {"batch_size": "4"}}
    place = "m" if name == "fake" else str(tiny(folder))
    vllm = {"max_num_seqs": "4", "kv_cache_gb": "1", "dtype": "float32"}
    with closing(open_engine(name, place, options.get(name, vllm))) as engine:
        yield engine


def tiny(folder: Path) -> Path:
    from tiny_model import tiny_model

    return tiny_model(folder)


@pytest.fixture(scope="module", params=ENGINES)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    name = request.param
    if find_spec(PACKAGES.get(name, "json")) is None:
        pytest.skip(f"install cotdata[{name}]")
    with opened(name, tmp_path_factory.mktemp(name)) as engine:
        yield engine


def asked(number: int, *, max_tokens: int = 12, text: str = "2 + {n} =", **more: object) -> Request:
    sampling = Sampling(max_tokens=max_tokens, temperature=1.0, top_p=1.0, seed=number, **more)  # type: ignore[arg-type]
    prompt = Prompt(style="plain", text=text.format(n=number))
    if number % 2:
        prompt = Prompt(style="chat", messages=({"role": "user", "content": prompt.text},))
    return Request(id=f"r{number}", prompt=prompt, sampling=sampling)


def test_every_request_has_one_reply(engine: Engine) -> None:
    replies = list(engine.generate(asked(n) for n in range(23)))
    assert sorted(reply.id for reply in replies) == sorted(f"r{n}" for n in range(23))


def test_no_request_is_no_reply(engine: Engine) -> None:
    assert list(engine.generate([])) == []


def test_requests_are_pulled_as_there_is_room(engine: Engine) -> None:
    pulled: list[int] = []
    source = (pulled.append(n) or asked(n) for n in range(500))  # type: ignore[func-returns-value]
    replies = engine.generate(source)
    next(iter(replies))
    replies.close()  # type: ignore[attr-defined]
    assert len(pulled) <= 16


def test_an_unfinished_round_leaves_nothing_behind(engine: Engine) -> None:
    unfinished = engine.generate(asked(n) for n in range(50))
    next(iter(unfinished))
    unfinished.close()  # type: ignore[attr-defined]
    assert [reply.id for reply in engine.generate([asked(3)])] == ["r3"]


def test_counts_and_reasons_are_filled_in(engine: Engine) -> None:
    for reply in engine.generate(asked(n) for n in range(6)):
        assert isinstance(reply, Completion)
        assert reply.finish_reason in ("stop", "length")
        assert 0 < reply.completion_tokens <= 12 or engine.name == "openai"
        assert reply.prompt_tokens > 0


def test_an_engine_states_the_facts_of_its_texts(engine: Engine) -> None:
    assert engine.name in engine_names()
    assert engine.version
    assert engine.model
    assert engine.has_chat_template


def test_a_prompt_over_the_context_is_refused_alone(engine: Engine) -> None:
    if engine.name == "openai":
        pytest.skip("the server decides: test_engine_openai.py")
    long = asked(0, text="word " * 200 + "{n}")
    replies = {r.id: r for r in engine.generate([long, asked(1), asked(2)])}
    refused = replies.pop("r0")
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.permanent) == ("prompt_too_long", True)
    assert all(isinstance(reply, Completion) for reply in replies.values())


@pytest.mark.parametrize("name", engine_names())
def test_an_unknown_option_lists_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"unknown option of the engine .*\n.*known: "):
        open_engine(name, "m", {"no_such_option": "1"})


@pytest.mark.parametrize("name", engine_names())
def test_an_engine_is_described_in_one_line(name: str) -> None:
    spec = engine_spec(name)
    assert spec.name == name
    assert 0 < len(spec.about) < 70


@pytest.mark.parametrize("name", sorted(set(PACKAGES) - {"fake"}))
def test_a_missing_package_names_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cotdata.engines._checkpoint.find_spec", lambda package: None)
    with pytest.raises(MissingPackage, match=rf"cotdata\[{name}\]"):
        open_engine(name, "m", {"base_url": "http://localhost/v1"} if name == "openai" else {})


def test_options_are_pairs() -> None:
    assert engine_options(["a=1", "b=c=d"]) == {"a": "1", "b": "c=d"}
    with pytest.raises(UsageError, match="key=value"):
        engine_options(["alone"])


def test_naming_the_engines_loads_no_heavy_package() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from cotdata.engines import engine_names, engine_spec, default_engine;"
        "[engine_spec(n) for n in engine_names()]; default_engine();"
        "print({'torch', 'vllm', 'transformers', 'aiohttp'} & set(sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout == "set()\n", done.stderr
