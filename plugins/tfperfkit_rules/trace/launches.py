"""TRC003: much time passes between one kernel and the next.

Idle time from a launch until its kernel starts, and gaps of at most 10 µs between kernels.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.recorded_trace import BETWEEN, Doing, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, get_basis, make_finding

TITLES = {"TRC003": "Kernel launch gaps take much of the step"}


def launches(evidence: Evidence) -> Iterator[Finding]:
    """TRC003: kernels are so small that launching them takes a good part of the time."""
    trace = evidence.offer(TraceReport)
    if trace is None:
        return
    launching, between = (trace.waits_share.get(cause, 0.0) for cause in (Doing.LAUNCH.value, BETWEEN))
    share = launching + between
    if share < REPORTED_SHARE.value:
        return
    kernels = sum(row.kernels for row in trace.devices if row.used)
    short = sum(row.short_kernels for row in trace.devices if row.used)
    figures = [
        Measurement("share of accelerator time waiting for launches", launching, "share", "accelerators"),
        Measurement("share of accelerator time between kernels", between, "share", "accelerators"),
        Measurement("kernels run", kernels, "count", "trace"),
    ]
    if short:
        figures.append(Measurement("kernels of at most 10 µs", short, "count", "trace"))
    yield make_finding(
        "TRC003",
        "device",
        f"Kernel launch gaps take much of {evidence.unit.the}",
        share,
        figures,
        "Fuse kernels with XLA: @tf.function(jit_compile=True). Or: use a larger batch, or update small tensors "
        "together.",
        basis=get_basis(trace),
    )
