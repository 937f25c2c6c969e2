"""A test split in two: questions for the sandbox, and a check that stays outside.

    test = read_test("assert add(1, 2) == 3")
    test.steps             # (("ask", ("add(1, 2)",)),)
    test.holds([[3]])      # True

Only the parts that need the program are asked; literals, comparisons, `not`,
arithmetic and `math.isclose` around them are worked out here. A test whose
outcome the program itself could fake (no literal to compare with, a loop of
assertions) is `in_process`.
"""

import ast
import builtins
import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cotdata.programs import parsed
from cotdata.sandbox.arithmetic import FUNCTIONS, Answer, dotted, evaluate, is_closed
from cotdata.sandbox.worker import Step

JudgePlace = Literal["outside", "in_process"]

TRANSPARENT_CALLS = ("abs", "round", "math.isclose", "isclose")
TRANSPARENT_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@dataclass(frozen=True, kw_only=True, slots=True)
class TestPlan:
    """`checks[i]` goes with the i-th asking step; no check at all is a dead test."""

    steps: tuple[Step, ...]
    checks: tuple[ast.expr, ...]
    judge: JudgePlace
    dead: bool

    def holds(self, values: Sequence[Any]) -> bool:
        """Whether every check is true of the values, in the order asked."""
        try:
            return all(evaluate(check, values) for check in self.checks)
        except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError):
            return False


class _Splitter:
    """Replaces what needs the program by Answer places, numbered over one test.

    Built-in functions of `trusted` names are worked out here, all others asked for.
    """

    def __init__(self, trusted: Collection[str]) -> None:
        self.trusted = trusted
        self.asked: list[str] = []
        self.judge: JudgePlace = "outside"

    def truth(self, node: ast.expr) -> ast.expr:
        """A node that is only asked whether it is true."""
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self.truth(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, self.truth(node.operand))
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            # Truth of a display is its length: assert (f(x) == 1, "message").
            return ast.Constant(bool(ast.unparse(node)[1:-1].strip()))
        if not isinstance(node, ast.Compare) and not self._is_simple(node):
            self.judge = "in_process"
        return self.value(node)

    def value(self, node: ast.expr) -> ast.expr:
        if is_closed(node, self.trusted):
            return node
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Invert):
            return ast.UnaryOp(node.op, self.value(node.operand))
        if isinstance(node, ast.BinOp) and isinstance(node.op, TRANSPARENT_OPERATORS):
            return ast.BinOp(self.value(node.left), node.op, self.value(node.right))
        if isinstance(node, ast.Call) and self._is_transparent(node):
            given = [self.value(argument) for argument in node.args]
            named = [ast.keyword(k.arg, self.value(k.value)) for k in node.keywords]
            return ast.Call(node.func, given, named)
        self.asked.append(ast.unparse(node))
        return Answer(len(self.asked) - 1)

    def _comparison(self, node: ast.Compare) -> ast.expr:
        operands = [node.left, *node.comparators]
        if not any(is_closed(operand, self.trusted) for operand in operands):
            self.judge = "in_process"
        left, *others = [self.value(operand) for operand in operands]
        return ast.Compare(left, node.ops, others)

    def _is_simple(self, node: ast.expr) -> bool:
        """A plain call of the program: its own answer, true or false."""
        if is_closed(node, self.trusted) or self._is_transparent(node):
            return True
        name = node.func if isinstance(node, ast.Call) else None
        return isinstance(name, ast.Name) and not (self.trusted and hasattr(builtins, name.id))

    def _is_transparent(self, node: ast.expr) -> bool:
        called = dotted(node.func) if isinstance(node, ast.Call) else ""
        return called in TRANSPARENT_CALLS and called in self.trusted


@functools.lru_cache(maxsize=4096)
def _parsed(source: str) -> ast.Module:
    return parsed(source.strip())


def read_test(source: str) -> TestPlan:
    """The plan of one test's text; SyntaxError or ValueError where it has none."""
    plan = _read(source, FUNCTIONS)
    # A program may be asked for a function that is called like a built-in one.
    return _read(source, ()) if plan.dead else plan


def _read(source: str, trusted: Collection[str]) -> TestPlan:
    splitter = _Splitter(trusted)
    steps: list[Step] = []
    checks: list[ast.expr] = []
    dead = True
    for statement in _parsed(source).body:
        if isinstance(statement, ast.Assert):
            num_asked = len(splitter.asked)
            checks.append(splitter.truth(statement.test))
            steps.append(("ask", tuple(splitter.asked[num_asked:])))
            dead = dead and not steps[-1][1]
            continue
        steps.append(("do", ast.unparse(statement)))
        # A loop of assertions: the program runs it, and could answer for it.
        if any(isinstance(part, ast.Assert) for part in ast.walk(statement)):
            splitter.judge, dead = "in_process", False
    return TestPlan(steps=tuple(steps), checks=tuple(checks), judge=splitter.judge, dead=dead)


def program_call(source: str) -> tuple[str, int] | None:
    """The function a test is about, and how many arguments it is called with."""
    calls = [
        (node.func.id, len(node.args) + len(node.keywords))
        for node in ast.walk(_parsed(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    own = [call for call in calls if not hasattr(builtins, call[0]) and call[0] != "isclose"]
    return next(iter(own or calls), None)
