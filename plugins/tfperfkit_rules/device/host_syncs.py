"""SYN001: Python reads tensor values in every step, and may wait for them.

The probe ``devices`` counts the reads in its window and times the wait. The awaited value must be computed anyway, so
at best it is computed in parallel with the rest of the step.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.devices.model import DevicesData, SyncRow

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.gain import Unknown
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, price
from tfperfkit.remedy import Every
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.device.placement import places
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import FIT, TRAINER, find_call_at

TITLES = {"SYN001": "Python reads tensor values in every step"}

MIN_WAIT = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "minimum share of the step spent waiting for a value, for more than a remark",
    Derived("the least share that is reported"),
)
ONCE_A_STEP = Threshold(
    0.05,
    "number",
    "maximum difference from one read per step that counts as one read in every step",
    Chosen("one step more or less in 20"),
)


def host_syncs(evidence: Evidence) -> Iterator[Finding]:
    """SYN001: one finding for each line that waits; what is read without waiting is one remark."""
    data = evidence.offer(DevicesData)
    if data is None or not data.window_steps or evidence.work is not None:  # the window's steps are the training's
        return
    often = [row for row in data.host_syncs if (row.per_step or 0) >= shared.MOSTLY.value]
    own = [row for row in often if not _reads_results(evidence, row)]
    accelerated = bool(data.facts and data.facts.gpus("logical"))
    waiting = [row for row in own if (row.share_of_step or 0.0) >= MIN_WAIT.value]
    # The user can't change a library's free reads: they are in the table only.
    cheap = [row for row in own if row not in waiting and not row.through]
    for row in waiting:
        yield _make_finding([row], True, accelerated, evidence.unit)
    if cheap:
        yield _make_finding(cheap, False, accelerated, evidence.unit)


def _reads_results(evidence: Evidence, row: SyncRow) -> bool:
    """Return whether Keras reads the results of a call such as ``evaluate`` or ``train_on_batch``: it computes them
    first, so its wait is the computing itself. ``fit`` reads for its progress bar and for callbacks."""
    place = row.file, row.line
    results = row.through == "keras" and find_call_at(evidence, place, TRAINER) is not None
    return results and find_call_at(evidence, place, FIT) is None


def _make_finding(rows: list[SyncRow], waits: bool, accelerated: bool, unit: Unit) -> Finding:
    row = rows[0]
    share = min(sum(row.share_of_step or 0.0 for row in rows), 1.0)
    # The awaited value must be computed anyway: at best in parallel with the rest of the step.
    gained = price(Every("read"), left=Left(max(share, 1 - share), 1.0)) if waits else Unknown()
    by = f" ({row.through} does it)" if row.through else ""
    ways = dict.fromkeys(way for row in rows for way in row.how)
    homes = dict.fromkeys(row.device for row in rows)
    detail = f"Read with {', '.join(ways)}, from tensors on {', '.join(homes)}{by}."
    if not accelerated:
        detail += " On a CPU this " + (
            "costs little by itself; here it waited for what was still being computed."
            if waits
            else "costs little; on a GPU the program would wait for all that was started."
        )
    count = sum(row.per_step or 0.0 for row in rows)
    advice = (
        "Keep values as tensors (a keras.metrics.Mean, a list of tensors), and read them once, after the loop. Or: "
        "read every hundredth value."
    )
    if row.through == "keras":
        advice = "Print once an epoch: fit(..., verbose=2). Or: remove callbacks that read logs in every batch."
    return Finding(
        code="SYN001",
        remedy=Every("read"),
        severity="low" if waits or accelerated else "info",
        share_of_step=share,
        title=f"Python reads tensor values {_times(count, unit)}{' and waits' * waits}",
        gain=gained,
        where=places(rows),
        evidence=(
            Measurement(f"tensor values read {unit.per}", count, "count", "devices"),
            Measurement(
                f"time waiting for values {unit.per}", sum(row.blocked_ms or 0.0 for row in rows), "ms", "devices"
            ),
        ),
        detail=detail,
        advice=advice,
    )


def _times(count: float | None, unit: Unit) -> str:
    if count is None or abs(count - 1) < ONCE_A_STEP.value:
        return f"in {unit.every}"
    return f"{count:.1f} times {unit.per_a}".replace(".0 ", " ")
