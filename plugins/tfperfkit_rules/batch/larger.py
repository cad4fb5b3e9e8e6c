"""BAT002: a batch that keeps this machine busy with other things than its examples."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit_probes.memory.model import MemoryData

from tfperfkit.calibration import Chosen, Cited, Threshold
from tfperfkit.gain import middle
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, price
from tfperfkit.remedy import BatchSize
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.batch.size import MAX_OTHER, other_share, python_feeds
from tfperfkit_rules.measures.batch_places import batch_of, size_code, size_places
from tfperfkit_rules.measures.growth import Growth, growth
from tfperfkit_rules.measures.room import HEADROOM_STEPS, MIN_HEADROOM

#: The titles of the findings' pages.
TITLES = {
    "BAT002": "Larger batch_size would use the machine better",
}

DOUBLINGS = Threshold(
    3,
    "count",
    "doublings of the batch that are looked at, so up to eight times the batch",
    Chosen("beyond eight times learning changes too much for a mere try"),
)
MAX_EXAMPLES = Threshold(
    1024,
    "examples",
    "largest batch that is offered",
    Cited(
        "Keskar et al. 2017, arXiv 1609.04836: networks generalise less with batches of some thousand examples; up to "
        "1,000 is common in tutorials"
    ),
)
NEARLY_ALL = Threshold(
    0.8,
    "share",
    "share of the largest batch's gain at which a smaller batch is offered",
    Chosen("a larger batch changes the training, so the smallest batch that does nearly as well is offered"),
)
UPDATE_SHARE = Threshold(
    0.2,
    "share",
    "minimum share of the step in weight updates for them to be reported",
    Cited("XProf: a high share of a step"),
)

SEEN_MS = Threshold(
    0.02,
    "ms",
    "minimum rest that is named next to figures of a hundredth of a millisecond",
    Chosen("twice the last digit"),
)

GIB = 1 << 30

#: Times the batch that are looked at.
_TIMES = tuple(1 << power for power in range(1, DOUBLINGS.value + 1))


def larger_batch(evidence: Evidence) -> Iterable[Finding]:
    """Headroom: what two, four and eight times the batch would give for an example."""
    batch = batch_of(evidence) if evidence.work is None else 0
    if batch <= 0 or evidence.steps.count < HEADROOM_STEPS.value:
        return
    found = growth(evidence)
    if found is None or python_feeds(evidence, found.step_ms):
        return
    if max(other_share(evidence), evidence.share("python")) > MAX_OTHER.value:
        return
    times = _times(found, batch)
    if not times or found.middle(times) < MIN_HEADROOM.value:
        return
    places = size_places(evidence, batch)
    yield Finding(
        code="BAT002",
        remedy=BatchSize("training", times),
        title=_title(found, batch, times, evidence.unit),
        severity="info",
        share_of_step=max(0.0, min(found.fixed_share, 1.0)),
        gain=price(BatchSize("training"), left=Left.faster(*found.gain(times))),
        where=places,
        evidence=(
            Measurement("examples in a batch", float(batch), "count", "run"),
            Measurement("suggested examples in a batch", float(times * batch), "count", "advice"),
            *found.evidence(),
        ),
        advice=(
            f"Try {size_code(evidence, places, batch, times * batch)}. Raise the learning rate too (in proportion, or "
            "by the square root of the factor for Adam), and watch the loss."
        ),
        detail=_detail(evidence, found, batch),
        parts=("graph", "dispatch"),
        headroom=True,
    )


def _times(found: Growth, batch: int) -> int:
    """Choose the smallest multiple of the batch that does nearly as well as the largest."""
    allowed = [times for times in _TIMES if times * batch <= MAX_EXAMPLES.value]
    if not allowed:
        return 0
    upper = found.middle(allowed[-1])
    return next(times for times in allowed if found.middle(times) >= NEARLY_ALL.value * upper)


def _title(found: Growth, batch: int, times: int, unit: Unit) -> str:
    updates = found.update_ms / found.step_ms
    title = f"Batch of {times * batch} instead of {batch} gives {found.middle(times):.1f}x examples per second"
    if updates >= UPDATE_SHARE.value:
        title += f"; {100 * updates:.0f} % of {unit.a} updates weights"
    return title


def _detail(evidence: Evidence, found: Growth, batch: int) -> str:
    unit = evidence.unit
    rows = []
    for times in _TIMES:
        lower, upper = found.gain(times)
        rows.append(f"{times * batch}: {middle(lower, upper):.1f}x ({lower:.1f}x to {upper:.1f}x)")
    fixed = found.step_ms - sum(found.grows) / 2
    rest = _rest(fixed - found.update_ms - found.gaps_ms - found.around_ms)
    text = (
        f"About {fixed:,.2f} ms of {found.step_ms:,.2f} ms {unit.per} do not grow with the batch: "
        f"{found.update_ms:,.2f} updating weights, {found.gaps_ms:,.2f} between operations, {found.around_ms:,.2f} "
        f"around the compiled step{rest}. Examples per second by batch: {', '.join(rows)}."
    )
    memory = evidence.offer(MemoryData)
    if memory is not None and memory.rss_peak_bytes and memory.limit_bytes:
        left = (memory.limit_bytes - memory.rss_peak_bytes) / GIB
        text += f" Memory: the peak was {memory.rss_peak_bytes / GIB:.1f} GiB in all, {left:.1f} GiB are free."
    return text


def _rest(left_ms: float) -> str:
    """Return time in none of the named parts, where it can be seen in the figures."""
    return f", {left_ms:,.2f} in none of these" if left_ms >= SEEN_MS.value else ""
