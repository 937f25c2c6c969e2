"""What must never leave this machine: keys, and where things lie on it.

    refuse_leaks(folder, files)      # raises InputError with file and kind

Every byte to be sent is looked at, Parquet files by the texts in their rows. Keys
and home folders are refused anywhere; any other absolute path only in the files
that cotdata writes about a dataset, since traces of code may speak of /dev/null.
It knows the forms of common keys and the token of this very login, no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cotdata.errors import InputError

KEYS = {
    "a Hugging Face token": rb"\bhf_[A-Za-z0-9]{20,}",
    "an API key": rb"(?<![\w-])sk-[A-Za-z0-9_-]{20,}",
    "a GitHub token": rb"\bgh[pousr]_[A-Za-z0-9]{30,}",
    "an AWS key": rb"\bAKIA[0-9A-Z]{16}\b",
    "a private key": rb"-----BEGIN [A-Z ]*PRIVATE KEY-----",
}
HOMES = {
    "a path of someone's home": rb"(?<![\w.~-])/(?:home|Users)/[\w.-]+|(?<![\w.~-])/root/[\w.-]+"
    rb"|\b[A-Za-z]:\\{1,2}Users\\{1,2}[\w.-]+",
}
PATHS = {"an absolute path": rb"(?<![\w./:<>~)\\-])/(?:[\w.-]+/)+[\w.-]+"}
OURS = ("manifest.json", "source-manifest.json", "cotdata.json", "README.md")
CHUNK = 1 << 20
OVERLAP = 4096

Patterns = dict[str, re.Pattern[bytes]]


def refuse_leaks(folder: Path, files: Iterable[str]) -> None:
    general, strict = _patterns(strict=False), _patterns(strict=True)
    for name in files:
        _refuse(name.encode(), name, strict)
        patterns = strict if Path(name).name in OURS else general
        for text in _texts(folder / name):
            _refuse(text, name, patterns)


def refuse_leaks_in(text: str, name: str) -> None:
    """The same for a text of ours that is no file yet."""
    _refuse(text.encode(), name, _patterns(strict=True))


def _patterns(*, strict: bool) -> Patterns:
    forms = {**KEYS, **HOMES, **(PATHS if strict else {})}
    found = {what: re.compile(form) for what, form in forms.items()}
    return found | {what: re.compile(re.escape(text.encode())) for what, text in _own()}


def _own() -> Iterator[tuple[str, str]]:
    """What only this machine knows: its token, and where the user works."""
    from huggingface_hub import get_token

    token = get_token()
    # A word of a few letters, such as the token of a local test server, is found everywhere.
    if token and len(token) >= 12:
        yield "the token of this login", token
    for what, place in (("your home folder", Path.home()), ("the working folder", Path.cwd())):
        if len(place.parts) > 2:
            yield what, str(place)


def _refuse(text: bytes, name: str, patterns: Patterns) -> None:
    for what, pattern in patterns.items():
        found = pattern.search(text)
        if found is None:
            continue
        shown = "" if "token" in what or "key" in what else f": {found[0].decode()}"
        raise InputError(
            f"nothing was sent: it holds {what}{shown}",
            where=name,
            hint="rows can be left out with cotdata filter --where; an option that holds a path "
            "can be given a relative one",
        )


def _texts(path: Path) -> Iterator[bytes]:
    yield from _parquet_texts(path) if path.suffix == ".parquet" else _chunks(path)


def _chunks(path: Path) -> Iterator[bytes]:
    """The file in overlapping pieces, so that nothing hides on a border."""
    with path.open("rb") as file:
        tail = b""
        while chunk := file.read(CHUNK):
            yield tail + chunk
            tail = chunk[-OVERLAP:]


def _parquet_texts(path: Path) -> Iterator[bytes]:
    with pq.ParquetFile(path) as file:
        for name, value in (file.schema_arrow.metadata or {}).items():
            yield name + b"\n" + value
        for batch in file.iter_batches():
            yield "\n".join(_strings(batch.to_pylist())).encode("utf-8", "surrogatepass")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
