"""What can go wrong, said so that a user can go on.

    CotdataError            exit status 1
    ├── UsageError          2: the command line is wrong
    │   └── UnknownName     a task, engine or flaw that nobody registered
    ├── InputError          a row or file that cannot be read as asked
    ├── DatasetError        a dataset folder that cannot be used
    │   ├── DamagedDataset  its bytes differ from its manifest
    │   ├── NewerFormat     a later cotdata wrote it
    │   └── OutputExists    another run's result is in the way
    ├── MissingPackage      an extra is not installed
    ├── EngineError         a model or server is gone: no row is to blame
    ├── SandboxError        code cannot be isolated here
    ├── HubError            the Hub refused, and says why
    ├── GateFailed          3: what was checked is not fit to go on with
    └── PartialRun          4: some rows failed; the same command resumes

Every error says what, where and how to go on. Bugs of our own are not in this
tree: they keep their traceback.
"""

import difflib
from collections.abc import Iterable


class CotdataError(Exception):
    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.what}{advice}"


class UsageError(CotdataError):
    exit_code = 2


class UnknownName(UsageError):
    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        super().__init__(f"unknown {kind} {name!r}", hint=f"{guess}known: {', '.join(known)}")


class InputError(CotdataError):
    pass


class DatasetError(CotdataError):
    pass


class DamagedDataset(DatasetError):
    pass


class NewerFormat(DatasetError):
    pass


class OutputExists(DatasetError):
    pass


class MissingPackage(CotdataError):
    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"the package {package!r} is not installed",
            hint=f"install it with: pip install 'cotdata[{extra}]'",
        )


class EngineError(CotdataError):
    pass


class SandboxError(CotdataError):
    pass


class HubError(CotdataError):
    pass


class GateFailed(CotdataError):
    exit_code = 3


class PartialRun(CotdataError):
    exit_code = 4
