"""The sandbox: what it keeps in, what it survives, and when it refuses."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotdata.errors import SandboxError
from cotdata.sandbox import bubblewrap, landlock, pool, probe, worker
from cotdata.sandbox.judge import judge, read_tests
from cotdata.sandbox.values import Malformed, Opaque, decode, encode
from cotdata.sandbox.worker import Ending, Job, Level, Worker

REPO = Path(__file__).parents[1]
PLAN = read_tests(["assert twice(4) == 8"], setup="")
TWICE = "def twice(x):\n    return 2 * x\n"

here = pytest.mark.skipif(
    probe.examine("kernel").problem is not None, reason="no Landlock or seccomp on this machine"
)
each_level = pytest.mark.parametrize("level", ["full", "kernel"])


@pytest.fixture(autouse=True)
def fresh_pool() -> Iterator[None]:
    probe.examine.cache_clear()
    yield
    probe.examine.cache_clear()
    with suppress(SandboxError):
        pool.configure()


def verdict_of(code: str, test: str = "assert twice(4) == 8") -> str:
    plan = read_tests([test], setup="")
    return judge(plan, pool.run_job(plan.job(code, limit_s=2))).verdict


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and ") Z " not in status.read_text()


def waited_for(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@here
@each_level
def test_nothing_escapes_a_level(level: Level) -> None:
    if problem := probe.missing_layer(level):
        pytest.skip(problem)
    assert probe.escapes(level) == []


@here
def test_the_canaries_die_where_nothing_protects_them() -> None:
    assert set(probe.escapes("none")) >= {"read", "write", "delete", "connect", "fork", "run"}


@here
def test_without_bubblewrap_auto_is_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "path", lambda: None)
    assert pool.configure(policy="auto") == "kernel"
    assert "apt install bubblewrap" in "\n".join(probe.doctor_lines())


def test_without_bubblewrap_require_full_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "path", lambda: None)
    with pytest.raises(SandboxError, match="bubblewrap is not installed"):
        pool.configure(policy="require-full")


def test_without_landlock_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(SandboxError, match="Landlock"):
        pool.configure(policy="auto")


@here
def test_a_level_whose_canaries_die_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    leaky = worker.command("none")
    monkeypatch.setattr(worker, "command", lambda level: leaky)
    with pytest.raises(SandboxError, match="could still read"):
        pool.configure(policy="auto")


def test_unsafe_none_warns_and_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert pool.configure(policy="unsafe-none") == "none"
    assert "warning" in capsys.readouterr().err
    assert verdict_of(TWICE) == "correct"


@here
def test_a_sandbox_that_does_not_start_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    pool.configure()
    monkeypatch.setattr(worker, "command", lambda level: ["false"])
    with pytest.raises(SandboxError, match="does not start"):
        verdict_of(TWICE)


@here
def test_a_sandbox_that_loses_every_program_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(self: Worker, job: Job) -> Ending:
        raise worker.WorkerLost

    pool.configure()
    monkeypatch.setattr(Worker, "run", lose)
    with pytest.raises(SandboxError, match="even a harmless one"):
        verdict_of(TWICE)


@here
def test_killed_workers_change_no_verdict() -> None:
    pool.configure(num_workers=2)
    programs = [TWICE, TWICE.replace("2", "3"), "import time\n" + TWICE, "raise ValueError"] * 40
    calm = [verdict_of(code) for code in programs]
    done = threading.Event()
    killer = threading.Thread(target=_kill_workers_until, args=(done,))
    killer.start()
    with ThreadPoolExecutor(2) as threads:
        attacked = list(threads.map(verdict_of, programs))
    done.set()
    killer.join()
    assert attacked == calm


def _kill_workers_until(done: threading.Event) -> None:
    rng = random.Random(0)
    while not done.wait(0.05):
        for pid in pool.current().worker_pids():
            if rng.random() < 0.2:
                os.kill(pid, signal.SIGKILL)


@here
@each_level
def test_a_killed_parent_leaves_no_process(level: Level, tmp_path: Path) -> None:
    if problem := probe.missing_layer(level):
        pytest.skip(problem)
    script = (
        "from cotdata.sandbox.worker import Job, Worker\n"
        f"worker = Worker({level!r})\nprint(worker.pid, flush=True)\n"
        "worker.run(Job(code='import time; time.sleep(60)', limit_s=60))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=REPO)
    with parent:
        assert parent.stdout
        family = [int(parent.stdout.readline())]
        assert waited_for(lambda: len(_below(family[0])) == (3 if level == "full" else 1))
        family += _below(family[0])
        parent.kill()
    assert waited_for(lambda: not any(map(alive, family)))


def _below(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return [found for child in children for found in (child, *_below(child))]


@here
def test_a_thread_that_ends_takes_no_worker_along() -> None:
    pool.configure()
    starter = threading.Thread(target=verdict_of, args=(TWICE,))
    starter.start()
    starter.join()
    time.sleep(0.1)
    assert all(map(alive, pool.current().worker_pids()))


@here
def test_a_forked_process_has_workers_of_its_own() -> None:
    assert verdict_of(TWICE) == "correct"
    child = os.fork()
    if child == 0:
        os._exit(0 if verdict_of(TWICE) == "correct" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert verdict_of(TWICE) == "correct"


@here
def test_a_program_runs_as_nobody_without_environment() -> None:
    code = "import os\ndef seen():\n    return os.getuid() == 0, 'HOME' in os.environ\n"
    assert verdict_of(code, "assert seen() == (False, False)") == "correct"


@here
def test_no_program_finds_what_another_left() -> None:
    leave = "open('/tmp/left', 'w').write('x')\nimport builtins\nbuiltins.left = 1\n" + TWICE
    find = "import builtins, os\n" + TWICE.replace("2 * x", "8 + hasattr(builtins, 'left')")
    assert verdict_of(leave) == "error"
    assert verdict_of(find) == "correct"


@here
@pytest.mark.parametrize(
    "attempt",
    [
        "import subprocess; subprocess.run(['true'])",
        "import multiprocessing as m; m.get_context('fork').Process(target=print).start()",
        "import os; os.memfd_create('x')",
        "import socket; socket.socket(socket.AF_UNIX)",
        "import os; os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
        "import resource, os; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
        "import os; os.chmod('/', 0o777)",
        "open('/proc/self/environ').read()",
        "import os; os.listdir('/home')",
    ],
)
def test_what_a_program_may_not_do_raises(attempt: str) -> None:
    code = (
        f"def twice(x):\n    try:\n        {attempt}\n    except OSError:\n        return 2 * x\n"
    )
    assert verdict_of(code) == "correct"


@here
def test_a_signal_to_the_server_is_not_delivered() -> None:
    code = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.kill(-1, 9)\n" + TWICE
    assert verdict_of(code) == "correct"


@here
def test_memory_is_bounded() -> None:
    assert verdict_of("def twice(x):\n    return len(bytearray(2**32))") == "error"


@here
def test_threads_are_allowed_and_end_with_the_job() -> None:
    code = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
    started = time.monotonic()
    assert verdict_of(code + TWICE) == "correct"
    assert time.monotonic() - started < 60


@here
def test_text_hashes_alike_in_every_worker() -> None:
    seeded = subprocess.run(
        [sys.executable, "-c", "print(hash('a'))"],
        env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True,
    )  # fmt: skip
    code = "def twice(x):\n    return hash('a')"
    assert verdict_of(code, f"assert twice(4) == {seeded.stdout}") == "correct"


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.binary() | st.complex_numbers(allow_nan=False) | st.fractions(),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner)
    | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    | st.frozensets(st.integers(), max_size=4) | st.sets(st.text(), max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(PLAIN)
def test_plain_values_cross_the_border_unchanged(value: object) -> None:
    arrived = decode(encode(value))
    assert arrived == value
    assert type(arrived) is type(value)


@given(st.text() | st.from_regex(r'\["[a-z]"(,("x"|\[\]|1|null|\["d",1\])){0,4}\]', fullmatch=True))
def test_foreign_text_is_malformed_or_a_value(text: str) -> None:
    with suppress(Malformed):
        decode(text)


@pytest.mark.parametrize("base", [int, float, str, list, dict, set, tuple, bytes])
def test_a_value_that_claims_to_equal_everything_arrives_as_its_base(base: type) -> None:
    liar = type("Liar", (base,), {"__eq__": lambda self, other: True, "__hash__": None})
    assert type(decode(encode(liar()))) is base
    assert decode(encode(liar())) == base()


def test_what_is_not_plain_data_equals_nothing() -> None:
    liar = type("Liar", (), {"__eq__": lambda self, other: True})
    arrived = decode(encode([liar()]))
    assert isinstance(arrived[0], Opaque)
    assert arrived != [liar] and arrived != [1]


def test_numbers_keep_their_python_equality() -> None:
    assert decode(encode(Fraction(1, 2))) == 0.5
    assert decode(encode(True)) == 1
    assert decode(encode(10**6000)) == 10**6000


@here
def test_a_worker_is_closed_whole() -> None:
    with closing(Worker("kernel")) as used:
        pid = used.pid
    assert not alive(pid)
