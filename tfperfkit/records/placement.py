"""Placement of operations compared with the requested devices, copies between devices, and places where Python waited
for values.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tfperfkit.records.source_span import SourceSpan

#: Why operations run elsewhere than asked. device: there is no such device; colocation, variable: something else
#: decides; dtype, kernel: the device can't run it; int32: kept on the host; rules: TensorFlow's placer chose otherwise
#: for a reason of its own.
FallbackKind = Literal["device", "colocation", "variable", "dtype", "kernel", "int32", "rules"]
#: Destination of the data of a collective operation.
OTHERS = "other replicas"


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """One tensor that goes to another device at each execution.

    ``bytes`` is None when its shape is not known; ``estimated`` when a batch dimension was taken from the call's
    arguments. ``repeated``: within a loop, so more often than once.
    """

    source: str
    target: str
    op: str  # type of the operation that made it
    user: str  # type of the one that takes it
    argument: bool  # an input of the function
    variable: bool  # the value of a variable
    bytes: int | None
    estimated: bool
    repeated: bool
    made: SourceSpan | None
    used: SourceSpan | None


class Fallback(msgspec.Struct, frozen=True, kw_only=True):
    """Operations that run elsewhere than asked. ``kind`` is a ``FallbackKind``, ``reason`` its sentence."""

    op: str
    dtype: str
    requested: str
    assigned: str
    kind: str
    reason: str
    count: int
    where: SourceSpan | None


class VariableHome(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that the function uses, and the device that holds it."""

    name: str
    device: str
    bytes: int


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """One concrete function. ``ops``: by device, by type; ``asked``: the operations that have a requested device."""

    ops: dict[str, dict[str, int]]
    asked: dict[str, int]
    fallbacks: list[Fallback]
    copies: list[Copy]
    variables: list[VariableHome]
    replicas: bool  # one body for each replica of a distribution strategy


class EagerCopy(msgspec.Struct, frozen=True):
    """Inputs of operations at one line that came from another device."""

    source: str
    target: str
    file: str
    line: int
    function: str
    op: str
    count: int
    bytes: int


class EagerFallback(msgspec.Struct, frozen=True):
    """Operations at one line that ran elsewhere than the scope around them asked."""

    op: str
    requested: str
    assigned: str
    file: str
    line: int
    function: str
    count: int


class Sync(msgspec.Struct, frozen=True):
    """Values read at one place. ``through``: "keras" or "tensorflow" when their code asked for it, not the user's."""

    file: str
    line: int
    function: str
    how: str
    device: str
    through: str
    count: int
    blocked_ns: int


def missing_device(requested: str, devices: frozenset[str]) -> str:
    """Return why there is no such device among the logical ones (``CPU:0``); empty when there is."""
    kind = requested.partition(":")[0]
    same_type = [name for name in devices if name.partition(":")[0] == kind.upper()]
    if same_type and (":" not in requested or requested.upper() in devices):
        return ""
    others = f"there is only {', '.join(sorted(same_type))}" if same_type else f"there is no {kind}"
    return f"{requested} does not exist ({others})"
