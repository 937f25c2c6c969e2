r"""Rulings on the workers: clock, death, threads, asyncio, and what they leave behind."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hostile import hostile_answers

from cotdata import mathpool, mathverdict
from cotdata.mathpool import Pool

HANG = r"\int_0^1 \sqrt{3+x^5} \sin(x^3) \ln(2+x^7) dx"
PAIRS = [
    (rf"\sqrt[3]{{{n}}}", rf"\frac{{{n}}}{{\sqrt[3]{{{n**2 if n % 3 else n**2 + 1}}}}}")
    for n in range(2, 30)
]
EXPECTED = ["equal" if n % 3 else "different" for n in range(2, 30)]


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(2)
    yield made
    made.close()


def job(reference: str, answer: str, limit_s: float = 30.0) -> dict[str, object]:
    return {"kind": "same", "reference": reference, "answer": answer, "limit_s": limit_s}


def kinds(pool: Pool, threads: int = 1) -> list[str]:
    with ThreadPoolExecutor(threads) as executor:
        return [reply.kind for reply in executor.map(lambda p: pool.run(job(*p)), PAIRS)]


@pytest.mark.parametrize("num_workers", [1, 2])
def test_the_number_of_workers_changes_no_reply(num_workers: int) -> None:
    pool = Pool(num_workers)
    assert kinds(pool, threads=4) == EXPECTED
    assert len(pool.worker_pids()) <= num_workers
    pool.close()


def test_a_second_run_replies_the_same(pool: Pool) -> None:
    assert kinds(pool) == kinds(pool) == EXPECTED


def test_it_works_from_asyncio(pool: Pool) -> None:
    async def ask_all() -> list[str]:
        asked = (asyncio.to_thread(pool.run, job(*pair)) for pair in PAIRS[:8])
        return [reply.kind for reply in await asyncio.gather(*asked)]

    assert asyncio.run(ask_all()) == EXPECTED[:8]


def test_no_signal_handler_is_set(pool: Pool) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGCHLD)]
    pool.run(job(*PAIRS[0]))
    assert before == [signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGCHLD)]


def test_what_hangs_is_a_timeout_and_the_next_pair_is_judged(pool: Pool) -> None:
    assert pool.run(job("7", HANG, limit_s=0.5)).kind == "timeout"
    assert pool.run(job(*PAIRS[0])).kind == "equal"


def test_workers_killed_at_random_change_no_reply(pool: Pool) -> None:
    is_over = threading.Event()
    killer = threading.Thread(target=kill_some, args=(pool, is_over))
    killer.start()
    replies = kinds(pool, threads=2)
    is_over.set()
    killer.join()
    assert replies == EXPECTED


def kill_some(pool: Pool, is_over: threading.Event) -> None:
    """As often as a fifth of the pairs are judged, and at any moment of their work."""
    rng = random.Random(0)
    for _ in range(len(PAIRS) // 5):
        if is_over.wait(rng.uniform(0.1, 1.5)):
            return
        for pid in rng.sample(pool.worker_pids(), k=min(1, len(pool.worker_pids()))):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_pair_that_kills_every_worker_is_a_fault(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    suicide = "import os, sys; print('{}', flush=True); sys.stdin.readline(); os.abort()"
    monkeypatch.setattr(mathpool, "BOOT", suicide)
    assert pool.run(job("7", "8")).kind == "fault"


def test_a_fault_is_an_error_and_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = (r"\sqrt[3]{2}", r"\boxed{\sqrt[5]{7}}", None, "t")
    fault = mathpool.Reply(kind="fault")
    with monkeypatch.context() as patch:
        patch.setattr(mathpool, "ask", lambda *pair: fault)
        assert mathverdict.judge_answer(*pair).verdict == "error"
    assert mathverdict.judge_answer(*pair).verdict == "wrong"


PARENT = """
import sys
from cotdata.mathpool import Pool
pool = Pool(1)
pool.run({"kind": "same", "reference": "7", "answer": r"\\\\sqrt[3]{2}", "limit_s": 30})
print(*pool.worker_pids(), flush=True)
sys.stdin.read()
"""


def test_a_script_without_a_main_guard_works_and_its_death_takes_the_workers_along() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout and parent.stdin
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    wait_until_gone(worker)


def wait_until_gone(pid: int) -> None:
    for _ in range(600):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.05)
    raise AssertionError(f"worker {pid} outlived its parent")


FORK = """
import os
from cotdata import mathpool
ask = lambda: mathpool.ask("2", r"\\sqrt[3]{8}").kind
assert ask() == "equal"
before = mathpool.current().worker_pids()
child = os.fork()
if child == 0:
    good = ask() == "equal" and not set(before) & set(mathpool.current().worker_pids())
    mathpool.close()
    os._exit(0 if good else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert ask() == "equal" and mathpool.current().worker_pids() == before
"""


def test_a_forked_process_starts_its_own_workers() -> None:
    assert subprocess.run([sys.executable, "-c", FORK], timeout=200).returncode == 0


def test_hostile_answers_hang_nothing_and_spoil_no_neighbour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = Pool(2)
    monkeypatch.setattr(mathpool, "ask", lambda *pair: pool.run(job(*pair, limit_s=1.0)))
    texts = [text for answer in hostile_answers()[::8] for text in (answer, r"\sqrt[3]{16}")]

    def judge(text: str) -> str:
        reference = r"2\sqrt[3]{2}"
        return mathverdict.judge_answer(reference, rf"\boxed{{{text}}}", None, "t").verdict

    with ThreadPoolExecutor(4) as threads:
        verdicts = list(threads.map(judge, texts))
    pool.close()
    assert set(verdicts[1::2]) == {"correct"}
    assert set(verdicts[::2]) <= {"wrong", "timeout", "no_answer"}
