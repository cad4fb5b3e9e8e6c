"""Compare where TensorFlow placed the operations of a concrete function with the requested devices; list the copies in
between.

Read from the graphs of its first execution: the one before optimisation tells what was asked for, the partitions,
one for each device, what runs where. Operations of inlined bodies carry the path of calls in their names.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

from tfperfkit.instruments.devices.copies import copies_of, exchanges_of
from tfperfkit.instruments.devices.runtime import short
from tfperfkit.instruments.devices.source import SourceIndex, merged, satisfies
from tfperfkit.records.placement import Copy, Fallback, FallbackKind, Placement, VariableHome, missing_device

#: Operations that the runtime adds by itself: ends of copies, inputs and results of the function.
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
    """Return the facts about a function without graphs: XLA compiles it whole."""
    return Placement(ops={}, asked={}, fallbacks=[], copies=[], variables=_variables(concrete), replicas=False)


def _scoped(before: Any) -> bool:
    """Return whether any operation was built with a device asked for (constants of eager tensors always carry one)."""
    if any(node.device and node.op != "_EagerConst" for node in before.node):
        return True
    return any(node.device for function in before.library.function for node in function.node_def)


def _fallback(source: SourceIndex, node: Any, wanted: str, device: str, devices: frozenset[str]) -> tuple[Any, ...]:
    operation = source.operation(node.name)
    kind, reason = find_reason(operation, node, merged(wanted), device, devices)
    return (
        node.op.removeprefix("_Mkl"),
        dtype_name(operation),
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


def find_reason(
    operation: Any, node: Any, requested: str, assigned: str, devices: frozenset[str]
) -> tuple[FallbackKind, str]:
    """(kind, sentence). ``operation`` is the one in the user's graph, or None; ``devices`` the logical ones."""
    absent = missing_device(requested, devices)
    if absent:
        return "device", absent
    kind = requested.partition(":")[0]
    if operation is not None:
        if any(tensor.dtype.name == "resource" for tensor in operation.inputs):
            return "variable", f"the variable that it uses lives on {assigned}"
        dtype = dtype_name(operation)
        constraints = _kernels(operation.type, kind.upper())
        if constraints is not None and not constraints:
            return "kernel", f"{operation.type} has no kernel for {kind}"
        if constraints and not any(_fits(operation, constraint) for constraint in constraints):
            return "dtype", f"{operation.type} has no kernel for {dtype or 'this type'} on {kind}"
    partners = [text.decode()[5:] for text in node.attr["_class"].list.s if text.startswith(b"loc:@")]
    if partners:
        return "colocation", f"it must be with {partners[0]}, which is on {assigned}"
    if operation is not None and _small_integers(operation):
        return "int32", "int32 is kept on the host, where shapes and indices are used"
    return "rules", "TensorFlow's placer chose so"


def dtype_name(operation: Any) -> str:
    """Return the type that an operation computes in: of its attribute T, else of its first result."""
    if operation is None:
        return ""
    try:
        return str(operation.get_attr("T").name)
    except (AttributeError, ValueError):
        return str(operation.outputs[0].dtype.name) if operation.outputs else ""


@functools.cache
def _kernels(op_type: str, device_type: str) -> tuple[tuple[tuple[str, frozenset[int]], ...], ...] | None:
    """Return the type constraints of each kernel for that device; None when TensorFlow does not tell."""
    try:
        from tensorflow.python.framework import kernels

        found = kernels.get_registered_kernels_for_op(op_type)
        return tuple(
            tuple((constraint.name, frozenset(constraint.allowed_values.list.type)) for constraint in kernel.constraint)
            for kernel in found.kernel
            if kernel.device_type in (device_type, "DEFAULT")
        )
    except Exception:
        return None


def _fits(operation: Any, constraint: tuple[tuple[str, frozenset[int]], ...]) -> bool:
    for name, allowed in constraint:
        try:
            if allowed and operation.get_attr(name).as_datatype_enum not in allowed:
                return False
        except (AttributeError, ValueError):
            continue
    return True


def _small_integers(operation: Any) -> bool:
    return any(tensor.dtype.name == "int32" for tensor in (*operation.inputs, *operation.outputs))
