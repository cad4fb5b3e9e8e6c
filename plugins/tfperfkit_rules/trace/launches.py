"""TRC003: much time passes between one kernel and the next."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.recorded_trace import BETWEEN, Doing, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, get_basis, make_finding


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
        Measurement("waiting for launches", launching, "share", "accelerators"),
        Measurement("between kernels", between, "share", "accelerators"),
        Measurement("kernels", kernels, "count", "trace"),
    ]
    if short:
        figures.append(Measurement("of no more than 10 µs", short, "count", "trace"))
    yield make_finding(
        "TRC003",
        "device",
        f"Much of {evidence.unit.the} passes between one kernel and the next",
        share,
        figures,
        "Make fewer and larger kernels: jit_compile=True fuses them, a larger batch gives each more to do, several "
        "small tensors updated together need one launch.",
        basis=get_basis(trace),
    )
