"""What the engine openai costs a request, beside a bare aiohttp loop, in one run.

Both ask a local server that answers at once, 256 requests under way. The server has a
process of its own and shares the cores with the client. The client's processor time
a request is the figure to trust on a machine with other work.

    python benchmarks/client_overhead.py
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import aiohttp

from cotdata.engines import Request, Sampling, open_engine
from cotdata.engines.openai import payload_of
from cotdata.prompts import Prompt

CONCURRENCY = 256
SERVER = """
from aiohttp import web
REPLY = (b'{"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}],'
         b' "usage": {"prompt_tokens": 9, "completion_tokens": 2}}')
async def chat(request):
    await request.read()
    return web.Response(body=REPLY, content_type="application/json")
app = web.Application()
app.router.add_post("/v1/chat/completions", chat)
web.run_app(app, host="127.0.0.1", port=PORT, print=None, access_log=None)
"""


@dataclass(frozen=True)
class Speed:
    per_s: float
    cpu_us: float

    def __str__(self) -> str:
        return f"{self.per_s:,.0f}/s, {self.cpu_us:,.0f} us of CPU a request"


class Clock:
    def __init__(self, count: int) -> None:
        self.count, self.start, self.cpu = count, time.perf_counter(), time.process_time()

    def read(self) -> Speed:
        wall, cpu = time.perf_counter() - self.start, time.process_time() - self.cpu
        return Speed(self.count / wall, cpu / self.count * 1e6)


def requests(count: int) -> Iterator[Request]:
    for number in range(count):
        turn = {"role": "user", "content": f"What is {number} + {number}?"}
        sampling = Sampling(max_tokens=64, temperature=0.7, top_p=1.0, seed=number)
        yield Request(
            id=str(number), prompt=Prompt(style="chat", messages=(turn,)), sampling=sampling
        )


async def bare(url: str, count: int) -> Speed:
    """Workers that take a request, post it and read the reply: nothing else."""
    source = requests(count)

    async def work(session: aiohttp.ClientSession) -> None:
        for request in source:
            body = payload_of(request, "m", "max_tokens")
            async with session.post(f"{url}/chat/completions", json=body) as reply:
                json.loads(await reply.text())["choices"][0]["message"]["content"]

    connector = aiohttp.TCPConnector(limit=CONCURRENCY)
    async with aiohttp.ClientSession(connector=connector) as session:
        clock = Clock(count)
        await asyncio.gather(*(work(session) for _ in range(CONCURRENCY)))
        return clock.read()


def engine(url: str, count: int) -> Speed:
    options = {"base_url": url, "concurrency": str(CONCURRENCY)}
    with closing(open_engine("openai", "m", options)) as opened:
        clock = Clock(count)
        assert sum(1 for _ in opened.generate(requests(count))) == count
        return clock.read()


def wait_for_port(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the server did not start within a minute")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=18431)
    given = parser.parse_args()
    url = f"http://127.0.0.1:{given.port}/v1"
    server = subprocess.Popen([sys.executable, "-c", SERVER.replace("PORT", str(given.port))])
    try:
        wait_for_port(given.port)
        for _ in range(given.rounds):
            plain, ours = asyncio.run(bare(url, given.requests)), engine(url, given.requests)
            ratio = plain.cpu_us / ours.cpu_us
            print(f"bare aiohttp {plain}; engine {ours}; ratio by CPU time {ratio:.2f}")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
