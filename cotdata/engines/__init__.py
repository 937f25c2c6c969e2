"""Engines: requests in, completions out as they finish, matched by id.

An engine file exports ENGINE, an `EngineSpec`; heavy packages are imported in
its `open`. `generate` pulls requests as it has room, so the number of running
requests stays at the cap until the work is used up, and it may yield in any
order. One request that cannot be served is yielded as a `Refusal`; an engine
that is gone raises EngineError.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, Protocol, cast

from cotdata.errors import UsageError
from cotdata.prompts import Prompt
from cotdata.registry import load_plugin, plugin_names

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """What a request asks of the sampler; `seed` is the completion's own."""

    max_tokens: int
    temperature: float
    top_p: float
    seed: int
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    id: str
    prompt: Prompt
    sampling: Sampling


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """`reasoning` is the separate reasoning field of models that have one."""

    id: str
    text: str
    finish_reason: FinishReason
    prompt_tokens: int
    completion_tokens: int
    reasoning: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A request the engine will not serve. `permanent`: it never will (a prompt
    longer than the context); otherwise a retry may succeed.
    """

    id: str
    reason: str
    detail: str
    permanent: bool


class Engine(Protocol):
    """An open engine; close it, since most hold a model or sockets."""

    name: str
    version: str
    model: str
    revision: str | None
    has_chat_template: bool

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion | Refusal]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineSpec:
    """`open(model, options)` loads the model; `options` are the repeated
    `--engine-option key=value` of the command line, as text.
    """

    name: str
    about: str
    open: Callable[[str, Mapping[str, str]], Engine]


def engine_names() -> list[str]:
    return plugin_names("engine")


def engine_spec(name: str) -> EngineSpec:
    return cast(EngineSpec, load_plugin("engine", name))


def open_engine(name: str, model: str, options: Mapping[str, str]) -> Engine:
    return engine_spec(name).open(model, options)


def default_engine() -> str:
    """VLLM where it is installed, else the embedded engine."""
    return "vllm" if find_spec("vllm") else "transformers"


def engine_options(pairs: Iterable[str]) -> dict[str, str]:
    """The repeated `--engine-option key=value` as a mapping."""
    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(f"--engine-option wants key=value, not {pair!r}")
        options[key] = value
    return options
