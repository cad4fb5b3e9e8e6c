"""How many iterations a While operation makes, if that follows from constants of the graph."""

from __future__ import annotations

from tfperfkit.graph import optable
from tfperfkit.graph.model import Graph, Node

#: A constant is looked for through so many operations.
_MAX_DEPTH = 16


def iterations_of(graph: Graph, node: Node) -> int | None:
    """Count the iterations of a counting loop, such as ``for i in tf.range(5)`` makes; None if they depend on data.

    Such a loop goes on while a counter is less than a limit, and adds a constant to it; or greater, and subtracts one.
    """
    functions = node.functions()
    condition, body = (graph.body(functions.get(attribute, [""])[0]) for attribute in ("cond", "body"))
    if condition is None or body is None or len(condition.record.results) != 1:
        return None
    goes_on = condition.made(condition.record.results[0])
    if goes_on is None or goes_on.type != "LogicalAnd":
        return _counted(graph, node, condition, body, goes_on)
    # tf.map_fn and tf.scan count twice: their own elements, and the most iterations that they allow.
    both = [_counted(graph, node, condition, body, condition.made(owner)) for owner, _ in goes_on.inputs]
    known = [times for times in both if times is not None]
    return min(known) if known and len(known) == len(both) else None


def _counted(graph: Graph, node: Node, condition: Graph, body: Graph, less: Node | None) -> int | None:
    compared = optable.row(less.type).computes if less is not None else ""
    if less is None or compared not in ("lt", "le", "gt", "ge") or len(less.inputs) != 2:
        return None
    # The direction of the counter, and how far beyond the limit it ends.
    up = 1 if compared in ("lt", "le") else -1
    beyond = up if compared in ("le", "ge") else 0
    counter, limit = (_slot(condition, owner) for owner, _ in less.inputs)
    known = min(len(node.inputs), len(body.record.results))
    if counter is None or counter >= known:
        return None
    if limit is None:
        end = _integer(condition, less.inputs[1][0], 0)
    else:
        kept = limit < known and _slot_of_result(body, limit) == limit
        end = _end(graph, *node.inputs[limit]) if kept else None
    start, step = _integer(graph, node.inputs[counter][0], 0), _step(graph, node, body, counter)
    if start is None or end is None or not step or (step > 0) != (up > 0):
        return None
    return max(0, -(up * (start - end - beyond) // abs(step)))


def _end(graph: Graph, name: str, output: int) -> int | None:
    """Return a limit that is known before the loop: the gradient of a loop goes as far as that one's counter went."""
    loop = graph.made(name)
    if loop is None or loop.type not in ("While", "StatelessWhile"):
        return _integer(graph, name, 0)
    body = graph.body(loop.functions().get("body", [""])[0])
    if body is None or output >= min(len(loop.inputs), len(body.record.results)):
        return None
    times, start, step = (
        iterations_of(graph, loop),
        _integer(graph, loop.inputs[output][0], 0),
        _step(graph, loop, body, output),
    )
    return None if times is None or start is None or step is None else start + times * step


def _slot(graph: Graph, name: str) -> int | None:
    node = graph.made(name)
    slots = graph.slots
    return slots.index(node.name) if node is not None and node.name in slots else None


def _slot_of_result(body: Graph, index: int) -> int | None:
    return _slot(body, body.record.results[index])


def _step(graph: Graph, node: Node, body: Graph, counter: int) -> int | None:
    """Return the number that the body adds to the counter: a constant of its own, or one that the loop was given and
    keeps.
    """
    add = body.made(body.record.results[counter])
    if add is None or add.type not in ("AddV2", "Add", "Sub") or len(add.inputs) != 2:
        return None
    if add.type == "Sub":
        less = _integer(body, add.inputs[1][0], 0) if _slot(body, add.inputs[0][0]) == counter else None
        return None if less is None else -less
    owners = [owner for owner, _ in add.inputs]
    others = [owner for owner in owners if _slot(body, owner) != counter]
    if len(others) != 1:
        return None
    given = _slot(body, others[0])
    if given is None:
        return _integer(body, others[0], 0)
    return _integer(graph, node.inputs[given][0], 0) if given < len(node.inputs) else None


def _integer(graph: Graph, name: str, depth: int) -> int | None:
    """Return the value of a scalar integer, if it follows from constants (AutoGraph counts a range so)."""
    node = graph.nodes.get(name)
    if node is None or depth > _MAX_DEPTH:
        return None
    if node.type == "Const":
        value = node.attr("value")
        if value is None or node.outputs[0].shape != ():
            return None
        tensor = value.tensor
        found = [*tensor.int_val, *tensor.int64_val, *tensor.bool_val]
        if found:
            return int(found[0])
        if tensor.content:
            return int.from_bytes(tensor.content, "little", signed=True)
        return 0  # protobuf leaves a zero out
    if node.type == "Max" and node.inputs and graph.type_of(*node.inputs[0]).shape == ():
        return _integer(graph, node.inputs[0][0], depth + 1)  # of one number, as Keras takes it of a length
    values = [_integer(graph, owner, depth + 1) for owner, _ in node.inputs]
    known = [value for value in values if value is not None]
    if not known or len(known) != len(values):
        return None
    made = optable.compute(node.type, *known)
    return None if made is None else int(made)
