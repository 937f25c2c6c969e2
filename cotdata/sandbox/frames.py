"""Length-prefixed messages over a pipe, the same on both sides of the sandbox.

    send(fd, b"job")
    receive(fd)   # b"job", or None when the other side is gone

No clock here: the worker waits with `select` before it reads.
"""

import os
import struct

MAX_FRAME_BYTES = 64 * 2**20
HEADER = struct.Struct(">I")


def send(fd: int, payload: bytes) -> None:
    rest = memoryview(HEADER.pack(len(payload)) + payload)
    while rest:
        rest = rest[os.write(fd, rest) :]


def receive(fd: int) -> bytes | None:
    header = _read(fd, HEADER.size)
    if header is None:
        return None
    (size,) = HEADER.unpack(header)
    return None if size > MAX_FRAME_BYTES else _read(fd, size)


def _read(fd: int, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = os.read(fd, min(size, 2**20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
