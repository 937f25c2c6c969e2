"""The one prompt function: `sample`, `train` and `eval` all ask through it.

Prompt and completion are tokenised apart and then joined, so the ids a student
is trained on are the ids it is asked with, on every tokenizer.

    prompt = build_prompt(get_task("gsm8k"), row, style="chat", num_shots=0)
    ids = prompt_ids(tokenizer, prompt) + completion_ids(tokenizer, row["trace"])
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from cotdata.schema import Row
    from cotdata.tasks import Task

PromptStyle = Literal["chat", "plain"]
Message = dict[str, str]

PLAIN_PROBLEM = "Problem: {question}\nSolution:\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """Either `text` (plain) or `messages` (chat) is set, by `style`."""

    style: PromptStyle
    text: str = ""
    messages: tuple[Message, ...] = ()


def build_prompt(task: Task, row: Row, *, style: PromptStyle, num_shots: int) -> Prompt:
    shots = [(task.question(shot.problem), shot.trace) for shot in task.shots[:num_shots]]
    question = task.question(row)
    if style == "plain":
        examples = "".join(PLAIN_PROBLEM.format(question=q) + f"{t}\n\n" for q, t in shots)
        ending = PLAIN_PROBLEM.format(question=question)
        return Prompt(style=style, text=f"{task.instruction}\n\n{examples}{ending}")
    turns: list[Message] = []
    for asked, trace in shots:
        turns.append(_user(task, asked))
        turns.append({"role": "assistant", "content": trace})
    return Prompt(style=style, messages=(*turns, _user(task, question)))


def _user(task: Task, question: str) -> Message:
    # The instruction comes first: what all prompts begin with is computed once.
    return {"role": "user", "content": f"{task.instruction}\n\n{question}"}


def stop_texts(style: PromptStyle) -> tuple[str, ...]:
    """A base model asked in plain form goes on to invent the next problem."""
    return ("\nProblem:",) if style == "plain" else ()


def prompt_sha(task: Task, *, style: PromptStyle, num_shots: int) -> str:
    """12 hex digits that change with anything but the problem in the prompt."""
    empty = build_prompt(task, task.shots[-1].problem, style=style, num_shots=num_shots)
    return hashlib.sha256(repr(empty).encode()).hexdigest()[:12]


def prompt_ids(tokenizer: Any, prompt: Prompt) -> list[int]:
    """Token ids of a prompt, with the begin token the tokenizer itself adds."""
    if prompt.style == "plain":
        return list(tokenizer(prompt.text)["input_ids"])
    ids = tokenizer.apply_chat_template(
        list(prompt.messages), add_generation_prompt=True, tokenize=True, return_dict=False
    )
    return list(ids)


def completion_ids(tokenizer: Any, trace: str) -> list[int]:
    """Token ids of a trace, ended by the token that stops generation."""
    return [*tokenizer(trace, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
