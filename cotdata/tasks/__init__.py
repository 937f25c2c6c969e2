"""Tasks: how a problem is read, asked, solved by a human, and verified.

    from cotdata.tasks import get_task
    problem = {"numbers": [4, 6], "target": 24}
    get_task("countdown").verify(problem, "<answer>4 * 6</answer>").correct

One file per task; it exports TASK and its name is the file's name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

from cotdata.registry import load_plugin, plugin_names
from cotdata.schema import Row
from cotdata.verdicts import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class HubSource:
    """Where `cotdata ingest NAME` loads a task from, and the licence stated there."""

    repo: str
    license: str
    config: str | None = None
    splits: tuple[str, ...] = ("train", "test")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shot:
    """A worked example of our own writing, shown before the problem."""

    problem: Row
    trace: str


class VerifyFunction(Protocol):
    def __call__(self, problem: Row, trace: str, finish_reason: str | None = None) -> Verdict: ...


def _problem_text(problem: Row) -> tuple[object, ...]:
    return (problem["problem"],)


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What the stages need to know of a task.

    `parse` turns a row in the Hub's layout (or with our own column names) into
    problem columns, without ids, and raises InputError for a row it cannot read.
    `identity` is what makes two problems the same one, up to case and white space.
    `question` is the problem as it is posed, `instruction` asks for reasoning and
    the answer's form. `human_trace` is the reference solution written as a trace,
    None where there is none. `verify` may be called from any thread; with
    `waits` it mostly waits for a worker process, so callers run several at once;
    with `runs_code` that process is a sandbox.
    """

    name: str
    about: str
    instruction: str
    parse: Callable[[Row], Row]
    question: Callable[[Row], str]
    human_trace: Callable[[Row], str | None]
    verify: VerifyFunction
    verifier: str
    shots: tuple[Shot, ...]
    source: HubSource | None = None
    waits: bool = False
    runs_code: bool = False
    identity: Callable[[Row], tuple[object, ...]] = _problem_text


def task_names() -> list[str]:
    return plugin_names("task")


def get_task(name: str) -> Task:
    return cast(Task, load_plugin("task", name))
