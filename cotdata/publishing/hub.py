"""One repository on the Hub: read its head, make one commit on it, put a tag on that.

    done = send(bundle, HubRepo(HfApi(), "org/name", "dataset"), tag=None, public=False)

The commit names its parent, so two writers cannot overwrite each other; the tag
comes last, so who loads by tag never sees half of it. After a lost answer, a busy
server or a moved head the head is read again and only what is still missing is
sent: a commit that did arrive is seen as done. It never deletes or moves a tag.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from cotdata.errors import HubError, PartialRun
from cotdata.progress import say
from cotdata.publishing import Bundle, RepoKind, sha256_of

if TYPE_CHECKING:
    from huggingface_hub import HfApi

T = TypeVar("T")

CARD = "README.md"
WAITS_S = (1.0, 2.0, 4.0, 8.0, 16.0)
LONGEST_WAIT_S = 300.0
PASSING = {
    408: "too slow",
    412: "someone else wrote there meanwhile",
    429: "too many requests",
    **dict.fromkeys((500, 502, 503, 504), "it is out of order"),
}
NUMBERED = re.compile(r"v(\d+)")
HINTS = {
    401: "log in with `hf auth login`, or set HF_TOKEN; the token may have expired",
    403: "the token may not write there: it needs write access to this repository",
    404: "check the name; a private repository is not found without a token that may read it",
    409: "something of that name exists already: choose another name or --tag",
}


class Passing(Exception):
    """The Hub did not take it this time; `wait_s` is how long it asks to wait."""

    def __init__(self, what: str, wait_s: float | None) -> None:
        super().__init__(what)
        self.wait_s = wait_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What makes a revision hold the bundle; empty if it does. `card` is the merged one."""

    add: list[str]
    delete: list[str]
    card: str | None

    def __bool__(self) -> bool:
        return bool(self.add or self.delete or self.card is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    tag: str
    oid: str
    fresh: bool


@dataclass(frozen=True)
class HubRepo:
    api: HfApi
    name: str
    kind: RepoKind
    sleep: Callable[[float], None] = field(default=time.sleep)

    def patiently(self, action: Callable[[], T]) -> T:
        """Do it again while the Hub is busy; `action` must look at what is there first."""
        for wait_s in WAITS_S:
            try:
                return action()
            except Passing as passing:
                asked = passing.wait_s if passing.wait_s is not None else wait_s
                wait_s = min(asked, LONGEST_WAIT_S)
                say(f"publish: {passing}; trying again in {wait_s:g} s")
                self.sleep(wait_s)
        try:
            return action()
        except Passing as passing:
            raise PartialRun(
                f"{passing}, after {len(WAITS_S)} tries; tags are as they were",
                where=f"{self.kind} {self.name}",
                hint="the same command goes on from here; nothing is sent twice",
            ) from passing

    def create(self, *, public: bool) -> None:
        with self.errors("create the repository"):
            self.api.create_repo(
                self.name, repo_type=self.kind, private=not public, exist_ok=True
            )  # fmt: skip

    def head(self, *, public: bool) -> str:
        with self.errors("read the repository"):
            info = self.api.repo_info(self.name, repo_type=self.kind, revision="main")
        if not info.private and not public:
            raise HubError(
                "nothing was sent: this repository is public",
                where=f"{self.kind} {self.name}",
                hint="say --public if all may read it, or give the name of a private one",
            )
        return str(info.sha)

    def changes(self, bundle: Bundle, revision: str) -> Changes:
        with self.errors("list the files"):
            tree = list(
                self.api.list_repo_tree(
                    self.name, repo_type=self.kind, revision=revision, recursive=True
                )
            )
        there = {entry.path: entry for entry in tree if hasattr(entry, "size")}
        card = self._card(revision) if CARD in there else None
        merged = bundle.card.text(card)
        return Changes(
            add=[name for name in bundle.files if not _is_same(bundle, name, there.get(name))],
            delete=[name for name in there if bundle.owns(name) and name not in bundle.files],
            card=merged if merged != card else None,
        )

    def _card(self, revision: str) -> str:
        from huggingface_hub import hf_hub_url
        from huggingface_hub.utils import (  # type: ignore[attr-defined]
            build_hf_headers,
            get_session,
            hf_raise_for_status,
        )

        # Not through the cache: what is merged must be what lies there, line ends and all.

        url = hf_hub_url(
            self.name, CARD, repo_type=self.kind, revision=revision, endpoint=self.api.endpoint
        )
        with self.errors("read the card"):
            response = get_session().get(url, headers=build_hf_headers(token=self.api.token))
            hf_raise_for_status(response)
        return bytes(response.content).decode("utf-8")

    def commit(self, bundle: Bundle, changes: Changes, parent: str) -> str:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        operations: list[Any] = [
            CommitOperationAdd(name, bundle.folder / name) for name in changes.add
        ]
        if changes.card is not None:
            operations.append(CommitOperationAdd(CARD, changes.card.encode()))
        operations += [CommitOperationDelete(name) for name in changes.delete]
        message = f"cotdata publish {self.name.partition('/')[2]} ({bundle.digest[:12]})"
        with self.errors("commit"):
            done = self.api.create_commit(
                self.name, operations, commit_message=message, repo_type=self.kind,
                revision="main", parent_commit=parent,
            )  # fmt: skip
        return str(done.oid)

    def tags(self) -> dict[str, str]:
        with self.errors("list the tags"):
            found = self.api.list_repo_refs(self.name, repo_type=self.kind).tags
        return {ref.name: ref.target_commit for ref in found}

    def tag(self, tag: str, oid: str) -> None:
        with self.errors(f"put the tag {tag} on {oid[:12]}"):
            self.api.create_tag(self.name, tag=tag, revision=oid, repo_type=self.kind)

    @contextmanager
    def errors(self, doing: str) -> Iterator[None]:
        # Which HTTP client the Hub's package stands on changes; its own errors name it.
        from huggingface_hub.errors import (  # type: ignore[attr-defined]
            HfHubHTTPError,
            HTTPError,
            OfflineModeIsEnabled,
        )

        place = f"{self.kind} {self.name}"
        try:
            yield
        except HfHubHTTPError as error:
            status = error.response.status_code
            what = f"cannot {doing}: the Hub answered {status}"
            if status in PASSING:
                what += f", {PASSING[status]}"
                raise Passing(what, _retry_after(error.response)) from error
            said = f" ({error.server_message})" if error.server_message else ""
            raise HubError(what + said, where=place, hint=HINTS.get(status)) from error
        except OfflineModeIsEnabled as error:
            raise HubError(
                f"cannot {doing}: offline mode is on", where=place, hint="unset HF_HUB_OFFLINE"
            ) from error
        except (HTTPError, ConnectionError, TimeoutError) as error:
            raise Passing(f"cannot {doing}: no answer ({type(error).__name__})", None) from error


def _retry_after(response: Any) -> float | None:
    asked = response.headers.get("Retry-After", "")
    return float(asked) if asked.isdigit() else None


def _is_same(bundle: Bundle, name: str, there: Any) -> bool:
    path = bundle.folder / name
    if there is None or there.size != path.stat().st_size:
        return False
    if there.lfs is not None:
        return bool(there.lfs.sha256 == sha256_of(path))
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    return bool(there.blob_id == blob.hexdigest())


def send(bundle: Bundle, repo: HubRepo, *, tag: str | None, public: bool) -> Sent:
    """From nothing, or from wherever an earlier try stopped, to a tagged commit."""
    repo.patiently(lambda: repo.create(public=public))
    found = repo.patiently(lambda: _already(bundle, repo, tag, public))
    if found is not None:
        return found
    oid = repo.patiently(lambda: _commit(bundle, repo, public))
    return repo.patiently(lambda: _tag(repo, tag, oid))


def _already(bundle: Bundle, repo: HubRepo, tag: str | None, public: bool) -> Sent | None:
    """The tag that holds the bundle; another content under the tag asked for is refused."""
    head, tags = repo.head(public=public), repo.tags()
    if tag is None:
        at_head = sorted((name for name, oid in tags.items() if oid == head), key=_number)
        holds = at_head and not repo.changes(bundle, head)
        return Sent(tag=at_head[-1], oid=head, fresh=False) if holds else None
    if tag not in tags:
        return None
    if repo.changes(bundle, tags[tag]):
        raise HubError(
            f"nothing was sent: the tag {tag} holds something else",
            where=f"{repo.kind} {repo.name}",
            hint=f"a tag is never moved: leave --tag out for {next_tag(tags)}, or choose another",
        )
    return Sent(tag=tag, oid=tags[tag], fresh=False)


def _commit(bundle: Bundle, repo: HubRepo, public: bool) -> str:
    head = repo.head(public=public)
    changes = repo.changes(bundle, head)
    return repo.commit(bundle, changes, head) if changes else head


def _tag(repo: HubRepo, tag: str | None, oid: str) -> Sent:
    tags = repo.tags()
    mine = [name for name, at in tags.items() if at == oid and name == (tag or name)]
    name = tag or next_tag(tags)
    if mine:
        return Sent(tag=max(mine, key=_number), oid=oid, fresh=True)
    repo.tag(name, oid)
    return Sent(tag=name, oid=oid, fresh=True)


def next_tag(tags: dict[str, str]) -> str:
    return f"v{max((_number(tag)[0] for tag in tags), default=0) + 1}"


def _number(tag: str) -> tuple[int, str]:
    found = NUMBERED.fullmatch(tag)
    return (int(found[1]) if found else 0, tag)
