"""TRC004: accelerators wait for copies.

Time in which a device's copies run and no kernel does, and idle time in which the host copies.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.recorded_trace import Doing, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, get_basis, make_finding

TITLES = {"TRC004": "Accelerators wait for memory copies"}


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
    figures = [Measurement("share of accelerator time in copies alone", share, "share", "accelerators")]
    figures += [
        Measurement(f"size of {row.kind}", row.bytes, "bytes", "trace") for row in trace.copies[:3] if row.bytes
    ]
    figures += [
        Measurement(f"synchronous copies, {row.kind}", row.synchronous, "count", "trace")
        for row in trace.copies
        if row.synchronous
    ]
    pageable = sum(row.pageable or 0 for row in trace.copies)
    figures += [Measurement("copies from pageable memory", pageable, "count", "trace")] * bool(pageable)
    awaited = sum(row.total_ms for row in trace.copies if row.awaited)
    yield make_finding(
        "TRC004",
        "sync",
        TITLES["TRC004"],
        share,
        figures,
        "Offload fewer values to host memory. Or: fetch them earlier, as the program waits for them."
        if 2 * awaited > sum(row.total_ms for row in trace.copies)
        else "Copy while computing: tf.data.experimental.prefetch_to_device. Or: read values after several steps, and "
        "pass tensors instead of NumPy arrays, whose copies from pageable memory can't overlap.",
        basis=get_basis(trace),
    )
