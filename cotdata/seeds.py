"""Randomness that depends on a row's identity, never on its position.

rng_for(0, "p-3f2a", "off_by_one").random()   # the same on every machine
"""

import hashlib
import random


def stable_hash(*parts: object) -> int:
    """64 bits of BLAKE2b over the parts' text; equal on every run and machine."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def rng_for(seed: int, row_id: str, name: str) -> random.Random:
    return random.Random(stable_hash(seed, row_id, name))  # noqa: S311


def sample_seed(seed: int, problem_id: str, sample_index: int) -> int:
    """The seed of one completion: 31 bits, the range that every engine takes."""
    return stable_hash(seed, problem_id, sample_index) & 0x7FFF_FFFF
