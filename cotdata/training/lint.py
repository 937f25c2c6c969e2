"""What is wrong with a training set or its student, found before any step is taken.

    report = lint_traces(rows, tokenizer, LintSettings(style="chat"), held_out=test_ids)
    report.errors      # stop the run
    report.warnings    # are listed
    print(report.rendered)

It reads the rows once, counts each kind of finding and keeps the first ids of
each. It judges no reasoning: verdicts are `verify`'s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from cotdata.prompts import PromptStyle, build_prompt
from cotdata.schema import Row
from cotdata.seeds import stable_hash
from cotdata.tasks import get_task
from cotdata.training.examples import Example, build_example
from cotdata.training.templates import template_findings

Level = Literal["error", "warning"]
NUM_IDS = 5

KINDS: dict[str, tuple[Level, str]] = {
    "no_traces": ("error", "there is nothing to train on"),
    "nothing_fits": ("error", "every trace is empty or longer than max-length"),
    "leaked_problem": ("error", "the problem is one of an evaluation set"),
    "end_token_inside": ("error", "the end token stands inside the trace: learned to stop there"),
    "end_token_missing": ("error", "the last trained token does not end generation"),
    "double_begin": ("error", "the begin token comes twice"),
    "empty_trace": ("warning", "nothing but the end token would be learned: left out"),
    "too_long": ("warning", "longer than max-length with its prompt: left out"),
    "truncated": ("warning", "cut at the sampling limit: learned to stop in mid-thought"),
    "special_token_inside": ("warning", "a special token stands inside the trace"),
    "unverified": ("warning", "the verdict is neither correct nor wrong"),
    "duplicate": ("warning", "the same problem with the same trace again"),
    "boundary_differs": ("warning", "prompt and trace tokenised together give other ids; "
                                    "trained and asked are those tokenised apart"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class LintSettings:
    style: PromptStyle = "plain"
    num_shots: int = 0
    max_length: int = 2048


@dataclass(kw_only=True, slots=True)
class Finding:
    """One kind of fault with how many rows have it and the first of their ids."""

    kind: str
    level: Level
    about: str
    count: int = 0
    ids: list[str] = field(default_factory=list)

    def line(self) -> str:
        which = f" ({', '.join(self.ids)}{', …' if self.count > len(self.ids) else ''})"
        rows = f"{self.count:,} traces: " if self.count else ""
        return f"{self.level}: {self.kind}: {rows}{self.about}{which if self.ids else ''}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LintReport:
    """`longest` is in tokens, among the examples that fit."""

    num_rows: int
    longest: int
    findings: list[Finding]
    rendered: str

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.level == "error"]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.level == "warning"]


def lint_traces(
    rows: Iterable[Row],
    tokenizer: Any,
    settings: LintSettings,
    *,
    held_out: Collection[str] = (),
    generation_eos: Collection[int] = (),
) -> LintReport:
    """`held_out` are the problem ids of the evaluation sets, `generation_eos` the
    tokens at which the student's generation config stops (empty: unknown).
    """
    linter = _Linter(tokenizer, settings, held_out)
    for row in rows:
        linter.look_at(row)
    linter.look_at_whole()
    for kind, level, about in template_findings(tokenizer, settings.style, generation_eos):
        linter.found[kind] = Finding(kind=kind, level=level, about=about)
    order = sorted(linter.found.values(), key=lambda finding: (finding.level, finding.kind))
    return LintReport(
        num_rows=linter.num_rows,
        longest=linter.longest,
        findings=order,
        rendered=linter.rendered,
    )


class _Linter:
    def __init__(self, tokenizer: Any, settings: LintSettings, held_out: Collection[str]) -> None:
        self._tokenizer = tokenizer
        self._settings = settings
        self._held_out = held_out
        added = tokenizer.added_tokens_decoder.items()
        self._special = {*tokenizer.all_special_ids, *(i for i, token in added if token.special)}
        self._seen: set[int] = set()
        self.longest = 0
        self.num_rows = 0
        self.found: dict[str, Finding] = {}
        self.rendered = ""

    def look_at(self, row: Row) -> None:
        self.num_rows += 1
        for kind in self._row_faults(row):
            self._add(kind, str(row.get("trace_id")))
        if not (row["trace"] or "").strip():
            self._add("empty_trace", str(row.get("trace_id")))
            return
        settings = self._settings
        example = build_example(
            row, self._tokenizer, style=settings.style, num_shots=settings.num_shots
        )
        for kind in self._token_faults(row, example):
            self._add(kind, str(row.get("trace_id")))
        if len(example.ids) <= settings.max_length:
            self.longest = max(self.longest, len(example.ids))
        self.rendered = self.rendered or render(example, self._tokenizer)

    def look_at_whole(self) -> None:
        if not self.num_rows:
            self._add("no_traces")
        elif not self.longest:
            self._add("nothing_fits")

    def _add(self, kind: str, row_id: str | None = None) -> None:
        level, about = KINDS[kind]
        finding = self.found.setdefault(kind, Finding(kind=kind, level=level, about=about))
        if row_id is not None:
            finding.count += 1
            finding.ids += [row_id] if len(finding.ids) < NUM_IDS else []

    def _row_faults(self, row: Row) -> Iterator[str]:
        if row["problem_id"] in self._held_out:
            yield "leaked_problem"
        if row.get("finish_reason") == "length":
            yield "truncated"
        if row.get("verdict") not in (None, "correct", "wrong"):
            yield "unverified"
        key = stable_hash(row["problem_id"], row["trace"])
        if key in self._seen:
            yield "duplicate"
        self._seen.add(key)

    def _token_faults(self, row: Row, example: Example) -> Iterator[str]:
        tokenizer = self._tokenizer
        trained = example.ids[example.num_prompt :]
        eos, bos = tokenizer.eos_token_id, tokenizer.bos_token_id
        inside = set(trained[:-1]) & self._special
        if len(example.ids) > self._settings.max_length:
            yield "too_long"
        if trained[-1] != eos:
            yield "end_token_missing"
        if eos in inside:
            yield "end_token_inside"
        if inside - {eos, tokenizer.unk_token_id}:
            yield "special_token_inside"
        if bos is not None and bos != eos and example.ids[:2] == [bos, bos]:
            yield "double_begin"
        if self._settings.style == "plain" and self._joint_ids(row) != example.ids[:-1]:
            yield "boundary_differs"

    def _joint_ids(self, row: Row) -> list[int]:
        settings = self._settings
        prompt = build_prompt(
            get_task(row["task"]), row, style=settings.style, num_shots=settings.num_shots
        )
        return list(self._tokenizer(prompt.text + row["trace"])["input_ids"])


def render(example: Example, tokenizer: Any) -> str:
    """The example as the student sees it, what is trained between ⟦ and ⟧."""
    prompt, trained = example.ids[: example.num_prompt], example.ids[example.num_prompt :]
    return f"{_text(tokenizer, prompt)}⟦{_text(tokenizer, trained)}⟧"


def _text(tokenizer: Any, ids: list[int]) -> str:
    return str(tokenizer.decode(ids, clean_up_tokenization_spaces=False))
