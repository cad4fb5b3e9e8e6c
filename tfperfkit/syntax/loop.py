"""A loop in the user's source: a ``for`` or ``while`` statement, or a comprehension."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfperfkit.syntax.expression import Code, Expression, File
from tfperfkit.syntax.loops import Span, contains_span, get_span
from tfperfkit.syntax.nodes import COMPREHENSIONS, LOOPS, find_nodes

LoopNode = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LOOP_NODES = (*LOOPS, *COMPREHENSIONS)


@dataclass(frozen=True)
class Loop(Code):
    """``over``: what it goes over, as it is written ("" for ``while``); ``targets``: the names that it binds for each
    iteration.

    If a comprehension has several ``for``, both are those of the first.
    """

    node: LoopNode = field(compare=False, repr=False)
    file: File = field(compare=False, repr=False)
    line: int
    last: int
    over: str
    targets: tuple[str, ...] = ()

    @property
    def lines(self) -> range:
        """From its head to its end."""
        return range(self.line, self.last + 1)

    @property
    def first_line(self) -> int:
        """Return the first line of the body that runs once in each iteration that gets there; 0 if there is none: a
        header of a loop runs more often, and a comprehension has one line for all."""
        body = self.node.body if isinstance(self.node, LOOPS) else []
        return next((item.lineno for item in body if not isinstance(item, LOOPS)), 0)

    @property
    def is_statement(self) -> bool:
        """Return whether it is a ``for`` or ``while`` statement, not a comprehension."""
        return isinstance(self.node, LOOPS)

    @property
    def once(self) -> Span | None:
        """Return the position of the expression that is evaluated once, before the first iteration; None for
        ``while``.
        """
        return self.iterable.span if self.iterable is not None else None

    @property
    def iterable(self) -> Expression | None:
        """Return the iterated expression; None for ``while``."""
        head = _find_head(self.node)
        return self.file.wrap(head.iter) if head is not None else None

    @property
    def iterables(self) -> list[Expression]:
        """List the iterated expressions; several if a comprehension has several ``for``, none for ``while``."""
        if isinstance(self.node, COMPREHENSIONS):
            return [over for _, over in self.file.wrap(self.node).generators]
        return [self.iterable] if self.iterable is not None else []

    @property
    def target(self) -> Expression | None:
        """Return the target that each iteration binds; None for ``while``."""
        head = _find_head(self.node)
        return self.file.wrap(head.target) if head is not None else None

    @property
    def test(self) -> Expression | None:
        """Return the condition of a ``while`` loop; None for other loops."""
        return self.file.wrap(self.node.test) if isinstance(self.node, ast.While) else None

    def evaluates(self, node: Expression) -> bool:
        """Tell whether each iteration evaluates an expression of the file: the expression is inside the loop, but not
        inside the iterated expression, which is evaluated once.
        """
        inside = contains_span(get_span(self.node), node.span)
        return inside and (self.once is None or not contains_span(self.once, node.span))

    @property
    def body_parts(self) -> list[Expression]:
        """Return the expressions that an iteration evaluates: those in the body, or in what a comprehension
        collects."""
        body: list[ast.AST] = [getattr(self.node, name) for name in ("key", "value", "elt") if hasattr(self.node, name)]
        body += getattr(self.node, "body", [])
        return [part for node in body for part in Code(node, self.file).parts]


def make_loop(file: File, node: LoopNode) -> Loop:
    """Describe the loop that a node is."""
    head = _find_head(node)
    last = node.end_lineno or node.lineno
    if head is None:
        return Loop(node, file, node.lineno, last, "")
    targets = tuple(item.id for item in find_nodes(head.target, ast.Name))
    return Loop(node, file, node.lineno, last, ast.unparse(head.iter), targets)


def _find_head(node: LoopNode) -> ast.For | ast.AsyncFor | ast.comprehension | None:
    if isinstance(node, COMPREHENSIONS):
        return node.generators[0]
    return node if isinstance(node, (ast.For, ast.AsyncFor)) else None
