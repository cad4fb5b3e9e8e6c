"""A loop in the user's source: a ``for`` or ``while`` statement, or a comprehension."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfperfkit.syntax.loops import Span, expression_span
from tfperfkit.syntax.nodes import COMPREHENSIONS, LOOPS, find_nodes

LoopNode = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LOOP_NODES = (*LOOPS, *COMPREHENSIONS)
LoopHead = ast.For | ast.AsyncFor | ast.comprehension


@dataclass(frozen=True)
class Loop:
    """``over``: what it goes over, as it is written ("" for ``while``); ``names``: what it binds for each iteration.

    If a comprehension has several ``for``, both are those of the first.
    """

    line: int
    last: int
    over: str
    names: tuple[str, ...] = ()
    node: LoopNode | None = field(default=None, compare=False, repr=False)

    @property
    def lines(self) -> range:
        """From its head to its end."""
        return range(self.line, self.last + 1)

    @property
    def is_statement(self) -> bool:
        """Whether it is a ``for`` or ``while`` statement, not a comprehension."""
        return isinstance(self.node, LOOPS)

    @property
    def once(self) -> Span | None:
        """Where the expression stands that is evaluated once, before the first iteration; None for ``while``."""
        return expression_span(self.head.iter) if self.head is not None else None

    @property
    def head(self) -> LoopHead | None:
        """What binds a target for each iteration; None for ``while``."""
        if isinstance(self.node, COMPREHENSIONS):
            return self.node.generators[0]
        return self.node if isinstance(self.node, (ast.For, ast.AsyncFor)) else None

    @property
    def body(self) -> list[ast.AST]:
        """What an iteration evaluates: the statements of the loop, or the element of a comprehension."""
        if isinstance(self.node, ast.DictComp):
            return [self.node.key, self.node.value]
        if isinstance(self.node, COMPREHENSIONS):
            return [self.node.elt]
        return [*self.node.body] if self.node is not None else []


def make_loop(node: LoopNode) -> Loop:
    """Describe the loop that a node is."""
    last = node.end_lineno or node.lineno
    head = Loop(node.lineno, last, "", (), node).head
    if head is None:
        return Loop(node.lineno, last, "", (), node)
    names = tuple(item.id for item in find_nodes(head.target, ast.Name))
    return Loop(node.lineno, last, ast.unparse(head.iter), names, node)
