"""The places where Python reads a tensor's value: as measured, else as the source says."""

from __future__ import annotations

from tfperfkit_probes.devices.model import DevicesData

from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.names import UNKNOWN

_METHODS = frozenset({"numpy", "item", "tolist"})


def find_first_read(evidence: Evidence, file: str, first: int, last: int) -> int | None:
    """Find the first of these lines that reads a tensor: by the probe ``devices``, else one that calls NumPy."""
    data = evidence.offer(DevicesData)
    rows = [
        row.line
        for row in (data.host_syncs if data is not None else ())
        if row.file == file and first <= row.line <= last and not row.through
    ]
    if rows:
        return min(rows)
    syntax = evidence.syntax(file)
    lines = [call.line for call in syntax.calls if _reads_value(call)] if syntax is not None else []
    return min((line for line in lines if first <= line <= last), default=None)


def _reads_value(call: Call) -> bool:
    owner, _, method = call.name.rpartition(".")
    if method in _METHODS:
        return owner == UNKNOWN or owner.startswith(("tensorflow.", "keras.", "numpy."))
    return call.name.startswith("numpy.") and bool(call.arguments)
