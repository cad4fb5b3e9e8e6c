"""``v.assign(tf.tensor_scatter_nd_update(v, ...))`` in graphs: the scatter stays in there, and nothing asks for it.

Nor for the read of the variable, which would copy it whole: TensorFlow keeps a read that has a reader, though nothing
asks for that one. So the scatter is given another input as the graph ends, where it has found no reader until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.op_inputs import zero_input
from tfperfkit.instruments.changes.replaced import attribute, module, seams

#: The operation that makes the value, and the variable's method that does the same in place.
_IN_PLACE = {
    "TensorScatterUpdate": "scatter_nd_update",
    "TensorScatterAdd": "scatter_nd_add",
    "TensorScatterSub": "scatter_nd_sub",
    "TensorScatterMax": "scatter_nd_max",
    "TensorScatterMin": "scatter_nd_min",
}
_READS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"})


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Where the variable was read after its last change."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("no compiled function assigned to a variable its own value with some rows changed")

    def assigning(original: Callable[..., Any]) -> Callable[..., Any]:
        def assign(variable: Any, value: Any, *arguments: Any, **named: Any) -> Any:
            scatter = None if tensorflow.executing_eagerly() else _scatter_of(variable, value)
            if scatter is None:
                return original(variable, value, *arguments, **named)
            trial.applied()
            replaced.append(scatter)
            return getattr(variable, _IN_PLACE[scatter.type])(scatter.inputs[1], scatter.inputs[2])

        return assign

    replaced: list[Any] = []

    def ending(original: Callable[..., Any]) -> Callable[..., Any]:
        def end(manager: Any, *raised: Any) -> Any:
            graph = getattr(manager, "_graph", None)
            for scatter in [item for item in replaced if item.graph is graph]:
                replaced.remove(scatter)
                _without_its_read(tensorflow, scatter)
            return original(manager, *raised)

        return end

    with seams() as made:
        made.replace(
            attribute("tensorflow.python.framework.auto_control_deps", "AutomaticControlDependencies"),
            "__exit__",
            ending,
        )
        kind = attribute("tensorflow.python.ops.resource_variable_ops", "ResourceVariable")
        made.replace(next(base for base in kind.__mro__ if "assign" in vars(base)), "assign", assigning)
        yield


def _scatter_of(variable: Any, value: Any) -> Any:
    """The operation that changed some rows of what the variable holds now; None where that can't be said."""
    made = _through(getattr(value, "op", None))
    if made is None or made.type not in _IN_PLACE:
        return None
    read = _through(made.inputs[0].op)
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


def _without_its_read(tensorflow: Any, scatter: Any) -> None:
    """No reader is left to the read that this operation begins with; nothing where the operation itself has one."""
    value = scatter.inputs[0]
    if value.shape.is_fully_defined() and not any(output.consumers() for output in scatter.outputs):
        zero_input(tensorflow, scatter)


def _through(operation: Any) -> Any:
    """What stands behind an identity, such as each read of a variable has."""
    while operation is not None and operation.type == "Identity":
        operation = operation.inputs[0].op
    return operation
