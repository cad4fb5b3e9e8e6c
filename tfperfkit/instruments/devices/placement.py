"""Where TensorFlow placed the operations of a concrete function, against what was asked; and the copies in between.

Read from the graphs of its first execution: the one before optimisation tells what was asked for, the partitions,
one for each device, what runs where. Operations of inlined bodies carry the path of calls in their names.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tfperfkit.instruments.devices import why
from tfperfkit.instruments.devices.copies import copies_of, exchanges_of
from tfperfkit.instruments.devices.runtime import short
from tfperfkit.instruments.devices.source import SourceIndex, merged, satisfies
from tfperfkit.records.placement import Copy, Fallback, Placement, VariableHome

#: What the runtime puts in by itself: ends of copies, inputs and results of the function.
PLUMBING = frozenset({"_Send", "_Recv", "_HostSend", "_HostRecv", "_Arg", "_DeviceArg", "_Retval", "_DeviceRetval"})
_MAX_FALLBACKS = 200


def placement_of(concrete: Any, graphs: Any, arguments: tuple[Any, ...], devices: frozenset[str]) -> Placement:
    """``graphs`` is the entry that ``graphs.FirstRun`` brings; ``devices`` are the logical devices' short names."""
    before = graphs.pre_optimization_graph
    partitions = list(graphs.partition_graphs) or [graphs.post_optimization_graph]
    several = len(partitions) > 1
    scoped = _scoped(before)
    source = SourceIndex(concrete, before) if several or scoped else None
    ops: dict[str, Counter[str]] = {}
    asked: Counter[str] = Counter()
    fallbacks: Counter[tuple[Any, ...]] = Counter()
    names: dict[str, str] = {}
    replicas = False
    for partition in partitions:
        for node in partition.node:
            kind = node.op
            if kind in PLUMBING:
                continue
            long = node.device
            device = names.get(long)
            if device is None:
                device = names[long] = short(long)
                ops.setdefault(device, Counter())
            ops[device][kind] += 1
            if source is None:
                continue
            replicas = replicas or "replica_1" in node.name
            wanted = source.requested(node.name) if scoped else ""
            if wanted and satisfies(device, wanted):
                asked[device] += 1
            elif wanted and len(fallbacks) < _MAX_FALLBACKS:
                fallbacks[_fallback(source, node, wanted, device, devices)] += 1
    copies: list[Copy] = []
    if several and source is not None:
        copies = [*copies_of(partitions, source, arguments), *exchanges_of(partitions, source, arguments)]
    return Placement(
        ops={device: dict(counter) for device, counter in ops.items()},
        asked=dict(asked),
        fallbacks=[
            Fallback(op=o, dtype=t, requested=r, assigned=a, kind=k, reason=why, count=count, where=where)
            for (o, t, r, a, k, why, where), count in fallbacks.items()
        ],
        copies=copies,
        variables=_variables(concrete),
        replicas=replicas,
    )


def variables_only(concrete: Any) -> Placement:
    """What is known of a function without graphs: XLA compiles it whole."""
    return Placement(ops={}, asked={}, fallbacks=[], copies=[], variables=_variables(concrete), replicas=False)


def _scoped(before: Any) -> bool:
    """Whether any operation was built with a device asked for (constants of eager tensors always carry one)."""
    if any(node.device and node.op != "_EagerConst" for node in before.node):
        return True
    return any(node.device for function in before.library.function for node in function.node_def)


def _fallback(source: SourceIndex, node: Any, wanted: str, device: str, devices: frozenset[str]) -> tuple[Any, ...]:
    operation = source.operation(node.name)
    kind, reason = why.why(operation, node, merged(wanted), device, devices)
    return (
        node.op.removeprefix("_Mkl"),
        why.dtype_name(operation),
        merged(wanted),
        device,
        kind,
        reason,
        source.place(node.name),
    )


def _variables(concrete: Any) -> list[VariableHome]:
    found = []
    for variable in list(getattr(concrete.graph, "variables", ()))[:2000]:
        try:
            handle = variable.handle
            device = handle.device or variable.device
            shape = variable.shape
            size = int(shape.num_elements() or 0) * int(variable.dtype.size) if shape.is_fully_defined() else 0
            name = str(getattr(variable, "path", "") or variable.name)
            found.append(VariableHome(name=name, device=short(str(device)), bytes=size))
        except Exception:
            continue  # a kind of variable without one home
    return found
