"""Find loops that take one gradient for each number of a tensor: together these are the tensor's jacobian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.loop import Loop
from tfperfkit_rules.measures.step_place import TAPE


class JacobianRows(NamedTuple):
    """``line``: takes a gradient in each iteration; ``tensor``: whose numbers; ``sources``: by what, as written."""

    line: int
    tape: str
    tensor: str
    sources: str


def find_jacobian_rows(evidence: Evidence, file: str, lines: range) -> JacobianRows | None:
    """Find the first such loop in these lines of a file; None without one."""
    syntax = evidence.syntax(file)
    if syntax is None:
        return None
    found = (row for loop in syntax.loops if loop.line in lines for row in _find_rows(loop))
    return next(found, None)


def _find_rows(loop: Loop) -> Iterator[JacobianRows]:
    """Find ``tape.gradient(y[i], x)`` in a loop, for a tape made before it and sources that stay the same."""
    entered = {name.text for _, name in loop.entered}
    for call in loop.calls:
        owner = call.receiver
        if call.method != "gradient" or len(call.arguments) < 2 or owner is None or owner.api != f"{TAPE}()":
            continue
        target, sources = call.arguments[:2]
        tensor = _find_tensor(target, loop)
        if tensor is not None and sources.names.isdisjoint(loop.targets) and owner.text not in entered:
            yield JacobianRows(call.line, owner.text, tensor.text, sources.text)


def _find_tensor(target: Expression, loop: Loop) -> Expression | None:
    """Find the tensor of which the target is one number, chosen by the iteration; None for losses of their own."""
    if target.index is not None:
        return target.owner if not target.index.names.isdisjoint(loop.targets) else None
    bound, over = loop.target, loop.iterable
    if bound is None or over is None or target.kind != "name" or target.text != bound.text:
        return None
    for made in over.assigned:
        if made.element is not None and made.element.index is not None:
            return made.element.owner
        if isinstance(made, Call) and made.name == "tensorflow.unstack" and made.arguments:
            return made.arguments[0]
    return None
