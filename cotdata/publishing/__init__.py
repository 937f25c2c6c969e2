"""From datasets or a model folder to one commit and one tag on the Hub.

    exports.py datasets.py models.py facts.py   what is sent: files and what is known of them
    cards.py                                    the card, merged into the one that is there
    leaks.py                                    what must never leave this machine
    hub.py reload.py                            sending it, and loading it back from the tag

Everything to be sent is first written to a folder, a `Bundle`, so a dry run shows
the very bytes. Nothing here trains, matches or filters.
"""

from __future__ import annotations

import fnmatch
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cotdata.publishing.cards import Card

RepoKind = Literal["dataset", "model"]


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """All files to be sent, below `folder`, and the card, which is merged on the way.

    `owned` are patterns of the repository's paths that this bundle answers for:
    what matches one and is not among its files is stale. `splits` are the rows of
    each config's splits, to be met again when it is loaded back.
    """

    folder: Path
    kind: RepoKind
    card: Card
    owned: tuple[str, ...]
    splits: dict[str, dict[str, int]]

    @cached_property
    def files(self) -> list[str]:
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.folder).as_posix() for path in found)

    def owns(self, path: str) -> bool:
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.owned)

    @cached_property
    def digest(self) -> str:
        """What a commit message names: changes with any file or the card's own text."""
        digest = hashlib.sha256(self.card.text(None).encode())
        for path in self.files:
            digest.update(f"\n{path} {sha256_of(self.folder / path)}".encode())
        return digest.hexdigest()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
