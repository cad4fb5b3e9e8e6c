"""TRC004: the accelerators wait for copies."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.recorded_trace import Doing, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, get_basis, make_finding


def copies(evidence: Evidence) -> Iterator[Finding]:
    """TRC004: accelerators copy and don't compute, or are idle while the host copies."""
    trace = evidence.offer(TraceReport)
    if trace is None or not trace.copies:
        return
    used = [row for row in trace.devices if row.used and row.window_ms > 0]
    whole = sum(row.window_ms for row in used) or 1.0
    share = trace.waits_share.get(Doing.COPY.value, 0.0) + min(sum(row.only_copies_ms for row in used) / whole, 1.0)
    if share < REPORTED_SHARE.value:
        return
    figures = [Measurement("copies and nothing else", share, "share", "accelerators")]
    figures += [Measurement(f"{row.kind}", row.bytes, "bytes", "trace") for row in trace.copies[:3] if row.bytes]
    figures += [
        Measurement(f"synchronous {row.kind}", row.synchronous, "count", "trace")
        for row in trace.copies
        if row.synchronous
    ]
    pageable = sum(row.pageable or 0 for row in trace.copies)
    figures += [Measurement("from pageable memory", pageable, "count", "trace")] * bool(pageable)
    awaited = sum(row.total_ms for row in trace.copies if row.awaited)
    yield make_finding(
        "TRC004",
        "sync",
        "The accelerators wait for copies",
        share,
        figures,
        "Offload fewer values to the host's memory, or ask for them earlier: the program is done before they are there."
        if 2 * awaited > sum(row.total_ms for row in trace.copies)
        else "Copy while computing: prefetch_to_device, values read after several steps. Copies from pageable memory "
        "can't overlap: hand over tensors that TensorFlow allocated, not fresh NumPy arrays.",
        basis=get_basis(trace),
    )
