"""openai: any server that speaks the OpenAI protocol, such as `vllm serve`.

    vllm serve models/smollm2 &
    cotdata sample d/p --model models/smollm2 --engine openai
        --engine-option base_url=http://localhost:8000/v1 --engine-option concurrency=64

Chat prompts go to /chat/completions, plain ones to /completions. At most
`concurrency` requests are under way, and no more than these are held in memory. The
key comes from OPENAI_API_KEY alone, the address from `base_url` or OPENAI_BASE_URL.
A server that sends no token counts gives rows with 0. It cannot be used from inside
a running asyncio loop.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import urllib.request
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from cotdata.engines import Completion, EngineSpec, Refusal, Request
from cotdata.engines._checkpoint import need_package
from cotdata.engines._http import Client, Patience, Rejection, server_words
from cotdata.engines._options import read_options
from cotdata.errors import EngineError, UsageError

OPENAI = "https://api.openai.com/v1"
CONTEXT_WORDS = re.compile(
    r"context[_ ](length|window|size)|maximum (context|model|sequence|prompt) length"
    r"|max_(model|seq|input)_len|(prompt|input)[^.]* too long",
    re.IGNORECASE,
)
CONNECT_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenAIOptions:
    """`body` is a JSON object laid over every request, for a server's own fields."""

    base_url: str | None = None
    concurrency: int = 64
    timeout_s: float = 600.0
    tries: int = 6
    first_wait_s: float = 0.5
    busy_s: float = 600.0
    length_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    body: str = "{}"


class OpenAIEngine:
    name = "openai"
    revision: str | None = None
    # The server holds the template; sending messages is the only way to use it.
    has_chat_template = True

    def __init__(self, model: str, options: OpenAIOptions, base_url: str) -> None:
        self.model = model
        self.options = options
        self.extra = parse_body(options.body)
        self.loop = asyncio.new_event_loop()
        try:
            self.session, self.client = self.loop.run_until_complete(self._connect(base_url))
            self.version = self.loop.run_until_complete(self._greet())
        except BaseException:
            self.close()
            raise

    async def _connect(self, base_url: str) -> tuple[Any, Client]:
        import aiohttp

        key = os.environ.get("OPENAI_API_KEY")
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self.options.concurrency),
            timeout=aiohttp.ClientTimeout(total=self.options.timeout_s, sock_connect=CONNECT_S),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            # Where no proxy is set, looking for one doubles the cost of a request.
            trust_env=bool(urllib.request.getproxies()),
        )
        patience = Patience(
            tries=self.options.tries,
            first_wait_s=self.options.first_wait_s,
            busy_s=self.options.busy_s,
        )
        return session, Client(session, base_url, patience)

    async def _greet(self) -> str:
        """Fail now rather than after the first rows; returns what serves the model."""
        import aiohttp

        url = self.client.base_url
        try:
            async with self.session.get(f"{url}/models") as reply:
                if reply.status in (401, 403):
                    words = server_words(reply.status, await reply.text())
                    raise EngineError(
                        f"the server refused: {words}",
                        where=url,
                        hint="set the environment variable OPENAI_API_KEY",
                    )
                software = reply.headers.get("Server", "unknown")
            return await self._vllm_version() or software
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise EngineError(
                f"no server answers: {error}",
                where=url,
                hint="start one, for example: vllm serve MODEL, or set another base_url",
            ) from error

    async def _vllm_version(self) -> str | None:
        root = self.client.base_url.removesuffix("/v1")
        async with self.session.get(f"{root}/version") as reply:
            try:
                body = json.loads(await reply.text())
                return f"vllm {body['version']}"
            except (ValueError, TypeError, KeyError):
                return None

    def close(self) -> None:
        if self.loop.is_closed():
            return
        if hasattr(self, "session"):
            self.loop.run_until_complete(self.session.close())
        self.loop.close()

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion | Refusal]:
        source = iter(requests)
        tasks: set[asyncio.Task[None] | None] = set()
        done: deque[Completion | Refusal | BaseException] = deque()
        arrived = asyncio.Event()

        async def serve(request: Request) -> None:
            try:
                done.append(await self._ask(request))
            except Exception as error:
                # Handed to the caller below; a task would keep it to itself.
                done.append(error)
            tasks.discard(asyncio.current_task())
            arrived.set()

        async def wait_for_one() -> None:
            await arrived.wait()
            arrived.clear()

        try:
            while True:
                room = self.options.concurrency - len(tasks)
                for request in itertools.islice(source, room):
                    tasks.add(self.loop.create_task(serve(request)))
                if not tasks:
                    return
                self.loop.run_until_complete(wait_for_one())
                while done:
                    reply = done.popleft()
                    if isinstance(reply, BaseException):
                        raise reply
                    yield reply
        finally:
            self._cancel(tasks)

    def _cancel(self, tasks: set[asyncio.Task[None] | None]) -> None:
        left = [task for task in tasks if task]
        for task in left:
            task.cancel()
        if left and not self.loop.is_closed():
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))

    async def _ask(self, request: Request) -> Completion | Refusal:
        path = "/completions" if request.prompt.style == "plain" else "/chat/completions"
        payload = payload_of(request, self.model, self.options.length_field) | self.extra
        answer = await self.client.post(path, payload, read=partial(reply_of, request.id))
        if isinstance(answer, Rejection):
            return refusal_of(request.id, answer)
        return answer.value


def payload_of(request: Request, model: str, length_field: str) -> dict[str, Any]:
    sampling, prompt = request.sampling, request.prompt
    payload: dict[str, Any] = {
        "model": model,
        length_field: sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
    }
    if sampling.stop:
        payload["stop"] = list(sampling.stop)
    if prompt.style == "plain":
        return payload | {"prompt": prompt.text}
    return payload | {"messages": list(prompt.messages)}


def reply_of(request_id: str, body: Any) -> Completion | Refusal:
    """Raises one of the look-up errors where the reply is not whole."""
    choice = body["choices"][0]
    ended = choice["finish_reason"]
    if ended not in ("stop", "length"):
        if not isinstance(ended, str):
            raise ValueError("the reply has no finish_reason")
        detail = f"the server ended the reply with {ended!r}"
        return Refusal(id=request_id, reason=ended, detail=detail, permanent=True)
    said = choice.get("message") or {"content": choice.get("text")}
    reasoning = said.get("reasoning_content") or said.get("reasoning")
    usage = body.get("usage") or {}
    return Completion(
        id=request_id,
        text=text_of(said["content"], reasoning),
        finish_reason=ended,
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        completion_tokens=int(usage.get("completion_tokens") or 0),
        reasoning=reasoning,
    )


def text_of(content: Any, reasoning: Any) -> str:
    """A model cut while it reasons sends no content at all."""
    if content is None and reasoning:
        return ""
    if not isinstance(content, str):
        raise ValueError("the reply has no text")
    return content


def refusal_of(request_id: str, rejection: Rejection) -> Refusal:
    """Other refusals may be the server's settings, so a rerun tries them again."""
    long = rejection.status in (400, 413, 422) and CONTEXT_WORDS.search(rejection.words)
    return Refusal(
        id=request_id,
        reason="prompt_too_long" if long else "server_error",
        detail=rejection.words,
        permanent=bool(long),
    )


def parse_body(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise UsageError(f"--engine-option body wants a JSON object, not {text!r}")
    return body


def server_address(options: OpenAIOptions) -> str:
    address = options.base_url or os.environ.get("OPENAI_BASE_URL")
    if not address and os.environ.get("OPENAI_API_KEY"):
        return OPENAI
    if not address or not address.startswith(("http://", "https://")):
        raise UsageError(
            "the engine openai wants the address of a server",
            hint="--engine-option base_url=http://localhost:8000/v1, or set OPENAI_BASE_URL",
        )
    return address


def open_openai(model: str, options: Mapping[str, str]) -> OpenAIEngine:
    read = read_options(OpenAIOptions, "openai", options)
    if read.concurrency < 1 or read.tries < 1:
        raise UsageError("--engine-option concurrency and tries want at least 1")
    need_package("aiohttp", "openai")
    return OpenAIEngine(model, read, server_address(read))


ENGINE = EngineSpec(
    name="openai",
    about="a server that speaks the OpenAI protocol",
    open=open_openai,
)
