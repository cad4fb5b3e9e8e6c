"""The first line about a trace: the step, how much of it the accelerators idle, and the main reason."""

from __future__ import annotations

from tfperfkit.model import Family
from tfperfkit.offers.recorded_trace import BETWEEN, QUEUED, UNKNOWN, Doing, TraceReport
from tfperfkit.reading.numbers import HOST_SHARE

#: Families of findings about accelerators that wait, and about those that are busy with other than computing.
_WAITING: tuple[Family, ...] = ("input", "eager", "device", "compile")
_BUSY: tuple[Family, ...] = ("sync", "distribution")
_WAITS = {
    Doing.INPUT.value: "input",
    Doing.COMPILE.value: "compilation",
    Doing.COLLECTIVE.value: "other devices",
    Doing.COPY.value: "copies",
    Doing.LAUNCH.value: "kernels to be launched",
    Doing.RUNTIME.value: "the runtime on the host",
    Doing.PYTHON.value: "Python",
    BETWEEN: "the next kernel to start",
    QUEUED: "another stream",
    UNKNOWN: "a host of which nothing is recorded",
}


def headline(report: TraceReport) -> str:
    """Return the first line: the step, how much of it the accelerators idle, and the main reason."""
    if report.idle_share is None:
        return _host_headline(report)
    used = [row for row in report.devices if row.used]
    who = f"The {len(used)} accelerators idle" if len(used) > 1 else f"{used[0].device} idles" if used else "Idle"
    of = "the step" if report.steps.count else "the recorded time"
    text = f"{who} {report.idle_share * 100:.1f} % of {of}"
    if len(report.hosts) > 1 and len(used) > 1:
        text = f"The {len(used)} accelerators of {len(report.hosts)} hosts idle {report.idle_share * 100:.1f} % of {of}"
    reported = [finding for finding in report.findings if finding.severity != "info"]
    if reported and reported[0].family in _WAITING:
        cause = max(report.waits_share, key=lambda name: report.waits_share[name])
        return f"{text}, most of it waiting for {_WAITS.get(cause, cause)}"
    busy_with = reported and reported[0].family in _BUSY
    if busy_with and reported[0].share_of_step > (report.idle_share or 0.0):
        return f"{reported[0].title}: {reported[0].share_of_step * 100:.1f} % of {of}"
    return text


def _host_headline(report: TraceReport) -> str:
    """Return the first line of a trace without accelerators: what the threads of the host do, or what they compute."""
    of = "the step" if report.steps.count else "the recorded time"
    fetching, nothing = (report.host_share.get(name, 0.0) for name in (Doing.INPUT.value, UNKNOWN))
    if max(fetching, nothing) >= HOST_SHARE.value:
        if fetching >= nothing:
            return f"For {100 * fetching:.0f} % of {of} a thread of the host fetches the next batch"
        return f"For {100 * nothing:.0f} % of {of} no thread of the host is in any event: Python, or waiting"
    if not report.host_operations:
        return ""
    first = report.host_operations[0]
    return f"The costliest operation on the host is {first.name}: {first.own_ms:.3g} ms in {first.runs:,} runs"
