"""What a call computes though it follows from arguments that are the same as in the calls before, or that only got
longer; and what each turn of a loop computes of what all turns are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain

from tfperfkit.graph.costs import cost, moved
from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.optable import is_heavy
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, WRITES, Visit, walk
from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers
from tfperfkit_probes.ops.waste.solves import DECOMPOSES, SOLVES, solving

#: ``IDLE``: as ``AGAIN``, with variables that may be trained elsewhere in the run, but not here; ``FIXED``: of no
#: argument, and ``FIXED_IDLE`` with such variables.
AGAIN, IDLE, GROWN, FIXED, FIXED_IDLE = "again", "again_idle", "grown", "fixed", "fixed_idle"
_BODIES = CALLS | LOOPS | BRANCHES
#: What takes no time of its own.
_FREE = frozenset({"Placeholder", "Const", "Identity", "IdentityN", "NoOp", "Shape", "Rank", "Size", "Reshape"})
_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")
_UNKNOWN_TURNS = 16


def again(view: View) -> Iterator[Wasted]:
    """Work that follows from arguments which stay the same, and from what never changes."""
    arguments = frozenset(view.given.same)
    if arguments:
        surely = _slice(view, arguments, view.stays)
        if _is_worth(view, surely):
            yield _wasted(view, AGAIN, surely, arguments)
        here = _slice(view, arguments, view.idle)
        if len(here) > len(surely) and _is_worth(view, here):
            yield _wasted(view, IDLE, here, arguments)


def never_changing(view: View) -> Iterator[Wasted]:
    """Work of a call that follows from captured tensors and variables which nothing changes: products and the like, and
    what goes through much memory, as normalising all rows of a table does."""
    written = {view.owner(node.inputs[0][0]) for node in view.nodes.values() if _writes(node)}
    for kind, stays in ((FIXED, view.stays), (FIXED_IDLE, view.idle - written)):
        found = _slice(view, stays, stays) if stays and not view.in_loop else []
        if _computes(found) or _moves_much(view, found):
            yield _wasted(view, kind, found, stays)


def _computes(found: list[Node]) -> bool:
    """Whether there is a product or the like; decompositions are recognised by ``solves``."""
    return any(is_heavy(node.type) and node.type not in SOLVES | DECOMPOSES for node in found)


def _moves_much(view: View, found: list[Node]) -> bool:
    """Reading a variable moves nothing; decompositions are recognised by ``solves``."""
    moving = (node for node in found if node.type not in SOLVES | DECOMPOSES and node.type not in _READS)
    return sum(moved(view.graph, node, view.open_size) for node in moving) >= numbers.FIXED_BYTES.value


def _writes(node: Node) -> bool:
    return node.type in WRITES and bool(node.inputs)


def grown(view: View) -> Iterator[Wasted]:
    """Work on all of an argument that is the one of the call before with something behind it."""
    for name in sorted(view.given.grown):
        argument = frozenset({name})
        found = [node for node in _slice(view, argument, view.idle) if _is_along(view, node, name)]
        if found:
            yield _wasted(view, GROWN, found, argument)


def _slice(view: View, arguments: frozenset[str], stays: frozenset[str]) -> list[Node]:
    """The operations that follow from these arguments, and for the rest from what stays; in order."""
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


def _is_worth(view: View, found: list[Node]) -> bool:
    """A loop has much that is the same in all turns and costs next to nothing: there it takes a product or the like,
    also a solution of which both sides stay."""
    if view.given.calls:
        return bool(found)
    return _computes(found) or any(node.type in SOLVES for node in found)


def _is_along(view: View, node: Node, name: str) -> bool:
    """Whether an operation works along the axis that gets longer, rather than on what was picked from it: it has as
    many open dimensions as the argument."""
    whole = sum(size < 0 for size in view.graph.type_of(name).shape or ())
    if node.type in _BODIES:
        return True
    shapes = [made.shape for made in node.outputs]
    return any(shape is None or sum(size < 0 for size in shape) >= whole for shape in shapes)


def _wasted(view: View, kind: str, found: list[Node], arguments: frozenset[str]) -> Wasted:
    used = _used(view, found, arguments)
    times = min((view.given.same[name] for name in used if name in view.given.same), default=0.0)
    left = numbers.GROWN_LEFT.value if kind == GROWN else 0.0 if kind in (FIXED, FIXED_IDLE) else 1 / times
    inside = _inside(view, found)
    flops = {node.name: _flops(view, inside.get(node.name, ())) for node in found}
    solved = {node.name: solving(view, node) for node in found if node.type in SOLVES}
    weights = {name: each + solved.get(name, 0.0) for name, each in flops.items()}
    if kind in (FIXED, FIXED_IDLE):
        where = _common(view, found, weights)
    elif view.given.calls:
        where = _where(view, found, weights)
    else:
        where = _common(view, found, weights, Flow(view).same_names(arguments | view.stays))
    return Wasted(
        kind=kind,
        where=where,
        operations=[node.name for node in found],
        takes_flops=sum(flops.values()),
        takes_bytes=sum(
            _times(visit) * moved(visit.graph, visit.node, view.open_size) for visit in chain(*inside.values())
        ),
        uncounted_flops=sum(solved.values()),
        left=left,
        figures={"calls": float(view.given.calls), "times": times, "loop": float(not view.given.calls)},
        names=used,
    )


def _used(view: View, found: list[Node], arguments: frozenset[str]) -> list[str]:
    """Those of the arguments that the operations take, directly or not, in their order."""
    pending = [owner for node in found for owner, _ in node.inputs]
    seen = set(pending)
    while pending:
        node = view.nodes.get(pending.pop())
        new = {owner for owner, _ in node.inputs} - seen if node is not None else set()
        seen |= new
        pending += new
    record = view.graph.record
    return [name for name in (*record.arguments, *record.captures) if name in arguments and name in seen]


def _inside(view: View, found: list[Node]) -> dict[str, list[Visit]]:
    """What the bodies execute that these operations call."""
    calling = {f"{node.name}/": node.name for node in found if node.type in _BODIES}
    inside: dict[str, list[Visit]] = {}
    if calling:
        for visit in walk(view.graph, view.open_size):
            name = next((name for path, name in calling.items() if visit.path.startswith(path)), None)
            if name is not None:
                inside.setdefault(name, []).append(visit)
    return inside


def _flops(view: View, visits: list[Visit] | tuple[()]) -> float:
    return sum(_times(visit) * (cost(visit.graph, visit.node, view.open_size) or 0.0) for visit in visits)


def _times(visit: Visit) -> float:
    return visit.times if visit.exact else visit.times * _UNKNOWN_TURNS


def _common(
    view: View, found: list[Node], inner: Mapping[str, float], same: Set[str] | None = None
) -> SourceSpan | None:
    """The innermost line that nearly all of it is below. With ``same``, of each operation whether it stays: no further
    in than the line that calls a function of which all stays, for that call is what can be made once."""
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
        if largest is None or held[largest] < numbers.AT_A_LINE.value * sum(weights.values()):
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


def _aligned(nodes: list[Node]) -> dict[str, Sequence[tuple[str, int, str]]]:
    """The stacks of operations, each from an outermost frame that the deepest have: of those the outer ones are not
    kept, and two stacks of one call would begin at different frames."""
    longest = max((len(node.stack) for node in nodes), default=0)
    outer = {node.stack[-1] for node in nodes if len(node.stack) == longest}
    found: dict[str, Sequence[tuple[str, int, str]]] = {}
    for node in nodes:
        at = next((index for index, frame in enumerate(node.stack) if frame in outer), len(node.stack) - 1)
        found[node.name] = node.stack[: at + 1]
    return found


def _where(view: View, found: list[Node], inner: dict[str, float]) -> SourceSpan | None:
    """The line of the function itself on which most of it is computed: the outermost that not all of its operations
    come from."""
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
