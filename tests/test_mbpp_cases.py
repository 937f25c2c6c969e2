"""The case file: every line's verdict, and that the host is unharmed beside it."""

import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cotdata.sandbox import pool
from cotdata.sandbox.probe import examine
from cotdata.sandbox.worker import Level
from cotdata.tasks import get_task
from cotdata.verdicts import Verdict

FILE = Path(__file__).parents[2] / "shared" / "cases" / "mbpp.jsonl"
CASES = [json.loads(line) for line in FILE.read_text().split("\n") if line] if FILE.exists() else []
LEVELS: tuple[Level, ...] = ("full", "kernel")
INNOCENT = {"tests": ["assert twice(4) == 8"]}
VERIFY = get_task("mbpp").verify

pytestmark = pytest.mark.skipif(not CASES, reason="no ../shared/cases/mbpp.jsonl here")


@dataclass
class Host:
    """What the cases attack, open to every user so that only the sandbox protects it."""

    folder: Path
    listener: socket.socket = field(default_factory=socket.socket)

    def __post_init__(self) -> None:
        for folder in (self.folder, *list(self.folder.parents)[:2]):
            folder.chmod(0o777)
        for name in ("home", "delete"):
            (self.folder / name).write_text("canary")
            (self.folder / name).chmod(0o666)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.listener.setblocking(False)

    def aim(self, code: str) -> str:
        for name in ("home", "delete", "outside"):
            code = code.replace(f"'{name.upper()}_CANARY'", repr(str(self.folder / name)))
        return code.replace("PORT", str(self.listener.getsockname()[1]))

    def is_reached(self) -> bool:
        try:
            self.listener.accept()
        except BlockingIOError:
            return False
        return True


@dataclass
class Attack:
    host: Host
    verdicts: dict[str, Verdict]
    innocents: list[Verdict]
    pids: list[int]


@pytest.fixture(scope="module", params=LEVELS)
def attack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Attack]:
    problem = examine(request.param).problem
    if problem:
        pytest.skip(f"level {request.param}: {problem}")
    host = Host(tmp_path_factory.mktemp("host"))
    os.environ["COTDATA_HOME_CANARY"] = str(host.folder / "home")
    pool.configure(num_workers=6)
    pool.current().level = request.param
    with ThreadPoolExecutor(6) as threads:
        innocents = threads.map(_innocent, CASES)
        verdicts = dict(threads.map(lambda case: _judged(case, host), CASES))
        yield Attack(host, verdicts, list(innocents), pool.current().worker_pids())
    host.listener.close()
    pool.close()


def _judged(case: dict, host: Host) -> tuple[str, Verdict]:
    problem = {"tests": case["test_list"], "test_setup": case.get("test_setup_code")}
    return case["id"], VERIFY(problem, host.aim(case["code"]))


def _innocent(case: dict) -> Verdict:
    return VERIFY(INNOCENT, f"def twice(x):  # beside {case['id']}\n    return 2 * x\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_case_gets_its_verdict(case: dict, attack: Attack) -> None:
    given = attack.verdicts[case["id"]]
    assert given.verdict in [case["expected_verdict"], *case.get("also_ok", [])], given


def test_nothing_is_read_written_or_deleted_on_the_host(attack: Attack) -> None:
    assert sorted(path.name for path in attack.host.folder.iterdir()) == ["delete", "home"]
    assert (attack.host.folder / "home").read_text() == "canary"


def test_no_port_is_reached(attack: Attack) -> None:
    assert not attack.host.is_reached()


def test_an_innocent_program_beside_each_attack_passes(attack: Attack) -> None:
    assert [verdict.verdict for verdict in attack.innocents] == ["correct"] * len(CASES)


def test_every_verdict_is_stamped_with_the_level(attack: Attack) -> None:
    stamp = f"sandbox={pool.current().level}"
    assert all(stamp in v.verifier for v in attack.verdicts.values())


def test_no_process_outlives_its_job(attack: Attack) -> None:
    # bubblewrap is three processes: itself, the namespace's first, the fork server.
    expected = 2 if pool.current().level == "full" else 0
    assert [_num_below(pid) for pid in attack.pids] == [expected] * len(attack.pids)


def _num_below(pid: int) -> int:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return len(children) + sum(map(_num_below, children))
