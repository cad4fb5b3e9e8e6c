"""Work of a graph that follows from what stays the same: its operations, what they take, and its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import Any, ClassVar

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.costs import cost, moved
from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.recorded import UNKNOWN_ITERATIONS
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, Visit, walk
from tfperfkit.model import SourceSpan
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.factorising import SOLVES, solving

AT_A_LINE = Threshold(
    0.9,
    "share",
    "minimum share of the reported arithmetic below a line, for that line to be its place",
    Chosen("nearly all"),
)
_BODIES = CALLS | LOOPS | BRANCHES
#: Takes no time of its own.
_FREE = optable.names(kind=("placeholder", "constant", "pass", "noop", "shape", "reshape"))


class SameWork(Cause, frozen=True, kw_only=True):
    """Work that a call, or an iteration, does again. ``names``: of the arguments that it follows from."""

    with_bodies: ClassVar[bool] = True

    names: list[str]


def work_of(view: View, arguments: frozenset[str], stays: frozenset[str]) -> list[Node]:
    """The operations, in order, that follow from these arguments, and for the rest from what stays."""
    same = Flow(view).same_names(arguments | stays)
    follows = set(arguments)
    found = []
    for node in view.nodes.values():
        if node.name not in same or node.type == "Placeholder" or node.backward:
            continue
        if any(owner in follows for owner, _ in node.inputs):
            follows.add(node.name)
            # To read a variable copies nothing: a loop has to, for what it computes of it and of more.
            if node.type not in _FREE and not (view.in_loop and node.type == "ReadVariableOp"):
                found.append(node)
    return found


def measured(view: View, found: list[Node]) -> tuple[dict[str, float], dict[str, Any]]:
    """The FLOPs of each operation in the bodies that it calls, with those of solving; and the fields of a ``Cause``
    that say what the operations take."""
    inside = _inside(view, found)
    flops = {node.name: _flops(view, inside.get(node.name, ())) for node in found}
    solved = {node.name: solving(view, node) for node in found if node.type in SOLVES}
    visits = chain(*inside.values())
    return {name: each + solved.get(name, 0.0) for name, each in flops.items()}, {
        "operations": [node.name for node in found],
        "takes_flops": sum(flops.values()),
        "takes_bytes": sum(_times(visit) * moved(visit.graph, visit.node, view.open_size) for visit in visits),
        "uncounted_flops": sum(solved.values()),
    }


def is_along(view: View, node: Node, name: str) -> bool:
    """Whether an operation works along the axis of an argument that gets longer, and not on what was picked from it: it
    has as many open dimensions as the argument."""
    whole = sum(size < 0 for size in view.graph.type_of(name).shape or ())
    if node.type in _BODIES:
        return True
    shapes = [made.shape for made in node.outputs]
    return any(shape is None or sum(size < 0 for size in shape) >= whole for shape in shapes)


def used_arguments(view: View, found: list[Node], arguments: frozenset[str]) -> list[str]:
    """The arguments that the operations take, directly or not, in their order."""
    pending = [owner for node in found for owner, _ in node.inputs]
    seen = set(pending)
    while pending:
        node = view.nodes.get(pending.pop())
        new = {owner for owner, _ in node.inputs} - seen if node is not None else set()
        seen |= new
        pending += new
    record = view.graph.record
    return [name for name in (*record.arguments, *record.captures) if name in arguments and name in seen]


def common_line(
    view: View, found: list[Node], inner: Mapping[str, float], same: Set[str] | None = None
) -> SourceSpan | None:
    """The innermost line that nearly all of it is below.

    ``same``: the operations that stay. With them no further in than the line that calls a function of which all stays,
    for that call is what can be made once.
    """
    weights = {node.name: (cost(view.graph, node, view.open_size) or 0.0) + inner.get(node.name, 0.0) for node in found}
    below = [node for node in found if node.stack]
    every = [node for node in view.forward if node.stack and node.type not in _FREE] if same is not None else []
    stacks = _aligned([*below, *every])
    place = None
    for depth in range(max((len(stacks[node.name]) for node in below), default=0)):
        held: dict[tuple[str, int, str], float] = {}
        for node in below:
            if len(stacks[node.name]) > depth:
                at = stacks[node.name][-1 - depth]
                held[at] = held.get(at, 0.0) + weights[node.name]
        largest = max(held, key=lambda at: held[at], default=None)
        if largest is None or held[largest] < AT_A_LINE.value * sum(weights.values()):
            break
        place = SourceSpan(*largest)
        below, every = (
            [node for node in nodes if len(stacks[node.name]) > depth and stacks[node.name][-1 - depth] == largest]
            for nodes in (below, every)
        )
        called = [node for node in every if len(stacks[node.name]) > depth + 1]
        if same is not None and called and all(node.name in same for node in called):
            break
    return place


def line_of_most(view: View, found: list[Node], inner: dict[str, float]) -> SourceSpan | None:
    """The line of the function itself on which most is computed: the outermost that not all operations come from."""
    stacks = [node.stack for node in view.nodes.values() if node.stack and node.type not in _FREE]
    common = 0
    while stacks and all(len(stack) > common + 1 for stack in stacks):
        if len({stack[-1 - common] for stack in stacks}) > 1:
            break
        common += 1
    weights: dict[SourceSpan, float] = {}
    for node in found:
        if node.stack:
            place = SourceSpan(*node.stack[len(node.stack) - 1 - common])
            flops = (cost(view.graph, node, view.open_size) or 0.0) + inner.get(node.name, 0.0)
            weights[place] = weights.get(place, 0.0) + flops + 1.0
    return max(weights, key=lambda place: weights[place], default=None)


def _inside(view: View, found: list[Node]) -> dict[str, list[Visit]]:
    """Return the work of the bodies that these operations call, by the name of the operation."""
    calling = {f"{node.name}/": node.name for node in found if node.type in _BODIES}
    inside: dict[str, list[Visit]] = {}
    if calling:
        for visit in walk(view.graph, view.open_size):
            name = next((name for path, name in calling.items() if visit.path.startswith(path)), None)
            if name is not None:
                inside.setdefault(name, []).append(visit)
    return inside


def _flops(view: View, visits: Sequence[Visit]) -> float:
    return sum(_times(visit) * (cost(visit.graph, visit.node, view.open_size) or 0.0) for visit in visits)


def _times(visit: Visit) -> float:
    return visit.times if visit.exact else visit.times * UNKNOWN_ITERATIONS


def _aligned(nodes: list[Node]) -> dict[str, Sequence[tuple[str, int, str]]]:
    """The stacks of operations, each from an outermost frame that the deepest stacks have. Outer frames of deep stacks
    are not recorded, so two stacks of one call may begin at different frames."""
    longest = max((len(node.stack) for node in nodes), default=0)
    outer = {node.stack[-1] for node in nodes if len(node.stack) == longest}
    found: dict[str, Sequence[tuple[str, int, str]]] = {}
    for node in nodes:
        at = next((index for index, frame in enumerate(node.stack) if frame in outer), len(node.stack) - 1)
        found[node.name] = node.stack[: at + 1]
    return found
