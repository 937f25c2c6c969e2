"""A server that speaks the OpenAI protocol on this machine, with faults on order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiohttp import web

Handler = Callable[["Server", web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


@dataclass
class Server:
    """`script` says what each request meets, in order of arrival; then all goes well."""

    script: list[Handler] = field(default_factory=list)
    always: Handler | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    url: str = ""
    stop: Callable[[], None] = lambda: None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        self.keys.append(request.headers.get("Authorization"))
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            handler = self.script.pop(0) if self.script else self.always or well
            return await handler(self, request, body)
        finally:
            self.in_flight -= 1


def reply_text(body: dict[str, Any]) -> str:
    asked = body.get("prompt") or body["messages"][-1]["content"]
    return f"reply to {asked} with {body['seed']}"


def whole(body: dict[str, Any], **message: Any) -> dict[str, Any]:
    text = {"content": reply_text(body), **message}
    choice = {"message": text} if "messages" in body else {"text": text["content"]}
    usage = {"prompt_tokens": 3, "completion_tokens": 5}
    return {"choices": [{"index": 0, "finish_reason": "stop", **choice}], "usage": usage}


async def well(server: Server, request: web.Request, body: dict[str, Any]) -> web.Response:
    return web.json_response(whole(body))


def answer(status: int, said: Any, **headers: str) -> Handler:
    async def handler(server: Server, request: web.Request, body: Any) -> web.Response:
        headers_ = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text=json.dumps(said), headers=headers_)

    return handler


def text(said: str) -> Handler:
    async def handler(server: Server, request: web.Request, body: Any) -> web.Response:
        return web.Response(text=said, content_type="application/json")

    return handler


def slow(seconds: float) -> Handler:
    async def handler(server: Server, request: web.Request, body: dict[str, Any]) -> web.Response:
        await asyncio.sleep(seconds)
        return await well(server, request, body)

    return handler


async def torn(server: Server, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Promises a whole reply and hangs up in the middle."""
    said = json.dumps(whole(body)).encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(said))})
    await response.prepare(request)
    await response.write(said[: len(said) // 2])
    assert request.transport is not None
    request.transport.close()
    return response


async def doubled(server: Server, request: web.Request, body: dict[str, Any]) -> web.Response:
    return web.Response(text=json.dumps(whole(body)) * 2, content_type="application/json")


async def reset(server: Server, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@contextlib.contextmanager
def running(server: Server, version: str | None = None) -> Iterator[Server]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(_start(server, version), loop).result()

    def stop() -> None:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()

    server.stop = stop
    try:
        yield server
    finally:
        stop()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(server: Server, version: str | None) -> web.AppRunner:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.handle)
    app.router.add_post("/v1/completions", server.handle)
    if version:
        app.router.add_get("/version", partial(answer_version, version))
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}/v1"
    return runner


async def answer_version(version: str, request: web.Request) -> web.Response:
    return web.json_response({"version": version})
