"""``rows-in-place``: writes only the changed rows when a variable is assigned its own value with some rows changed,
instead of copying it."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.graph import optable
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams, zero_input

#: The variable's method that does in place what an operation does to a copy.
#: Prefixes: of an operation that makes a tensor with other rows, and of the matching method of a variable.
_MAKES, _WRITES = "TensorScatter", "scatter_nd_"
_READS = optable.names(trait="reads-variable") | {"VariableShape"}


class RowsInPlace(Base):
    """Does not apply to a queue that is made by joining: its remedy is a ring, which keeps rows in another order.

    In ``v.assign(tf.tensor_scatter_nd_update(v, ...))`` the scatter stays in the graph, and nothing needs it. The read
    of the variable would still copy it whole: TensorFlow keeps a read that has a reader, even one that nothing needs.
    So the scatter gets another input as the graph ends, if it has found no reader until then.
    """

    name = "rows-in-place"
    keeps = "results"
    remedies = (ReplaceOps("in_place"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change assignments in graphs, if the variable was read after its last change."""
        tensorflow = seams.tensorflow
        replaced: list[Any] = []
        seams.refuse("no compiled function assigned to a variable its own value with some rows changed")

        def assign(original: Any, variable: Any, value: Any, *arguments: Any, **named: Any) -> Any:
            scatter = None if tensorflow.executing_eagerly() else _scatter_of(variable, value)
            if scatter is None:
                return original(variable, value, *arguments, **named)
            seams.applied()
            replaced.append(scatter)
            return getattr(variable, _WRITES + scatter.type.removeprefix(_MAKES).lower())(
                scatter.inputs[1], scatter.inputs[2]
            )

        def end(original: Any, manager: Any, *raised: Any) -> Any:
            graph = getattr(manager, "_graph", None)
            for scatter in [item for item in replaced if item.graph is graph]:
                replaced.remove(scatter)
                _drop_read(tensorflow, scatter)
            return original(manager, *raised)

        seams.replace("tensorflow.python.framework.auto_control_deps:AutomaticControlDependencies", "__exit__", end)
        kind = seams.find("tensorflow.python.ops.resource_variable_ops:ResourceVariable")
        seams.replace(next(base for base in kind.__mro__ if "assign" in vars(base)), "assign", assign)


def _scatter_of(variable: Any, value: Any) -> Any:
    """The operation that changed some rows of what the variable holds now; None if that is not certain."""
    made = _behind_identity(getattr(value, "op", None))
    if made is None or not made.type.startswith(_MAKES):
        return None
    read = _behind_identity(made.inputs[0].op)
    graph = read.graph
    if (
        read.type != "ReadVariableOp"
        or not hasattr(graph, "capture")
        or read.inputs[0] is not graph.capture(variable.handle)
    ):
        return None
    later, seen = [], False
    for operation in graph.get_operations():
        if seen and any(item is read.inputs[0] for item in operation.inputs):
            later.append(operation.type)
        seen = seen or operation is read
    return made if _READS.issuperset(later) else None


def _drop_read(tensorflow: Any, scatter: Any) -> None:
    """Leave the read that this operation begins with without a reader, unless the operation itself has one."""
    value = scatter.inputs[0]
    if value.shape.is_fully_defined() and not any(output.consumers() for output in scatter.outputs):
        zero_input(tensorflow, scatter)


def _behind_identity(operation: Any) -> Any:
    """The operation before identities; each read of a variable has one."""
    while operation is not None and operation.type == "Identity":
        operation = operation.inputs[0].op
    return operation
