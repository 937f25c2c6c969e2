"""Posting JSON to a server that is busy, faulty or gone.

    client = Client(session, "http://localhost:8000/v1", patience)
    reply = await client.post("/completions", {"model": "m", "prompt": "2 + 2 ="}, read=dict)

A busy server (429) is waited for as long as `busy_s`, all requests together, and costs
no tries. A fault (5xx, a torn reply, a reset, a timeout) costs one of a few tries.
Where nothing answers at all, the engine is gone, and the error holds the server's
last words. It knows nothing of completions.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cotdata.errors import EngineError
from cotdata.seeds import rng_for

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")

FATAL = {
    401: "set the environment variable OPENAI_API_KEY",
    403: "the key in OPENAI_API_KEY may not use this model",
    404: "check the model's name, and that base_url ends in /v1",
    405: "check that base_url ends in /v1",
}
LONGEST_WORDS = 500
LONGEST_WAIT_S = 30.0
LOST_IN_A_ROW = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """`tries` of one request; `busy_s` of a server that only says 429."""

    tries: int
    first_wait_s: float
    busy_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer(Generic[T]):
    """What `read` made of the server's JSON."""

    value: T


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """The server will not serve this one request; `words` are its own."""

    status: int
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One try that brought nothing. `busy`: the server asks for patience."""

    words: str
    busy: bool = False
    unreachable: bool = False
    wait_s: float = 0.0


class Client:
    """Shares what one request learns of the server with the others."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str, patience: Patience) -> None:
        self.session = session
        self.base_url = base_url.rstrip("/")
        self.patience = patience
        self.answered_at = time.monotonic()
        self.resume_at = 0.0
        self.lost_in_a_row = 0
        self.last_words = ""
        self._jitter = rng_for(0, base_url, "backoff")

    async def post(
        self, path: str, payload: Mapping[str, Any], read: Callable[[Any], T]
    ) -> Answer[T] | Rejection:
        """`read` takes the parsed reply; what it cannot read counts as torn."""
        faults: list[float] = []
        busy: list[float] = []
        while True:
            await self._hold()
            outcome = await self._try(path, payload, read)
            if not isinstance(outcome, Fault):
                self._heard(outcome)
                return outcome
            self.last_words = outcome.words
            times = busy if outcome.busy else faults
            times.append(time.monotonic())
            if outcome.busy:
                self._wait_together(outcome, busy)
            elif len(faults) >= self.patience.tries:
                return self._lost(outcome, since=faults[0])
            else:
                await asyncio.sleep(self._backoff(len(faults), outcome.wait_s))

    def _heard(self, outcome: Answer[T] | Rejection) -> None:
        self.answered_at = time.monotonic()
        if isinstance(outcome, Answer):
            self.lost_in_a_row = 0

    async def _hold(self) -> None:
        """Wait for a busy server; the jitter keeps the others from coming back as one."""
        while (left := self.resume_at - time.monotonic()) > 0:
            await asyncio.sleep(left * (1 + 0.2 * self._jitter.random()))

    def _wait_together(self, fault: Fault, times: list[float]) -> None:
        silent_s = time.monotonic() - max(self.answered_at, times[0])
        if silent_s > self.patience.busy_s:
            raise self.gone(f"the server has been busy for {silent_s:.0f} s")
        wait_s = fault.wait_s or self._backoff(len(times), 0.0)
        self.resume_at = max(self.resume_at, time.monotonic() + wait_s)

    def _backoff(self, times: int, at_least_s: float) -> float:
        wait_s = min(self.patience.first_wait_s * 2.0 ** (times - 1), LONGEST_WAIT_S)
        return max(at_least_s, wait_s * self._jitter.uniform(0.5, 1.0))

    def _lost(self, fault: Fault, since: float) -> Rejection:
        """A request without a reply: is it to blame, or the server?"""
        if fault.unreachable and self.answered_at <= since:
            raise self.gone("the server stopped answering")
        self.lost_in_a_row += 1
        if self.lost_in_a_row >= LOST_IN_A_ROW:
            raise self.gone(f"{LOST_IN_A_ROW} requests in a row failed on every try")
        return Rejection(status=500, words=fault.words)

    def gone(self, what: str) -> EngineError:
        return EngineError(
            f"{what}; its last words: {self.last_words or '(none)'}",
            where=self.base_url,
            hint="see the server's own log; the same command goes on where it stopped",
        )

    async def _try(
        self, path: str, payload: Mapping[str, Any], read: Callable[[Any], T]
    ) -> Answer[T] | Rejection | Fault:
        import aiohttp

        try:
            async with self.session.post(self.base_url + path, json=payload) as reply:
                text = await reply.text()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            return Fault(words=str(error), unreachable=True)
        except TimeoutError:
            return Fault(words="no reply in time")
        except (aiohttp.ClientError, UnicodeDecodeError, OSError) as error:
            reset = isinstance(error, (aiohttp.ServerDisconnectedError, OSError))
            return Fault(words=f"{type(error).__name__}: {error}", unreachable=reset)
        if reply.status != 200:
            return self._bad_status(reply.status, text, reply.headers.get("Retry-After"))
        try:
            return Answer(value=read(json.loads(text)))
        except (ValueError, TypeError, KeyError, IndexError):
            return Fault(words=f"a torn reply: {text[-80:]!r}")

    def _bad_status(self, status: int, text: str, retry_after: str | None) -> Rejection | Fault:
        words = server_words(status, text)
        wait_s = seconds_of(retry_after)
        if status == 429 or (status == 503 and retry_after):
            return Fault(words=words, busy=True, wait_s=wait_s)
        if status in (408, 409, 425) or status >= 500:
            return Fault(words=words, wait_s=wait_s)
        if status in FATAL:
            raise EngineError(
                f"the server refused: {words}", where=self.base_url, hint=FATAL[status]
            )
        return Rejection(status=status, words=words)


def server_words(status: int, text: str) -> str:
    """What the server says in its error, in whichever of the usual shapes."""
    try:
        body = json.loads(text)
    except ValueError:
        return f"{status} {' '.join(text.split())[:LONGEST_WORDS]}"
    said = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(said, dict):
        code = f" ({said['code']})" if isinstance(said.get("code"), str) else ""
        said = f"{said.get('message') or said.get('detail') or json.dumps(said)}{code}"
    return f"{status} {said}"[:LONGEST_WORDS]


def seconds_of(retry_after: str | None) -> float:
    """Retry-After is a number of seconds or a date."""
    if not retry_after:
        return 0.0
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return 0.0
