"""The data that a graph's replicas send each other: its collective operations, and tables whose rows it looks up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tfperfkit.graph import optable
from tfperfkit.graph.costs import filled
from tfperfkit.graph.model import Graph, Node, parse_type
from tfperfkit.graph.walk import walk
from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.model import Exchanged, Table
from tfperfkit_probes.ops.stored import VariableRecord

#: Beginnings of the types that add up among replicas, and of those that give each what all have.
REDUCES = ("CollectiveReduce", "NcclAllReduce")
GATHERS = ("CollectiveGather",)
_LOOKUPS = ("GatherV2", "ResourceGather")
#: Other readers of a table that leave the gradient sparse: they pass the table on, or ask for its size.
_READS = optable.names(kind=("read", "pass", "shape", "variable-shape", "variable-gather")) | set(_LOOKUPS)
#: Operations that make looked-up rows as large as the table again.
_MADE_DENSE = "UnsortedSegmentSum"
_MAX = 64


def exchanged(graph: Graph, open_size: int | None) -> list[Exchanged]:
    """The collective operations of a call, by type, number format and line, the most first; of branches the costliest
    one's."""
    rows: dict[tuple[str, str, SourceSpan | None], list[tuple[str, float | None, float]]] = defaultdict(list)
    rounds: dict[tuple[str, str, SourceSpan | None], set[tuple[str, int]]] = defaultdict(set)
    levels: dict[str, dict[str, int]] = {}
    group = None
    for visit in walk(graph, open_size):
        node = visit.node
        if not visit.times or not node.type.startswith((*REDUCES, *GATHERS)):
            continue
        types = visit.graph.input_types(node)
        size = filled(types[0], open_size).bytes if types else None
        key = (node.type, types[0].dtype if types else "", node.place)
        rows[key].append((_device(node), size, visit.times))
        if visit.graph.name not in levels:
            levels[visit.graph.name] = _levels(visit.graph)
        rounds[key].add((visit.path, levels[visit.graph.name][node.name]))
        group = _group(visit.graph, node) or group
    made = []
    for key, each in rows.items():
        kind, dtype, where = key
        devices = len({device for device, _, _ in each})
        known = all(size is not None for _, size, _ in each)
        made.append(
            Exchanged(
                type=kind,
                dtype=dtype,
                rounds=len(rounds[key]),
                ops=sum(times for _, _, times in each) / devices,
                bytes=sum((size or 0) * times for _, size, times in each) / devices if known else None,
                devices=devices,
                replicas=max(group or 0, devices),
                where=where,
            )
        )
    return sorted(made, key=lambda row: -row.ops)[:_MAX]


def _levels(graph: Graph) -> dict[str, int]:
    """By operation: how many collective ones follow from one another up to it, itself included. Nodes stand after
    their inputs, but for the edges that close a loop. Order that TensorFlow sets between them does not count."""
    levels: dict[str, int] = {}
    for node in graph.nodes.values():
        before = max((levels.get(name, 0) for name, _ in node.inputs), default=0)
        levels[node.name] = before + node.type.startswith((*REDUCES, *GATHERS))
    return levels


def tables(graph: Graph, open_size: int | None, variables: Sequence[VariableRecord]) -> list[Table]:
    """The trained tables whose rows a call looks up, as one replica does; only those that nothing else reads, for then
    their gradient is of single rows. Sizes must be known."""
    nodes = graph.nodes
    shapes = {parse_type(each.type).shape for each in variables if each.trainable}
    looked: dict[str, list[Node]] = defaultdict(list)
    other: set[str] = set()
    for node in nodes.values():
        for number, (name, _) in enumerate(node.inputs):
            root = _root(graph, name)
            if root is None:
                continue
            if node.type in _LOOKUPS and number == 0 and not node.backward:
                looked[root].append(node)
            elif node.type not in _READS and not _updates(node) and not node.backward:
                other.add(root)
    found: dict[tuple[int, int, SourceSpan | None], Table] = {}
    for root, lookups in looked.items():
        kept = _table(graph, lookups, shapes, open_size) if root not in other else None
        if kept is not None:
            found[kept.rows, kept.width, kept.where] = kept  # that of another replica is the same
    dense = next((n.place for n in nodes.values() if n.type == _MADE_DENSE and n.place and not _updates(n)), None)
    return [
        Table(rows=t.rows, width=t.width, number_bytes=t.number_bytes, taken=t.taken, where=t.where, made_dense=dense)
        for t in found.values()
    ]


def _table(
    graph: Graph, lookups: Sequence[Node], shapes: set[tuple[int, ...] | None], open_size: int | None
) -> Table | None:
    taken = 0
    shape: tuple[int, ...] | None = None
    number_bytes = 0
    for node in lookups:
        types = graph.input_types(node)
        indices = filled(types[1], open_size).elements if len(types) > 1 else None
        made = node.outputs[0] if node.outputs else None
        if indices is None or made is None or not made.shape or not made.dtype.startswith(("float", "bfloat")):
            return None
        taken += indices
        shape = types[0].shape if node.type == "GatherV2" else _of_width(shapes, made.shape[-1])
        number_bytes = (made.bytes or 0) // made.elements if made.elements else 4
    if shape is None or len(shape) != 2 or min(shape) <= 0 or shape not in shapes:
        return None
    return Table(rows=shape[0], width=shape[1], number_bytes=number_bytes, taken=taken, where=lookups[0].place)


def _of_width(shapes: set[tuple[int, ...] | None], width: int) -> tuple[int, ...] | None:
    fitting = [shape for shape in shapes if shape and len(shape) == 2 and shape[1] == width]
    return fitting[0] if len(fitting) == 1 else None


def _root(graph: Graph, name: str) -> str | None:
    """The placeholder of the variable that a value was read from."""
    for _ in range(8):
        node = graph.nodes.get(name)
        if node is None:
            return None
        if node.type == "Placeholder":
            return name if node.outputs and node.outputs[0].dtype == "resource" else None
        if node.type not in ("ReadVariableOp", "Identity") or not node.inputs:
            return None
        name = node.inputs[0][0]
    return None


def _updates(node: Node) -> bool:
    """Whether an operation is one of an optimizer's update: it writes a variable, or is in the update's scope."""
    return node.type.startswith(("Assign", "ResourceScatter", "ResourceApply", "ResourceSparse")) or (
        "/update" in f"/{node.name}"
    )


def _device(node: Node) -> str:
    return node.device.rpartition("device:")[2]


def _group(graph: Graph, node: Node) -> int | None:
    """How many take part, where the graph has the number as a constant."""
    owner = graph.nodes.get(node.inputs[1][0]) if len(node.inputs) > 1 else None
    value = owner.attr("value") if owner is not None and owner.type == "Const" else None
    numbers = list(value.tensor.int_val) if value is not None else []
    return int(numbers[0]) if len(numbers) == 1 else None
