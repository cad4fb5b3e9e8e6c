"""TRC005, TRC008: collectives take much of the time, or devices exchange many small values one by one.

The n-th run of a collective on each device is one exchange. Its shortest duration is the transfer; what the others take
longer is waiting. Only durations are compared, so clocks of hosts need not agree. The share is what no kernel of the
same device hides.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Cited, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.recorded_trace import CollectiveRow, LastToBeReady, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, get_basis, make_finding

TITLES = {
    "TRC005": "Collectives (all-reduce) take much of the step",
    "TRC008": "Devices all-reduce many small values one by one",
}
MANY_COLLECTIVES = Threshold(
    8,
    "number",
    "minimum number of small collectives of a step on a device",
    Chosen("as MANY_EXCHANGES of the rules: a loss and metrics are a handful"),
)
SMALL_COLLECTIVE_MS = Threshold(
    0.05,
    "ms",
    "maximum transfer time of a small collective: starting it takes most of that",
    Cited("NCCL's own tests (nccl-tests): 10 to 30 µs for an all-reduce of some bytes within a machine, more between"),
)


def late_rank_of_timeline(evidence: Evidence) -> Iterator[Finding]:
    """TRC005: in a Horovod timeline one rank is mostly the last to be ready."""
    found = evidence.offer(LastToBeReady)
    if found is None or 2 * found.times <= 1 or found.waiting < REPORTED_SHARE.value:
        return
    yield make_finding(
        "TRC005",
        "distribution",
        f"Collectives (all-reduce) wait for {found.rank}",
        found.waiting,
        [
            Measurement("share of the time in which a tensor waits for the last rank", found.waiting, "share", "trace"),
            Measurement("share of the time in which a tensor is exchanged", found.exchanging, "share", "trace"),
            Measurement(f"share of the tensors for which {found.rank} is last", found.times, "share", "trace"),
        ],
        f"Run tfperf run on the ranks, which names the line that delays {found.rank}. Or: compare its input, its "
        "share of the work and its host with the others.",
        basis="run",
    )


def collectives(evidence: Evidence) -> Iterator[Finding]:
    """TRC005: accelerators exchange and don't compute. TRC008: they exchange many small values."""
    trace = evidence.offer(TraceReport)
    used = [row for row in trace.devices if row.used and row.window_ms > 0] if trace is not None else []
    whole = sum(row.window_ms for row in used)
    if trace is None or not whole or not trace.collectives:
        return
    total = sum(row.total_ms for row in trace.collectives)
    hidden = sum(row.hidden_ms or 0.0 for row in trace.collectives)
    # Of several at the same time on a device each moment counts once.
    share = min(sum(row.only_collectives_ms for row in used) / whole, 1.0)
    if share < REPORTED_SHARE.value:
        return
    wait = sum(row.wait_ms or 0.0 for row in trace.collectives)
    figures = [
        Measurement("share of accelerator time in collectives alone", share, "share", "accelerators"),
        Measurement("share of collectives hidden by kernels", hidden / total, "share", "trace"),
    ]
    if any(row.compared for row in trace.collectives):
        transfer = sum(row.transfer_ms or 0.0 for row in trace.collectives)
        figures += [
            Measurement("time waiting for the last device", wait, "ms", "trace"),
            Measurement("time transferring", transfer, "ms", "trace"),
        ]
    if small := _list_small(trace, total - hidden):
        yield _report_small(evidence, trace, small, share, figures)
        return
    late: dict[str, float] = {}
    for row in trace.collectives:
        late[row.last] = late.get(row.last, 0.0) + (row.wait_ms or 0.0)
    last = max(late, key=lambda name: late[name])
    waits = last and wait > total / 2
    yield make_finding(
        "TRC005",
        "distribution",
        f"Collectives (all-reduce) wait for {last}"
        if waits
        else f"Collectives (all-reduce) take much of {evidence.unit.the}",
        share,
        figures,
        f"Compare what {last} does before it arrives with the others: its input, its share of the work, its host."
        if waits
        else f"Send gradients in 16 bits, packed together. Or: do more work {evidence.unit.per}.",
        basis=get_basis(trace),
    )


def _list_small(trace: TraceReport, exposed_ms: float) -> list[CollectiveRow]:
    """Return the small ones, if a step has many and they take the larger half of what no kernel hides."""
    small = [
        row
        for row in trace.collectives
        if row.compared and (row.transfer_ms or 0.0) <= SMALL_COLLECTIVE_MS.value * row.compared
    ]
    in_step = sum(row.runs / row.devices for row in small) / max(trace.steps.count, 1)
    took = sum(row.total_ms - (row.hidden_ms or 0.0) for row in small)
    return small if in_step >= MANY_COLLECTIVES.value and trace.steps.count and 2 * took > exposed_ms else []


def _report_small(
    evidence: Evidence, trace: TraceReport, small: list[CollectiveRow], share: float, figures: list[Measurement]
) -> Finding:
    """Report many small collectives: starting them takes most of their time."""
    unit = evidence.unit
    runs = sum(row.runs / row.devices for row in small) / trace.steps.count
    each = sum(row.transfer_ms or 0.0 for row in small) / sum(row.compared for row in small)
    size = sum(row.bytes for row in small) / sum(row.runs for row in small)
    return make_finding(
        "TRC008",
        "distribution",
        f"Devices all-reduce {runs:,.0f} small values one by one in {unit.a}",
        share,
        [
            Measurement(f"small collectives {unit.per}", runs, "count", "trace"),
            Measurement("time transferring one small collective", each, "ms", "trace"),
            *([Measurement("size of one small collective", size, "bytes", "trace")] if size else []),
            *figures,
        ],
        "Reduce all values in one call: give the optimizer all gradients at once; under XLA and JAX sum a tree of "
        "values. Or: set bytes_per_pack in tf.distribute.CommunicationOptions to 0 or some MB.",
        basis=get_basis(trace),
    )
