"""A function in the user's source: where it stands, its parameters, what it returns."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfperfkit.syntax.nodes import find_own_nodes

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Function:
    """A function or a lambda (``<lambda>``). ``line``: of its ``def``; ``first``: of its first decorator; ``owner``:
    the class whose method it is, "" for none. Functions are equal if they stand in the same lines under one name."""

    name: str
    line: int
    first: int
    last: int
    node: Definition = field(compare=False, repr=False)
    owner: str = field(default="", compare=False)

    @property
    def lines(self) -> range:
        """From the ``def`` to the end; decorators are not part of it."""
        return range(self.line, self.last + 1)

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters that an argument without a keyword can be bound to, in their order."""
        return [item.arg for item in (*self.node.args.posonlyargs, *self.node.args.args)]

    @property
    def decorators(self) -> list[ast.expr]:
        """What decorates it; of ``@jit(static=1)`` the name ``jit``."""
        found = getattr(self.node, "decorator_list", ())
        return [item.func if isinstance(item, ast.Call) else item for item in found]

    @property
    def is_generator(self) -> bool:
        """Whether it yields, so that a call of it runs nothing yet."""
        return bool(find_own_nodes(self.node, ast.Yield, ast.YieldFrom))

    @property
    def returned(self) -> list[ast.expr | None]:
        """What each of its ``return`` statements returns, in the order of the source; None for a bare ``return``."""
        if isinstance(self.node, ast.Lambda):
            return [self.node.body]
        return [node.value for node in find_own_nodes(self.node, ast.Return)]


def make_function(node: Definition, owner: str = "") -> Function:
    """Describe the function that a node defines."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    return Function(getattr(node, "name", "<lambda>"), node.lineno, first, node.end_lineno or node.lineno, node, owner)
