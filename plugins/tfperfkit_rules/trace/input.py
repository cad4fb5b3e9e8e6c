"""TRC001: accelerators wait for input.

Idle time of each device, up to the launch of what comes next, in which a fetch runs on the host (``IteratorGetNext``,
an infeed).
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.recorded_trace import Doing, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, find_worst_host, get_basis, make_finding, measure_idle

TITLES = {"TRC001": "Accelerators wait for the input pipeline"}


def wait_for_input(evidence: Evidence) -> Iterator[Finding]:
    """TRC001: threads of the host fetch a batch while the accelerators are idle."""
    trace = evidence.offer(TraceReport)
    share = trace.waits_share.get(Doing.INPUT.value, 0.0) if trace is not None else 0.0
    if trace is None or share < REPORTED_SHARE.value:
        return
    yield make_finding(
        "TRC001",
        "input",
        TITLES["TRC001"],
        share,
        [
            measure_idle(trace),
            Measurement("share of accelerator time waiting for input", share, "share", "accelerators"),
            *find_worst_host(trace, Doing.INPUT.value),
        ],
        "Read and map in parallel (num_parallel_calls=tf.data.AUTOTUNE), and prefetch. Or: cache what is read again. "
        "tfperf run on the script names the stage.",
        basis=get_basis(trace),
    )
