"""TRC002: the accelerators wait for the host."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers.recorded_trace import UNKNOWN, Doing, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, find_worst_host, get_basis, make_finding, measure_idle

_HOST = (Doing.PYTHON.value, Doing.RUNTIME.value, UNKNOWN)
_OF_PYTHON = (
    "Take Python out of {unit.the}: one tf.function (or jit) for it, several steps in a call "
    "(steps_per_execution, a loop inside of the tf.function), values read seldom."
)
_OF_RUNTIME = (
    "The runtime is at what stands below, not Python: give it less to do for each call (several steps in one, fewer "
    "and larger operations), and record after the warm-up: memory and iterators are made in the first steps, once."
)


def wait_for_host(evidence: Evidence) -> Iterator[Finding]:
    """TRC002: the host runs Python or TensorFlow's runtime, or unknown work, while the accelerators are idle."""
    trace = evidence.offer(TraceReport)
    if trace is None:
        return
    parts = {name: trace.waits_share[name] for name in _HOST if trace.waits_share.get(name, 0.0) > 0}
    share = sum(parts.values())
    if share < REPORTED_SHARE.value:
        return
    yield make_finding(
        "TRC002",
        "eager",
        "The accelerators wait for the host",
        share,
        [
            measure_idle(trace),
            *(Measurement(name, value, "share", "accelerators") for name, value in parts.items()),
            *find_worst_host(trace, *_HOST),
        ],
        _OF_RUNTIME if 2 * parts.get(Doing.RUNTIME.value, 0.0) > share else _OF_PYTHON.format(unit=evidence.unit),
        "\n".join(f"{row.what}: {row.idle_ms:.3g} ms" for row in trace.host[:5]),
        _list_places(trace),
        basis=get_basis(trace),
    )


def _list_places(trace: TraceReport) -> tuple[SourceSpan, ...]:
    """Return the lines of Python that the costliest rows name."""
    places = []
    for row in trace.host[:3]:
        location, _, function = row.what.partition(" ")
        file, _, line = location.rpartition(":")
        if file.endswith(".py") and line.isdecimal():
            places.append(SourceSpan(file=file, line=int(line), function=function))
    return tuple(places)
