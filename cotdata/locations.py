"""Where a dataset lies: a folder, or any address that `pyarrow.fs` knows.

Location.parse("runs/gsm8k")
Location.parse("s3://bucket/gsm8k?endpoint_override=localhost:5000&scheme=http")
Location.parse("hf:org/name@v1")     # downloaded once into the Hub's own cache
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
from pyarrow import fs

from cotdata.errors import DatasetError, InputError, MissingPackage

HUB_ADDRESS = re.compile(r"hf:(?P<repo>[^@:]+)(@(?P<revision>[^:]+))?(:(?P<config>.+))?")


@dataclass(frozen=True, slots=True)
class Location:
    """`address` is what the user wrote, `path` its path within `filesystem`."""

    address: str
    filesystem: fs.FileSystem
    path: str

    @classmethod
    def parse(cls, address: str) -> Location:
        if address.startswith("hf:"):
            folder = download_dataset(address)
            return cls(address, fs.LocalFileSystem(), str(folder))
        if "://" not in address:
            return cls(address, fs.LocalFileSystem(), address.rstrip("/") or "/")
        try:
            filesystem, path = fs.FileSystem.from_uri(address)
        except (pa.ArrowInvalid, ValueError) as error:
            raise InputError(f"pyarrow cannot read this address: {error}", where=address) from error
        return cls(address, filesystem, path.rstrip("/"))

    @property
    def local(self) -> Path | None:
        """The folder on this machine, None for an address elsewhere."""
        return Path(self.path) if isinstance(self.filesystem, fs.LocalFileSystem) else None

    def __str__(self) -> str:
        return self.address

    def child(self, name: str) -> Location:
        head, mark, query = self.address.partition("?")
        return Location(
            f"{head.rstrip('/')}/{name}{mark}{query}", self.filesystem, f"{self.path}/{name}"
        )

    def exists(self) -> bool:
        return bool(self.filesystem.get_file_info(self.path).type != fs.FileType.NotFound)

    def open(self) -> IO[bytes]:
        return cast(IO[bytes], self.filesystem.open_input_file(self.path))

    def read_json(self) -> Any:
        with self.filesystem.open_input_stream(self.path) as stream:
            return json.loads(stream.read())

    def children(self) -> list[Location]:
        selector = fs.FileSelector(self.path, allow_not_found=True)
        names = [Path(info.path).name for info in self.filesystem.get_file_info(selector)]
        return [self.child(name) for name in sorted(names)]

    def place(self, folder: Path, names: list[str]) -> None:
        """Bring files of a local folder here in the order given, by rename where it can be.

        What lies in the way is the rest of an earlier try.
        """
        local = self.local
        for stale in {name.split("/")[0] for name in names if "/" in name}:
            if local is not None:
                shutil.rmtree(local / stale, ignore_errors=True)
        for name in names:
            if local is not None:
                (local / name).parent.mkdir(parents=True, exist_ok=True)
                _sync(folder / name)
                (folder / name).replace(local / name)
                continue
            target = f"{self.path}/{name}"
            self.filesystem.create_dir(str(Path(target).parent), recursive=True)
            with (
                self.filesystem.open_output_stream(target) as out,
                (folder / name).open("rb") as file,
            ):
                shutil.copyfileobj(file, out)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def download_dataset(address: str) -> Path:
    """The local copy of a dataset that cotdata published to the Hub."""
    match = HUB_ADDRESS.fullmatch(address)
    if match is None:
        raise InputError(
            "not a Hub address", where=address, hint="write hf:org/name[@revision][:config]"
        )
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise MissingPackage("huggingface_hub", "train") from error
    try:
        folder = snapshot_download(match["repo"], repo_type="dataset", revision=match["revision"])
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise DatasetError(
            f"cannot download from the Hub: {error}",
            where=address,
            hint="check the name, your network, and HF_TOKEN for a private repository",
        ) from error
    return Path(folder) / (match["config"] or "")
