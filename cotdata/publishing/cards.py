"""A published card: metadata and sections of ours, merged into what people wrote.

    text = Card(title="org/name", meta={...}, sections={"G": "## G …"}).text(existing)

A section lies between two comments with its name and is replaced as a whole; all
other text stays. In the metadata, what people wrote wins, lists grow, and our
configs replace those of the same name. Merging twice changes nothing. Counts of
`dataset_info` that our files would belie are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cotdata.errors import InputError

FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)

Meta = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """`folders` are those of the repository whose configs are all ours."""

    title: str
    meta: Meta
    sections: Mapping[str, str]
    folders: tuple[str, ...] = ()

    def text(self, existing: str | None) -> str:
        meta, body = split_card(existing) if existing is not None else ({}, f"# {self.title}\n")
        for name, section in self.sections.items():
            body = _with_section(body, name, section)
        merged = merged_meta(meta, self.meta, self.folders)
        return f"---\n{_dump(merged)}---\n\n{body.lstrip()}"


def split_card(text: str) -> tuple[Meta, str]:
    import yaml

    front = FRONT.match(text)
    if front is None:
        return {}, text
    try:
        meta = yaml.safe_load(front[1])
    except yaml.YAMLError as error:
        raise InputError(
            f"the metadata of the card on the Hub is no YAML: {error}",
            where="README.md",
            hint="mend it there first; it is merged, never replaced",
        ) from error
    return meta or {}, text[front.end() :]


def _dump(meta: Meta) -> str:
    import yaml

    text: str = yaml.safe_dump(meta, sort_keys=False, allow_unicode=True, width=100)
    return text


def merged_meta(theirs: Meta, ours: Meta, folders: tuple[str, ...]) -> Meta:
    found = dict(theirs)
    for key, value in ours.items():
        if key == "configs":
            others = [c for c in theirs.get(key) or [] if not _lies_in(c, folders)]
            found[key] = _by_name(others, value)
        elif isinstance(value, list):
            found[key] = list(dict.fromkeys([*_as_list(theirs.get(key)), *value]))
        else:
            found.setdefault(key, value)
    names = {config["config_name"] for config in ours.get("configs", [])}
    return _without_counts(found, names)


def _lies_in(config: Meta, folders: tuple[str, ...]) -> bool:
    """Whether a config's files are in folders of ours, where an earlier version put them."""
    files = _as_list(config.get("data_files"))
    paths = [file.get("path", "") if isinstance(file, dict) else file for file in files]
    places = [path for listed in paths for path in _as_list(listed)]
    return bool(places) and all(str(place).startswith(folders) for place in places)


def _by_name(theirs: list[Meta], ours: list[Meta]) -> list[Meta]:
    named = {config.get("config_name", "default"): config for config in theirs}
    return list((named | {config["config_name"]: config for config in ours}).values())


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _without_counts(meta: Meta, names: set[str]) -> Meta:
    left = [
        info
        for info in _as_list(meta.get("dataset_info"))
        if info.get("config_name", "default") not in names
    ]
    rest = {key: value for key, value in meta.items() if key != "dataset_info"}
    return {**rest, "dataset_info": left} if left else rest


def _with_section(body: str, name: str, section: str) -> str:
    start, end = f"<!-- cotdata:{name} -->", f"<!-- /cotdata:{name} -->"
    text = f"{start}\n{section.strip()}\n{end}"
    before, found, rest = body.partition(start)
    if not found:
        return f"{body.rstrip()}\n\n{text}\n"
    _, closed, after = rest.partition(end)
    if not closed:
        raise InputError(
            f"the section {name} of the card on the Hub has no end: {end!r} is missing",
            where="README.md",
            hint="put the comment back, or delete the section; then run this again",
        )
    return f"{before}{text}{after}"


def render(template: str, **values: Any) -> str:
    """A section from a template of this folder."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701
        loader=PackageLoader("cotdata", "publishing"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)
