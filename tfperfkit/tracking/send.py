"""Send a report to each tracker in turn, in a thread of its own: one that fails or does not answer costs one line."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tfperfkit.model import Report
from tfperfkit.report import json
from tfperfkit.report.html.explained import Pages
from tfperfkit.report.html.render import page
from tfperfkit.report.markdown import report_markdown
from tfperfkit.report.scalars import scalars
from tfperfkit.storage.safe_reader import trace_files
from tfperfkit.tracker import Gauge, Record
from tfperfkit.tracking.destinations import Destination

#: Seconds after which a tracker is left alone: an answer comes in one or two, or not at all.
PATIENCE_S = 60.0


def send(
    report: Report,
    folder: Path,
    to: Sequence[Destination],
    pages: Pages,
    tell: Callable[[str], None],
    patience_s: float = PATIENCE_S,
    script: str = "",
) -> None:
    """Never raises. ``tell`` gets one line for each tracker: where the report is now, or why it is not.
    ``script``: its name, where that is not what the run was started with."""
    if not to:
        return
    try:
        made = record(report, folder, pages, script)
    except Exception as error:
        tell(f"nothing was sent to a tracker: {type(error).__name__}: {error}")
        return
    for destination in to:
        tell(f"{destination.tracker.name}: {_send_record(destination, made, patience_s)}")


def _send_record(destination: Destination, made: Record, patience_s: float) -> str:
    said: list[str] = []

    def work() -> None:
        try:
            said.append(destination.tracker.send(made, destination.target))
        except (Exception, SystemExit) as error:
            said.append(f"not sent ({_why(error, destination.target)}); the report is in {made.directory}")

    # A daemon: what hangs in a library must not keep the interpreter.
    thread = threading.Thread(target=work, name=f"tfperf-{destination.tracker.name}", daemon=True)
    thread.start()
    thread.join(patience_s)
    return said[0] if said else f"not sent: no answer after {patience_s:.0f} s; the report is in {made.directory}"


def _why(error: BaseException, target: str) -> str:
    """Return the system's words about the target from a chain of errors, instead of the sentences that libraries wrap
    around them.
    """
    found: BaseException | None = error if target else None
    while found is not None:
        if isinstance(found, OSError) and found.errno is not None and found.strerror:
            return f"{target}: {found.strerror}"
        found = found.__cause__ or found.__context__
    return f"{type(error).__name__}: {' '.join(str(error).split()):.300}"


def record(report: Report, folder: Path, pages: Pages, script: str = "") -> Record:
    """Make what trackers get. ``folder``: the run's; ``script``: its name if the report does not know it."""
    return Record(
        name=folder.name,
        script=script or (Path(report.run.argv[0]).name if report.run.argv else folder.name),
        directory=folder,
        steps=report.steps.count,
        seconds=time.time(),
        scalars=scalars(report),
        gauges=tuple(gauge for gauge in gauges(report) if math.isfinite(gauge.value)),
        markdown=report_markdown(report, folded=False),
        html=page(report, pages).encode("utf-8", "backslashreplace"),
        json=json.encode(report),
        traces=tuple(trace_files(folder / "trace")),
    )


def gauges(report: Report) -> list[Gauge]:
    """List the account, the findings and the run as gauges with labels, in seconds and ratios."""
    steps = report.steps
    made = [
        Gauge("steps", float(steps.count), "1", "Training steps that were seen."),
        Gauge("run.duration", report.run.wall_s, "s", "Wall time of the run."),
        Gauge("findings", float(len(report.findings)), "1", "Findings of the report."),
    ]
    if steps.median_ms is not None:
        made.append(Gauge("step.median", steps.median_ms / 1000, "s", "Median of the clean training steps."))
    if steps.examples_per_s is not None:
        made.append(Gauge("examples.rate", steps.examples_per_s, "1/s", "Examples a second."))
    parts = {part: ms for part, ms in (steps.breakdown_ms or {}).items() if math.isfinite(ms)}
    total = sum(parts.values())
    if total > 0:
        made.append(Gauge("step.mean", total / 1000, "s", "Mean of the clean training steps."))
        made += [
            Gauge("step.share", ms / total, "1", "Share of the mean step, by part of its account.", {"part": part})
            for part, ms in parts.items()
        ]
    worst: dict[str, Gauge] = {}
    for finding in report.findings:
        labels = {"code": finding.code, "severity": finding.severity}
        gauge = Gauge(
            "finding.share", finding.share_of_step, "1", "Time that a finding costs, as a share of a step.", labels
        )
        if finding.code not in worst or gauge.value > worst[finding.code].value:
            worst[finding.code] = gauge
    made += worst.values()
    if report.overhead.baseline_ratio is not None:
        made.append(Gauge("overhead.ratio", report.overhead.baseline_ratio, "1", "Our own cost in clean steps."))
    return made
