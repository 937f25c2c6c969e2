"""The shapes in which traces are published: one training shape per export, never two.

    messages           a list of chat messages: user, assistant
    prompt-completion  two lists of messages, so that TRL trains on the completion alone
    raw                the dataset as it is, which cotdata reads again

The chat is built by the prompt function that `sample`, `train` and `eval` use. A
column is chosen, not added: a string `prompt` beside `messages` would lead TRL
astray, so the exports hold nothing that a trainer takes for its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import pyarrow as pa

from cotdata.errors import InputError
from cotdata.prompts import build_prompt
from cotdata.schema import COLUMNS, Column, Row
from cotdata.store import DEFAULT_SPLIT, Dataset, SplitWriter
from cotdata.tasks import get_task

Shape = Literal["messages", "prompt-completion", "raw"]

MESSAGES = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
KEPT = (
    "trace_id", "problem_id", "task", "answer", "final_answer", "origin", "verdict",
    "source", "source_id", "license",
)  # fmt: skip
SHAPED = {
    "messages": (Column("messages", MESSAGES, "the problem asked and the trace, as a chat"),),
    "prompt-completion": (
        Column("prompt", MESSAGES, "the problem asked, as a chat"),
        Column("completion", MESSAGES, "the trace, as the assistant's answer"),
    ),
}


def export_columns(shape: Shape) -> tuple[Column, ...]:
    if shape == "raw":
        return COLUMNS["trace"]
    kept = {column.name: column for column in COLUMNS["trace"]}
    return (*SHAPED[shape], *(kept[name] for name in KEPT))


def export_traces(dataset: Dataset, folder: Path, shape: Shape, num_shots: int) -> dict[str, int]:
    """Write the export's files below `folder`; the rows written of each split."""
    schema = pa.schema([(column.name, column.type) for column in export_columns(shape)])
    writers: dict[str, SplitWriter] = {}
    for batch in dataset.batches():
        for split, rows in _by_split(batch).items():
            if split not in writers:
                writers[split] = SplitWriter(folder, split, schema)
            shaped = [shaped_row(row, shape, num_shots) for row in rows]
            writers[split].add(pa.Table.from_pylist(shaped, schema))
    return {split: sum(entry.rows for entry in w.close()) for split, w in sorted(writers.items())}


def _by_split(batch: pa.RecordBatch) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in batch.to_pylist():
        found.setdefault(row["split"] or DEFAULT_SPLIT, []).append(row)
    return found


def shaped_row(row: Row, shape: Shape, num_shots: int) -> Row:
    if not (row["trace"] or "").strip():
        raise InputError(
            "the trace is empty and would teach an empty answer",
            where=str(row["trace_id"]),
            hint="leave such rows out first: cotdata filter … --where \"trim(trace) <> ''\"",
        )
    asked = build_prompt(get_task(row["task"]), row, style="chat", num_shots=num_shots).messages
    answer = {"role": "assistant", "content": row["trace"]}
    kept = {name: row[name] for name in KEPT}
    if shape == "messages":
        return {"messages": [*asked, answer], **kept}
    return {"prompt": list(asked), "completion": [answer], **kept}


def copy_dataset(dataset: Dataset, folder: Path) -> None:
    """The dataset's own files, byte for byte."""
    for path in ("manifest.json", *(entry.path for entry in dataset.manifest.files)):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with dataset.location.child(path).open() as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
