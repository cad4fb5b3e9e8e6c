"""``for i in range(n)`` in a compiled function, which a trace unrolls, becomes ``for i in tf.range(n)``.

A candidate: the source does not show that the loop's values are tensors of one shape."""

from __future__ import annotations

from functools import partial

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import walk

_LEAVES = (cst.Return, cst.Break, cst.Yield, cst.Await)


def loop_in_graph(case: Case) -> list[Edit]:
    """At the first place that is such a loop and is left only at its end."""
    for module, span in case.places():
        for loop in module.nodes:
            if not isinstance(loop, cst.For) or module.line(loop) != span.line or loop.orelse is not None:
                continue
            over = loop.iter
            if not isinstance(over, cst.Call) or not isinstance(over.func, cst.Name) or over.func.value != "range":
                raise NoFix("the loop is not over range")
            if any(isinstance(node, _LEAVES) for node in walk(loop.body)):
                raise NoFix("the loop is left before its end")
            case.assumed.append(
                f"the loop in line {span.line} works on tensors of one shape, also with a tensor's index"
            )
            name = module.spelled("tensorflow.range", loop)
            return [Edit(module.file, over, partial(_call, name))]
    raise NoFix("there is no loop at its places")


def _call(name: cst.BaseExpression, node: cst.Call) -> cst.Call:
    return node.with_changes(func=name)


FIXER = Fixer("loops in the graph instead of unrolling", loop_in_graph, keeps="mathematics")
