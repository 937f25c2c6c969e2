"""A double of the Hub's HTTP API in memory, with faults on order.

    with HubServer() as hub:
        hub.fail("POST", "/commit/", status=503)       # the next such request
        hub.fail("POST", "/commit/", after=True)       # done, but the answer is lost
        env = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token}

It takes every file as a regular one, so neither LFS nor Xet is spoken, and it has
no quotas and no rules for card metadata. Keep what is sent to it small.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Tree = dict[str, bytes]
REPO = r"(?P<kind>datasets|models)/(?P<repo>[^/]+/[^/]+)"


class Refused(Exception):
    def __init__(self, status: int, message: str, code: str = "", body: Any = None) -> None:
        super().__init__(message)
        self.status, self.code = status, code
        self.body = json.dumps(body or {"error": message}).encode()


@dataclass
class Repo:
    """Commits by oid, each a whole tree; `log` has them from the oldest on."""

    private: bool
    trees: dict[str, Tree] = field(default_factory=dict)
    log: list[tuple[str, str]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def head(self) -> str:
        return self.log[-1][0]

    def commit(self, tree: Tree, title: str) -> str:
        oid = hashlib.sha1(f"{len(self.log)} {title} {sorted(tree)}".encode()).hexdigest()
        self.trees[oid] = tree
        self.log.append((oid, title))
        return oid

    def oid_of(self, revision: str) -> str:
        oid = self.head if revision == "main" else self.tags.get(revision, revision)
        if oid not in self.trees:
            raise Refused(404, f"no revision {revision}", "RevisionNotFound")
        return oid


@dataclass
class Fault:
    """For the next request that fits; with `after` it is served and its answer lost."""

    method: str
    path: str
    status: int | None
    headers: dict[str, str]
    after: bool
    left: int


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class HubServer:
    token = "a-token-of-the-test-server"

    def __init__(self) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.requests: list[str] = []
        self.faults: list[Fault] = []
        self.between: list[Any] = []
        self.lock = threading.RLock()
        handler = type("Handler", (Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> HubServer:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fail(
        self, method: str, path: str, *, status: int | None = None, after: bool = False,
        times: int = 1, **headers: str,
    ) -> None:  # fmt: skip
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.faults.append(Fault(method, path, status, named, after, times))

    def fault(self, method: str, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.left and fault.method == method and fault.path in path:
                fault.left -= 1
                return fault
        return None

    def repo(self, name: str, kind: str = "datasets") -> Repo:
        return self.repos[kind, name]

    def add_repo(self, name: str, kind: str = "datasets", *, private: bool = True) -> Repo:
        repo = self.repos[kind, name] = Repo(private)
        repo.commit({".gitattributes": b"*.parquet filter=lfs\n"}, "initial commit")
        return repo


@dataclass(frozen=True)
class Answer:
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def answer(value: Any) -> Answer:
    return Answer(json.dumps(value).encode(), {"Content-Type": "application/json"})


class Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        with self.hub.lock:
            self.hub.requests.append(f"{self.command} {path}")
            fault = self.hub.fault(self.command, path)
            try:
                if fault is not None and fault.status is not None:
                    raise Refused(fault.status, "a fault on order")
                if fault is not None and not fault.after:
                    return self._drop()
                done = self._answer(path, parse_qs(parts.query), body)
            except Refused as refused:
                return self._refuse(refused, fault.headers if fault else {})
        if fault is not None:
            return self._drop()
        return self._send(200, done.body, done.headers)

    def _drop(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _refuse(self, refused: Refused, headers: dict[str, str]) -> None:
        coded = {"X-Error-Code": refused.code} if refused.code else {}
        self._send(
            refused.status, refused.body, {"X-Error-Message": str(refused), **coded, **headers}
        )

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if wanted and status == 200:
            first, last = int(wanted[1]), int(wanted[2] or len(body) - 1)
            whole, body, status = len(body), body[first : last + 1], 206
            headers = {**headers, "Content-Range": f"bytes {first}-{last}/{whole}"}
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _answer(self, path: str, query: dict[str, list[str]], body: bytes) -> Answer:
        for method, pattern, serve in ROUTES:
            found = re.fullmatch(pattern, path)
            if found and self.command in method:
                return serve(self, body, query, **found.groupdict())  # type: ignore[no-any-return]
        raise Refused(404, f"the double has no {self.command} {path}")

    def _repo(self, kind: str, repo: str, *, write: bool = False) -> Repo:
        knows = self.headers.get("Authorization") == f"Bearer {self.hub.token}"
        found = self.hub.repos.get((kind, repo))
        if found is None or (found.private and not knows):
            raise Refused(404 if knows else 401, "no such repository", "RepoNotFound")
        if write and not knows:
            raise Refused(401, "who are you?")
        return found

    def create(self, body: bytes, query: Any) -> Answer:
        if self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            raise Refused(401, "Invalid username or password.")
        asked = json.loads(body)
        kind = f"{asked.get('type') or 'model'}s"
        name = f"{asked['organization']}/{asked['name']}"
        url = f"{self.hub.url}/{'' if kind == 'models' else f'{kind}/'}{name}"
        if (kind, name) in self.hub.repos:
            raise Refused(409, "You already created this repository", body={"url": url})
        private = asked.get("visibility") == "private" or asked.get("private", False)
        self.hub.add_repo(name, kind, private=private)
        return answer({"url": url})

    def validate(self, body: bytes, query: Any) -> Answer:
        return answer({"errors": [], "warnings": []})

    def info(self, body: bytes, query: Any, kind: str, repo: str, rev: str = "main") -> Answer:
        found = self._repo(kind, repo)
        oid = found.oid_of(rev)
        siblings = [{"rfilename": path} for path in sorted(found.trees[oid])]
        return answer({
            "id": repo, "sha": oid, "private": found.private, "siblings": siblings, "tags": [],
            "disabled": False, "gated": False, "downloads": 0, "likes": 0,
        })  # fmt: skip

    def preupload(self, body: bytes, query: Any, kind: str, repo: str, rev: str) -> Answer:
        tree = self._tree(kind, repo, rev, write=True)
        files = [
            {"path": path, "uploadMode": "regular", "shouldIgnore": False,
             "oid": blob_id(tree[path]) if path in tree else None}
            for path in (file["path"] for file in json.loads(body)["files"])
        ]  # fmt: skip
        return answer({"files": files})

    def commit(self, body: bytes, query: Any, kind: str, repo: str, rev: str) -> Answer:
        found = self._repo(kind, repo, write=True)
        for happens in self.hub.between:
            happens(found)
        self.hub.between.clear()
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        header = next(line["value"] for line in lines if line["key"] == "header")
        if header.get("parentCommit", found.head) != found.head:
            raise Refused(412, "The branch has moved")
        tree = dict(found.trees[found.head])
        for line in lines:
            _apply(tree, line["key"], line["value"])
        oid = found.commit(tree, header["summary"])
        url = f"{self.hub.url}/{kind}/{repo}/commit/{oid}"
        return answer({"success": True, "commitOid": oid, "commitUrl": url, "hookOutput": ""})

    def tag(self, body: bytes, query: Any, kind: str, repo: str, rev: str) -> Answer:
        found, name = self._repo(kind, repo, write=True), json.loads(body)["tag"]
        if name in found.tags:
            raise Refused(409, "Tag already exists")
        found.tags[name] = found.oid_of(rev)
        return answer({})

    def refs(self, body: bytes, query: Any, kind: str, repo: str) -> Answer:
        found = self._repo(kind, repo)
        tags = [
            {"name": name, "ref": f"refs/tags/{name}", "targetCommit": oid}
            for name, oid in found.tags.items()
        ]
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": found.head}
        return answer({"branches": [main], "converts": [], "tags": tags})

    def tree(
        self, body: bytes, query: dict[str, list[str]], kind: str, repo: str, rev: str,
        path: str | None = None,
    ) -> Answer:  # fmt: skip
        entries = list(_entries(self._tree(kind, repo, rev)))
        start = f"{path.strip('/')}/" if path else ""
        deep = query.get("recursive", ["false"])[0].lower() in ("true", "1")
        inside = [e for e in entries if e["path"].startswith(start)]
        shown = [e for e in inside if deep or "/" not in e["path"].removeprefix(start)]
        if path and not inside:
            raise Refused(404, f"no folder {path}", "EntryNotFound")
        return answer(shown)

    def paths(self, body: bytes, query: Any, kind: str, repo: str, rev: str) -> Answer:
        if self.headers.get("Content-Type", "").startswith("application/json"):
            wanted = json.loads(body)["paths"]
        else:
            wanted = parse_qs(body.decode())["paths"]
        names = {name.strip("/") for name in wanted}
        return answer([e for e in _entries(self._tree(kind, repo, rev)) if e["path"] in names])

    def resolve(
        self, body: bytes, query: Any, repo: str, rev: str, path: str, kind: str = "models"
    ) -> Answer:
        found = self._repo(kind, repo)
        oid = found.oid_of(rev)
        if path not in found.trees[oid]:
            raise Refused(404, f"no file {path}", "EntryNotFound")
        content = found.trees[oid][path]
        etag = f'"{blob_id(content)}"'
        return Answer(content, {"ETag": etag, "X-Repo-Commit": oid, "Accept-Ranges": "bytes"})

    def _tree(self, kind: str, repo: str, rev: str, *, write: bool = False) -> Tree:
        found = self._repo(kind, repo, write=write)
        return found.trees[found.oid_of(rev)]


def _apply(tree: Tree, key: str, value: Any) -> None:
    if key == "file":
        assert value["encoding"] == "base64"
        tree[value["path"]] = base64.b64decode(value["content"])
    elif key == "deletedFile":
        del tree[value["path"]]
    elif key == "deletedFolder":
        for path in [p for p in tree if p.startswith(value["path"])]:
            del tree[path]
    else:
        assert key == "header", key


def _entries(tree: Tree) -> Iterator[dict[str, Any]]:
    folders = {path[: m.start()] for path in tree for m in re.finditer("/", path)}
    for path in sorted(folders):
        oid = hashlib.sha1(path.encode()).hexdigest()
        yield {"type": "directory", "path": path, "oid": oid, "size": 0}
    for path, content in sorted(tree.items()):
        yield {"type": "file", "path": path, "oid": blob_id(content), "size": len(content)}


API = f"/api/{REPO}"
ROUTES: list[tuple[str, str, Any]] = [
    ("POST", "/api/repos/create", Handler.create),
    ("POST", "/api/validate-yaml", Handler.validate),
    ("GET", API, Handler.info),
    ("GET", f"{API}/revision/(?P<rev>.+)", Handler.info),
    ("GET", f"{API}/refs", Handler.refs),
    ("GET", f"{API}/tree/(?P<rev>[^/]+)(?P<path>/.*)?", Handler.tree),
    ("POST", f"{API}/paths-info/(?P<rev>[^/]+)", Handler.paths),
    ("POST", f"{API}/preupload/(?P<rev>[^/]+)", Handler.preupload),
    ("POST", f"{API}/commit/(?P<rev>[^/]+)", Handler.commit),
    ("POST", f"{API}/tag/(?P<rev>[^/]+)", Handler.tag),
    ("GETHEAD", f"/{REPO}/resolve/(?P<rev>[^/]+)/(?P<path>.+)", Handler.resolve),
    ("GETHEAD", r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<rev>[^/]+)/(?P<path>.+)", Handler.resolve),
]
