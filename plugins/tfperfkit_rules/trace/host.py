"""TRC002: accelerators wait for the host.

Idle time of each device up to the next launch, without fetches, compilation, collectives and copies. It is divided into
Python, the host runtime, and time that was not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers.recorded_trace import UNKNOWN, Doing, TraceReport
from tfperfkit.rule import Evidence
from tfperfkit_rules.trace.finding import REPORTED_SHARE, find_worst_host, get_basis, make_finding, measure_idle

_HOST = (Doing.PYTHON.value, Doing.RUNTIME.value, UNKNOWN)
TITLES = {"TRC002": "Accelerators wait for Python or the host runtime"}
_OF_PYTHON = (
    "Put {unit.the} into one tf.function (or jax.jit). Or: run several steps in one call (steps_per_execution, a loop "
    "inside the tf.function), and read values less often."
)
_OF_RUNTIME = (
    "Run several steps in one call, or fewer and larger operations: the host runtime is the cause, not Python. Or: "
    "record after the warm-up, when memory and iterators have been made."
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
        TITLES["TRC002"],
        share,
        [
            measure_idle(trace),
            *(
                Measurement(f"share of accelerator time waiting for {name}", value, "share", "accelerators")
                for name, value in parts.items()
            ),
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
