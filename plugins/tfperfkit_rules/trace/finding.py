"""Shared parts of the rules about recorded traces: the minimum share, and the form of a finding."""

from __future__ import annotations

from typing import Literal

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Family, Finding, Measurement, SourceSpan
from tfperfkit.offers.recorded_trace import TraceReport
from tfperfkit.pricing import bound

REPORTED_SHARE = Threshold(
    0.02,
    "share",
    "minimum share of a step that is lost",
    Chosen("as SEVERITY_LOW: less is within the noise of a trace"),
)


def make_finding(
    code: str,
    family: Family,
    title: str,
    share: float,
    evidence: list[Measurement],
    advice: str,
    detail: str = "",
    where: tuple[SourceSpan, ...] = (),
    basis: Literal["step", "run"] = "step",
) -> Finding:
    """Make a finding of a trace. Its gain is an upper limit: a trace doesn't show what replaces the wait."""
    return Finding(
        code=code,
        family=family,
        title=title,
        share_of_step=share,
        gain=bound(share),
        where=where,
        evidence=tuple(evidence),
        advice=advice,
        detail=detail,
        basis=basis,
    )


def get_basis(trace: TraceReport) -> Literal["step", "run"]:
    """Return what the shares of a trace are shares of: its steps, or all that was recorded."""
    return "step" if trace.steps.count else "run"


def find_worst_host(trace: TraceReport, *causes: str) -> list[Measurement]:
    """Return the share of the host whose accelerators wait longest for these, if the others wait for less."""
    shares = {row.host: sum(row.waits_share.get(cause, 0.0) for cause in causes) for row in trace.hosts}
    worst = max(shares, key=lambda host: shares[host], default=None)
    mean = sum(trace.waits_share.get(cause, 0.0) for cause in causes)
    if worst is None or shares[worst] < mean + REPORTED_SHARE.value:
        return []
    return [
        Measurement(f"share of accelerator time on {worst}, the worst host", shares[worst], "share", "accelerators")
    ]


def measure_idle(trace: TraceReport) -> Measurement:
    """Return the share of the time in which the accelerators are idle."""
    return Measurement("share of accelerator time idle", trace.idle_share or 0.0, "share", "accelerators")
