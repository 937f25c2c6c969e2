"""Keep stdout for the result while a noisy library loads.

with stdout_to_stderr():
    llm = LLM(...)
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

STDOUT, STDERR = 1, 2


@contextlib.contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Also for C++ code and child processes, which know nothing of sys.stdout."""
    sys.stdout.flush()
    kept = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)
