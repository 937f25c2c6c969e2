"""One job, inside the sandbox's child: load the program, answer the questions.

    answer({"code": "def f(x): return 2 * x", "setup": "", "tests": [[["ask", ["f(1)"]]]]}, 3)

writes one JSON line for loading and one per test to the pipe. The expected
values are not here, so there is nothing to read and nothing to forge. A program
may replace every built-in: whatever this file uses is bound when it is imported.
"""

import json
import os
import sys
import types
from typing import Any

from cotdata.sandbox.values import TooLarge, encode

Reply = list[Any]

_compile, _exec, _eval, _isinstance, _getattr = compile, exec, eval, isinstance, getattr
_dumps, _write, _encode = json.dumps, os.write, encode
_Base, _Memory, _OS, _Exit, _Syntax = BaseException, MemoryError, OSError, SystemExit, SyntaxError
_Recursion, _Value, _TooLarge, _System = RecursionError, ValueError, TooLarge, SystemError

OUT_OF_MEMORY: Reply = ["out_of_memory"]
RAISED: Reply = ["raised"]

Namespace = dict[str, Any]


def answer(job: dict[str, Any], pipe: int) -> None:
    # A real module, since dataclasses and pickle look their module up.
    module = types.ModuleType("candidate")
    sys.modules["candidate"] = module
    loaded = _load(job["code"], job["setup"], module.__dict__)
    _send(pipe, loaded)
    if loaded == ["loaded"]:
        for steps in job["tests"]:
            reply = _test(steps, module.__dict__)
            _send(pipe, reply)
            # An interpreter that once found no memory is not to be believed again.
            if reply == OUT_OF_MEMORY:
                break
    _send(pipe, ["end"])


def _load(code: str, setup: str, names: Namespace) -> Reply:
    """Setup comes first; where it needs the program's own names, after it."""
    setup_failure = _run(setup, names)
    try:
        program = _compile(code, "candidate", "exec", dont_inherit=True)
    except (_Syntax, _Value, _Recursion):
        return ["unreadable"]
    failure = _run(program, names)
    if failure:
        return failure
    if setup_failure and _run(setup, names):
        return ["setup_failed"]
    return ["loaded"]


def _run(code: Any, names: Namespace) -> Reply | None:
    try:
        _exec(code, names)
    except _Base as error:
        return _raised(error)
    return None


def _test(steps: list[Any], names: Namespace) -> Reply:
    """A step does something or asks for values; the test ends at what raises."""
    values: list[str] = []
    try:
        for verb, content in steps:
            if verb == "do":
                _exec(content, names)
            else:
                for expression in content:
                    values.append(_encode(_eval(expression, names)))
    except _TooLarge:
        return RAISED
    except _Base as error:
        return _raised(error)
    return ["values", values]


def _raised(error: BaseException) -> Reply:
    # Python 3.11 reports some frames that find no memory as a SystemError.
    if _isinstance(error, (_Memory, _System)):
        return OUT_OF_MEMORY
    if _isinstance(error, _Exit):
        return ["exits"]
    # An error number comes from the system: the program asked for a file, a
    # process or a connection, and what it would have done with one is unknown.
    if _isinstance(error, _OS) and _getattr(error, "errno", None) is not None:
        return ["needs_system"]
    return RAISED


def _send(pipe: int, reply: Reply) -> None:
    rest = (_dumps(reply) + "\n").encode()
    while rest:
        rest = rest[_write(pipe, rest) :]
