"""Calls on threads other than the one that drives TensorFlow, as a section of the report."""

from __future__ import annotations

from tfperfkit.model import CallTime, ProbeOutcome, Report, SourceSpan, Table, make_columns

#: The thread of a call, by the part of its time.
_THREADS = {
    "called by TensorFlow": "TensorFlow's",
    "awaited": "awaited",
    "busy": "background",
}


def list_other_threads(report: Report) -> ProbeOutcome | None:
    """Return the section; None if no call on another thread took 2 % of the run's time."""
    if not report.thread_calls:
        return None
    table = Table(
        title="Calls on other threads",
        columns=make_columns("call", "at: location", "thread", "caused by: location", "seconds: number", "findings"),
        rows=tuple(map(_make_row, report.thread_calls)),
        note="TensorFlow's threads run Python for pipelines and py_function; the main thread waits for awaited ones. "
        "All these seconds pass next to the run's own",
    )
    return ProbeOutcome(name="other threads", status="ok", tables=(table,))


def _make_row(call: CallTime) -> tuple[str | float | None, ...]:
    """Return the row of a call. The line that caused the work of a background thread is unknown."""
    kind = max(call.parts_s, key=lambda part: call.parts_s[part], default="")
    caused = call.callers[0] if call.callers and kind != "busy" else None
    return (
        call.call or call.where.function or "Python",
        _locate(call.where),
        _THREADS.get(kind, kind),
        _locate(caused) if caused is not None else None,
        call.seconds,
        ", ".join(call.findings) or None,
    )


def _locate(where: SourceSpan) -> str:
    return f"{where.file}:{where.line}"
