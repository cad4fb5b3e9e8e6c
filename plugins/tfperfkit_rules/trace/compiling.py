"""TRC007: accelerators wait for tracing or compilation.

Idle time of each device in which the host traces or compiles, up to the launch of what comes next.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.recorded_trace import Doing, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, find_worst_host, get_basis, make_finding, measure_idle

TITLES = {"TRC007": "Accelerators wait for tracing or XLA compilation"}


def wait_for_compilation(evidence: Evidence) -> Iterator[Finding]:
    """TRC007: threads of the host trace or compile while the accelerators are idle."""
    trace = evidence.offer(TraceReport)
    share = trace.waits_share.get(Doing.COMPILE.value, 0.0) if trace is not None else 0.0
    if trace is None or share < REPORTED_SHARE.value:
        return
    yield make_finding(
        "TRC007",
        "compile",
        TITLES["TRC007"],
        share,
        [
            measure_idle(trace),
            Measurement("share of accelerator time waiting for compilation", share, "share", "accelerators"),
            *find_worst_host(trace, Doing.COMPILE.value),
        ],
        "Record after the warm-up. Or, if later steps compile too: run tfperf run on the script, which names the "
        "argument whose shape or Python value changes.",
        basis=get_basis(trace),
    )
