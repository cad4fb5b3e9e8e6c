"""Why an operation does not run on the device that was asked for."""

from __future__ import annotations

import functools
from typing import Any

from tfperfkit.records.placement import FallbackKind, missing_device


def why(operation: Any, node: Any, requested: str, assigned: str, devices: frozenset[str]) -> tuple[FallbackKind, str]:
    """(kind, sentence). ``operation`` is the one in the person's graph, or None; ``devices`` the logical ones."""
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
    """The type that an operation computes in: of its attribute T, else of its first result."""
    if operation is None:
        return ""
    try:
        return str(operation.get_attr("T").name)
    except (AttributeError, ValueError):
        return str(operation.outputs[0].dtype.name) if operation.outputs else ""


@functools.cache
def _kernels(op_type: str, device_type: str) -> tuple[tuple[tuple[str, frozenset[int]], ...], ...] | None:
    """The type constraints of each kernel for that device; None when TensorFlow does not tell."""
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
