"""What a chat template does beside wrapping messages, and whether its end is the taught one.

for kind, level, about in template_findings(tokenizer, "chat", [2]): ...
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import Any, Literal

from cotdata.prompts import PromptStyle

Level = Literal["error", "warning"]
Found = tuple[str, Level, str]
ASKED = "cotdata asks this"
SAID = "cotdata is told this"


def template_findings(
    tokenizer: Any, style: PromptStyle, generation_eos: Collection[int]
) -> Iterator[Found]:
    eos = tokenizer.eos_token
    if generation_eos and tokenizer.eos_token_id not in generation_eos:
        yield (
            "generation_end_differs", "warning",
            f"the student's generation config does not stop at {eos!r}; the trained model's will",
        )  # fmt: skip
    if style == "plain":
        return
    if not tokenizer.chat_template:
        yield "no_chat_template", "error", "the prompt style is chat and there is no chat template"
        return
    yield from _inserted(tokenizer)
    ending = rendered_turn(tokenizer).rpartition(SAID)[2]
    if not ending.strip().startswith(eos):
        yield (
            "template_end_differs", "warning",
            f"the template ends an answer with {ending.strip()!r}, taught and asked for is {eos!r}",
        )  # fmt: skip


def _inserted(tokenizer: Any) -> Iterator[Found]:
    if "strftime_now" in str(tokenizer.chat_template):
        yield (
            "template_date", "warning",
            "the template writes today's date into every prompt: trained and asked will differ",
        )  # fmt: skip
    system = inserted_text(tokenizer)
    if system:
        yield "template_system", "warning", f"the template inserts a system prompt: {system!r}"


def inserted_text(tokenizer: Any) -> str:
    """The words before the user's message when there is no system message.

    What the template writes before a second user message is no insertion but the
    way it marks a turn.
    """
    one = rendered(tokenizer, [("user", ASKED)])
    two = rendered(tokenizer, [("user", "first"), ("assistant", SAID), ("user", ASKED)])
    before = one.partition(ASKED)[0]
    mark = common_ending(before, two.partition(SAID)[2].partition(ASKED)[0])
    inserted = before.removesuffix(mark)
    for token in tokenizer.added_tokens_decoder.values():
        inserted = inserted.replace(token.content, "\n") if token.special else inserted
    return " ".join(inserted.split()).removeprefix("system").strip()


def common_ending(left: str, right: str) -> str:
    pairs = zip(reversed(left), reversed(right), strict=False)
    length = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return left[len(left) - length :]


def rendered_turn(tokenizer: Any) -> str:
    return rendered(tokenizer, [("user", ASKED), ("assistant", SAID)])


def rendered(tokenizer: Any, turns: list[tuple[str, str]]) -> str:
    messages = [{"role": role, "content": content} for role, content in turns]
    return str(tokenizer.apply_chat_template(messages, tokenize=False))
