"""The ledger of traces: which function, when, because of which argument."""

from __future__ import annotations

from typing import Any

import msgspec

from tfperfkit.picture import Entry, Ledger, Picture
from tfperfkit.records.pictures import MAX_ENTRIES
from tfperfkit_probes.retrace.model import RetraceData, Trace

_KINDS = {
    "first": "first trace",
    "variable_creation": "once more, without making variables",
    "retrace": "retrace",
    "new_function_object": "new function object",
    "expected": "expected",
}
_CAUSES = 3


def pictures(data: Any) -> list[Picture]:
    """Traces in the order of steps, the avoidable and the longest ones if there are too many."""
    found = msgspec.convert(data, RetraceData, strict=False)
    entries = [
        Entry(
            lane=function.function,
            step=trace.step,
            ms=trace.ms,
            kind=_KINDS.get(trace.kind, trace.kind),
            text=_why(trace),
            where=trace.call_site,
            marked=trace.avoidable,
        )
        for function in found.functions
        for trace in function.traces
    ]
    if not entries:
        return []
    chosen = sorted(enumerate(entries), key=lambda item: (not item[1].marked, -item[1].ms))[:MAX_ENTRIES]
    kept = [entry for _, entry in sorted(chosen, key=lambda item: (item[1].step, item[0]))]
    left = len(entries) - len(kept)
    note = f"{left:,} shorter ones are left out." if left else ""
    return [
        Ledger(
            key="traces",
            title="Traces of tf.function: when, and what made them necessary",
            entries=tuple(kept),
            note=note,
        )
    ]


def _why(trace: Trace) -> str:
    if trace.error:
        return f"failed: {trace.error}"
    causes = [f"{cause.path}: {cause.before} → {cause.after}" for cause in trace.cause[:_CAUSES]]
    more = len(trace.cause) - len(causes)
    return "; ".join([*causes, *([f"{more} more"] if more > 0 else [])]) or trace.reason
