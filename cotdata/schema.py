"""The two row kinds, problem and trace, column by column.

This table is the one place where columns are documented: the Arrow schemas, the
data cards and `cotdata show` are made from it. Nothing is inferred from data,
so "016" stays text and a column of nulls keeps its type.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from cotdata.errors import InputError, NewerFormat
from cotdata.seeds import stable_hash

Row = dict[str, Any]
RowKind = Literal["problem", "trace"]

SCHEMA_VERSION = 1
SCHEMA_KEY = b"cotdata.schema"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: pa.DataType
    about: str


TEXTS = pa.list_(pa.string())
SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])

GENERATOR = pa.struct(
    [
        ("model", pa.string()),
        ("revision", pa.string()),
        ("engine", pa.string()),
        ("engine_version", pa.string()),
        ("prompt_style", pa.string()),
        ("prompt_sha", pa.string()),
        ("num_shots", pa.int32()),
        ("temperature", pa.float64()),
        ("top_p", pa.float64()),
        ("max_tokens", pa.int32()),
        ("seed", pa.int64()),
    ]
)

STEPS = pa.list_(
    pa.struct(
        [
            ("index", pa.int32()),
            ("kind", pa.string()),
            ("zone", pa.string()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("text", pa.string()),
            ("original_text", pa.string()),
            ("is_flawed", pa.bool_()),
            ("is_tainted", pa.bool_()),
            ("flaw_type", pa.string()),
            ("flaw_class", pa.string()),
            ("evidence_by", pa.string()),
            ("evidence_confirmed", pa.bool_()),
            ("evidence_detail", pa.string()),
            ("donor_id", pa.string()),
        ]
    )
)

TRIES = pa.list_(
    pa.struct([("trace", pa.string()), ("reason", pa.string()), ("detail", pa.string())])
)

PROBLEM_COLUMNS = (
    Column("problem_id", pa.string(), "hash of task and content, equal for equal problems"),
    Column("task", pa.string(), "gsm8k, math, countdown, mbpp or a plug-in's name"),
    Column("split", pa.string(), "train, test, …"),
    Column("problem", pa.string(), "the question as it is posed"),
    Column("answer", pa.string(), "the gold answer, as text"),
    Column("solution", pa.string(), "the human solution as published; null where there is none"),
    Column("tests", TEXTS, "code: assertions that decide the verdict"),
    Column("shown_tests", TEXTS, "code: assertions shown in the prompt; they do not count"),
    Column("test_setup", pa.string(), "code: statements the assertions need"),
    Column("numbers", pa.list_(pa.int64()), "Countdown: the numbers given"),
    Column("target", pa.int64(), "Countdown: the number to reach"),
    Column("subject", pa.string(), "the source's own category, such as MATH's Algebra"),
    Column("level", pa.string(), "the source's own difficulty, such as MATH's Level 3"),
    Column("source", pa.string(), "where the problem comes from: a Hub name or a file name"),
    Column("source_id", pa.string(), "the row's own id there, else its row number from 0"),
    Column("license", pa.string(), "the licence stated by the source"),
)

TRACE_ONLY_COLUMNS = (
    Column("trace_id", pa.string(), "hash of problem, origin and place among its siblings"),
    Column("trace", pa.string(), "the chain of thought with its final answer"),
    Column("final_answer", pa.string(), "the answer found in the trace, as written there"),
    Column("origin", pa.string(), "human, model, paraphrase or flawed"),
    Column("generator", GENERATOR, "what made the trace; null for a human one"),
    Column("sample_index", pa.int32(), "0 to n-1 among the samples of one problem"),
    Column("finish_reason", pa.string(), "stop, or length for a trace cut at max_tokens"),
    Column("prompt_tokens", pa.int32(), "tokens of the prompt, by the generator's tokenizer"),
    Column("completion_tokens", pa.int32(), "tokens of the trace, by the generator's tokenizer"),
    Column("reasoning", pa.string(), "the separate reasoning field of models that have one"),
    Column("parent_trace_id", pa.string(), "the trace that this one was made from"),
    Column("tries", TRIES, "model texts that a gate refused before this one, with the reason"),
    Column("verdict", pa.string(), "correct, wrong, no_answer, timeout, error; null before verify"),
    Column("verdict_reason", pa.string(), "why, as a short code"),
    Column("verifier", pa.string(), "name and version of the rules that gave the verdict"),
    Column("answer_span", SPAN, "the answer's place in the trace, in characters"),
    Column("answer_method", pa.string(), "how the answer was located or judged"),
    Column("steps", STEPS, "the trace's steps, with flaws and their evidence marked"),
)

COLUMNS: dict[RowKind, tuple[Column, ...]] = {
    "problem": PROBLEM_COLUMNS,
    "trace": (*PROBLEM_COLUMNS, *TRACE_ONLY_COLUMNS),
}

REJECT_COLUMNS = (
    Column("reject_reason", pa.string(), "why the row was not passed on, as a short code"),
    Column("reject_detail", pa.string(), "the same in words"),
)


def schema_of(kind: RowKind) -> pa.Schema:
    return _schema(kind, COLUMNS[kind])


def rejected_schema(kind: RowKind) -> pa.Schema:
    return _schema(kind, (*COLUMNS[kind], *REJECT_COLUMNS))


def _schema(kind: RowKind, columns: Iterable[Column]) -> pa.Schema:
    fields = [pa.field(c.name, c.type) for c in columns]
    return pa.schema(fields, metadata={SCHEMA_KEY: f"{kind}/{SCHEMA_VERSION}".encode()})


def kind_of(schema: pa.Schema, where: str) -> RowKind:
    """Which row kind a file holds, by the version in its metadata."""
    mark = (schema.metadata or {}).get(SCHEMA_KEY, b"").decode()
    kind, _, version = mark.partition("/")
    if kind not in COLUMNS or not version.isdigit():
        raise InputError("not a cotdata Parquet file", where=where)
    if int(version) > SCHEMA_VERSION:
        raise NewerFormat(
            f"written with {kind} schema {version}; this cotdata reads up to {SCHEMA_VERSION}",
            where=where,
            hint="upgrade with: pip install -U cotdata",
        )
    return "problem" if kind == "problem" else "trace"


def id_column(kind: RowKind) -> str:
    return f"{kind}_id"


def problem_id(task: str, identity: Iterable[object]) -> str:
    """Equal for problems whose content is equal up to white space and letter case."""
    return f"p{stable_hash('problem', task, *map(_normal, identity)):016x}"


def trace_id(problem: str, origin: str, *place: object) -> str:
    """The id of a trace by what it is, so that a rerun gives the same one."""
    return f"t{stable_hash('trace', problem, origin, *place):016x}"


def _normal(value: object) -> str:
    return " ".join(str(value).split()).casefold()


def project(row: Mapping[str, Any], kind: RowKind) -> Row:
    """The row's columns of one kind, in schema order, null where absent."""
    return {c.name: row.get(c.name) for c in COLUMNS[kind]}
