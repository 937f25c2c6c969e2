"""The checks before training, on a student by name: lint, and what memory it takes.

    report = lint(dataset.rows, TrainOptions(student="models/smollm2"), held_out=set())
    print(planned_memory(TrainOptions(student="models/smollm2"), report.longest))

Only tokenizer and configuration are loaded, never the weights.
"""

from __future__ import annotations

from collections.abc import Collection

from cotdata.training.examples import RowSource
from cotdata.training.lint import LintReport, LintSettings, lint_traces
from cotdata.training.memory import GIB, plan_memory, shape_of
from cotdata.training.options import TrainOptions, resolve
from cotdata.training.sft import quiet_libraries


def lint(rows: RowSource, options: TrainOptions, held_out: Collection[str]) -> LintReport:
    with quiet_libraries():
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(options.student)
        settings = LintSettings(
            style=options.prompt_style, num_shots=options.num_shots, max_length=options.max_length
        )
        ends = _end_tokens(options.student)
        return lint_traces(rows(), tokenizer, settings, held_out=held_out, generation_eos=ends)


def _end_tokens(student: str) -> list[int]:
    """Where the student's generation config stops; empty if it has none."""
    from transformers import GenerationConfig

    try:
        found = GenerationConfig.from_pretrained(student).eos_token_id
    except OSError:
        return []
    return [found] if isinstance(found, int) else list(found or ())


def planned_memory(options: TrainOptions, longest: int) -> str:
    """A table for micro-batches of the longest example, in tokens."""
    from transformers import AutoConfig

    shape = shape_of(AutoConfig.from_pretrained(options.student))
    chosen = resolve(options, num_parameters=shape.num_parameters)
    plan = plan_memory(shape, chosen, longest=longest, bf16=bool(chosen.bf16))
    head = f"memory for {shape.num_parameters / 1e6:,.0f}M parameters, {chosen.method}, "
    size = f"examples of {longest:,} tokens: {plan.total / GIB:.1f} GiB"
    return f"{head}{size}\n{plan.table()}"
