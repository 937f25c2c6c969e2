r"""Verdicts as rewards, in the form that TRL's trainers call.

    from trl import GRPOTrainer
    trainer = GRPOTrainer(model, reward_funcs=reward_function("math"), train_dataset=problems)

`problems` holds TRL's column `prompt` and the task's own columns (`answer` for gsm8k
and math). A completion that could not be judged, because the reference is unreadable
or the check ran out of time, has no reward (None) and so no part in the update: it is
never counted as wrong. A fault of the machine is raised.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cotdata.schema import Row
from cotdata.tasks import get_task
from cotdata.verdicts import VerdictName

Completion = str | Sequence[dict[str, Any]]
RewardFunction = Callable[..., list[float | None]]


def reward_function(
    task_name: str, *, correct: float = 1.0, wrong: float = 0.0, no_answer: float = 0.0
) -> RewardFunction:
    """`completions` are texts or chat turns; every other column comes as a keyword."""
    task = get_task(task_name)
    rewards: dict[VerdictName, float] = {
        "correct": correct, "wrong": wrong, "no_answer": no_answer,
    }  # fmt: skip

    def reward(completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        rows = _rows(columns, len(completions))
        texts = [_text(completion) for completion in completions]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            verdicts = list(threads.map(task.verify, rows, texts))
        return [rewards.get(verdict.verdict) for verdict in verdicts]

    reward.__name__ = f"{task_name}_reward"
    return reward


def _rows(columns: dict[str, Any], count: int) -> list[Row]:
    """Columns turned into rows; what the trainer passes besides is left out."""
    mine = {
        name: values
        for name, values in columns.items()
        if isinstance(values, list | tuple) and len(values) == count
    }
    return [{name: values[place] for name, values in mine.items()} for place in range(count)]


def _text(completion: Completion) -> str:
    if isinstance(completion, str):
        return completion
    return str(completion[-1]["content"]) if completion else ""
