r"""Second opinions on a trace: what tools in common use would have said.

    OPINIONS["math-verify"]({"answer": "7"}, "The answer is 7.")   # True
    OPINIONS["exact"]({"answer": "1/2"}, "So \\boxed{0.5}.")       # False

They exist to be disagreed with: `verify` writes the traces on which an opinion and our
verdict differ. None means no opinion: nothing was found, or no answer came in time.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cotdata import mathpool
from cotdata.answers import Located, locate
from cotdata.errors import InputError
from cotdata.references import read_reference, stated_reference
from cotdata.schema import Row

Opinion = Callable[[Row, str], bool | None]


def math_verify(problem: Row, trace: str) -> bool | None:
    """math-verify as it ships, on the whole trace, in a process that can be killed."""
    reference = f"$\\boxed{{{_gold(problem)}}}$"
    reply = mathpool.ask(reference, trace, kind="raw", limit_s=mathpool.RAW_LIMIT_S)
    return {"equal": True, "different": False}.get(reply.kind)


def exact(problem: Row, trace: str) -> bool | None:
    """The located answer and the reference, letter by letter."""
    found = locate(trace)
    return found.text == _gold(problem) if isinstance(found, Located) else None


def _gold(problem: Row) -> str:
    try:
        return read_reference(stated_reference(problem))
    except InputError:
        return ""


OPINIONS: Mapping[str, Opinion] = MappingProxyType({"math-verify": math_verify, "exact": exact})
