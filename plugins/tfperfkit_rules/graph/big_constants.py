"""A large constant that is baked into a graph (OPS002)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from tfperfkit_probes.ops.model import Brief, Constant

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.remedy import Hoist
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import (
    counted,
    definition,
    first_place,
    largest_first,
    name_function,
    of_run,
    places,
)

TITLES = {"OPS002": "NumPy array baked into the graph as a constant"}

CONSTANT_BYTES = Threshold(
    1 << 20,
    "bytes",
    "minimum size of constants at one line",
    Chosen("tables of positions and vocabularies are smaller, datasets are not"),
)
CONSTANT_LOW_BYTES = Threshold(
    8 << 20, "bytes", "size of constants for severity low", Chosen("its trace costs more than 0.05 s: CONSTANT_MB_MS")
)
CONSTANT_MEDIUM_BYTES = Threshold(
    32 << 20,
    "bytes",
    "size of constants for severity medium",
    Chosen("its trace costs more than 0.2 s: CONSTANT_MB_MS"),
)
CONSTANT_MB_MS = Threshold(
    7.0,
    "ms",
    "minimum time that 1 MB of constants adds to the trace and first run of a function, compared with a captured "
    "tensor",
    Measured(
        "1 to 11 ms (10th to 90th percentile), median 7.4; 14 to 35 at a load of 14, by hand 20 to 77 in six pairs",
        MEASURED_ON,
        10,
        "constant",
    ),
)
TRACE_OPERATION_MS = Threshold(
    10.0,
    "ms",
    "maximum time to trace and first run a function, for each operation",
    Measured(
        "0.3 to 0.5 ms, 1.0 to 2.2 at a load of 14; by hand 4 ms in an unrolled graph of 22,614 operations: "
        "Grappler takes more than in proportion",
        MEASURED_ON,
        10,
        "trace_operation",
    ),
)
TRACE_CALL_MS = Threshold(
    1000.0,
    "ms",
    "maximum time to trace and first run a small function",
    Chosen("the first one of a run starts TensorFlow"),
)


class _Baked(NamedTuple):
    """The constants of one place, as the largest function has them. ``users``: the functions that pay for a copy: it,
    and each other one that runs by itself."""

    constants: Sequence[Constant]
    where: tuple[SourceSpan, ...]
    users: list[Brief]

    @property
    def total(self) -> int:
        return sum(constant.bytes for constant in self.constants)


def big_constants(evidence: Evidence) -> Iterator[Finding]:
    """OPS002: what copying it costs while tracing, as a share of the run; a risk where that is little."""
    found: dict[tuple[str, int], _Baked] = {}
    for function in largest_first(evidence):
        for baked in _list_constants(function):
            known = found.setdefault(first_place(baked.where), baked)
            if known is not baked and function.first_execution_ms is not None:
                known.users.append(function)
    for baked in found.values():
        yield _make_finding(evidence, baked)


def _list_constants(function: Brief) -> Iterator[_Baked]:
    by_place: dict[SourceSpan | None, list[Constant]] = {}
    for constant in function.marks.constants:
        by_place.setdefault(constant.where, []).append(constant)
    for place, constants in by_place.items():
        baked = _Baked(constants, places([place, definition(function)]), [function])
        if baked.total >= (CONSTANT_BYTES.value if place is not None else CONSTANT_LOW_BYTES.value):
            yield baked


def _make_finding(evidence: Evidence, baked: _Baked) -> Finding:
    function, total = baked.users[0], baked.total
    trace_ms = sum(user.trace_ms for user in baked.users)
    first_ms = sum(user.first_execution_ms or 0.0 for user in baked.users)
    operations = sum(user.operations for user in baked.users)
    largest = max(baked.constants, key=lambda constant: constant.bytes)
    name = largest.type if len(baked.constants) == 1 else f"{len(baked.constants)} arrays, the largest {largest.type}"
    finding = Finding(
        code="OPS002",
        family="input" if total >= CONSTANT_MEDIUM_BYTES.value else "graph",
        remedy=Hoist("array"),
        severity="low" if total >= CONSTANT_LOW_BYTES.value else "info",
        share_of_step=0.0,
        title=f"NumPy array of {_size(total)} baked into the graph of {name_function(function)}: {name}",
        where=baked.where,
        evidence=(
            counted("size of these constants", total, "bytes"),
            counted("number of these constants", len(baked.constants)),
            counted("size of all constants of the function", function.constants_bytes, "bytes"),
            counted("traces", function.traces),
            counted("tracing", trace_ms, "ms"),
            counted("first execution", first_ms, "ms"),
            counted("operations", operations),
        ),
        advice="Make the array a tensor before the function: array = tf.constant(array), which is then captured by "
        "reference. Or: pass it as an argument, or feed it with a tf.data.Dataset.",
        detail="A NumPy array that is used inside a tf.function is copied into every trace and every SavedModel.",
    )
    # Never more than the function's own trace and first run took.
    each_ms = total / 1e6 * CONSTANT_MB_MS.value
    lost = sum(
        min(each_ms, user.trace_ms + (user.first_execution_ms or 0.0)) * max(user.traces, 1) for user in baked.users
    )
    if operations:  # what is left of the measured time, if that is more
        ordinary = TRACE_CALL_MS.value + TRACE_OPERATION_MS.value * operations
        lost = max(lost, trace_ms + first_ms - ordinary)
    priced = of_run(evidence, finding, lost, "copying it while tracing, estimated")
    if priced.share_of_step < gain.LOW:  # memory and SavedModels still pay for it
        return msgspec.structs.replace(finding, basis="risk")
    return msgspec.structs.replace(priced, severity="low", absorbs=("CMP004",))


def _size(count: int) -> str:
    return f"{count / (1 << 20):,.0f} MiB" if count >= 10 << 20 else f"{count / (1 << 20):.1f} MiB"
