"""From the outcomes of pairs of trials to a measured gain with its verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tfperfkit.records.trials import Baseline, Change, Keeps, Measured, Results
from tfperfkit.report.proof import gains_processor_time
from tfperfkit.statistics.comparison import Comparison
from tfperfkit.statistics.paired import paired_ratio, pairs_needed
from tfperfkit.trials.outcome import Outcome
from tfperfkit.trials.outputs import compare_outputs

#: A difference smaller than this is not looked for.
LOOKED_FOR = 0.05
#: Weights whose distance, relative to their norm, is below this differ by rounding.
ROUNDING = 1e-4
#: The same after the first step: 1e-7 of a GAN, which training amplified to 1e-3 in 14 steps.
BEGIN_ROUNDING = 1e-5
#: The first and the last step of a trial may be cut, so that updates per step differ a little.
_OTHER_STEPS = 0.25
#: Two plain runs may by chance be closer than a third.
_OWN_FACTOR = 2.0


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """A changed run.

    ``arguments``: of the script, instead of its own; ``whole``: its whole run is timed; ``contents``: of files that
    differ in the variant, by path. ``nudge``: see ``TrialPlan``. ``doubtful``: the source does not show that results
    stay, so that printed words alone prove nothing.
    """

    text: str
    changes: tuple[Change, ...] = ()
    arguments: tuple[str, ...] | None = None
    keeps: Keeps = "results"
    whole: bool = False
    finding: str = ""
    place: str = ""
    environment: dict[str, str] = {}
    edited: tuple[str, ...] = ()
    contents: dict[str, bytes] = {}
    changes_batch: bool = False
    nudge: int = 0
    doubtful: bool = False
    #: So many steps are made in one call.
    multiple: int = 1


#: Several changes together keep as much as the change that keeps least.
ORDER: tuple[Keeps, ...] = ("results", "mathematics", "nothing", "ceiling")


#: The script as it is, with other roundings: other kernels for the same mathematics, and weights that are nudged once.
ROUNDED = Variant(text="as it is, rounded otherwise", environment={"TF_ENABLE_ONEDNN_OPTS": "0"}, nudge=1)


def measured(
    variant: Variant, base: Sequence[Outcome], changed: Sequence[Outcome], rounded: Sequence[Outcome] = ()
) -> Measured:
    """``base`` and ``changed`` in pairs, in the order in which they ran; the last pair may lack its second.
    ``rounded``: runs of ``ROUNDED``: training amplifies rounding, and they show how far it goes.
    """
    made = Measured(
        experiment=variant.text, keeps=variant.keeps, verdict="undecided", finding=variant.finding, place=variant.place
    )
    reason = _not_applied(variant, changed)
    if reason:
        return msgspec.structs.replace(made, verdict="not applicable", reason=reason)
    failed = next((outcome.error for outcome in changed if outcome.error), "")
    if failed:
        return msgspec.structs.replace(made, verdict="failed", reason=failed)
    pairs = [(a, _like_steps(a, b)) for a, b in zip(base, changed, strict=False) if not a.error and a.unit == b.unit]
    if not pairs:
        reason = "no step was seen under the change" if changed else "not tried: the time was over"
        return msgspec.structs.replace(made, verdict="failed" if changed else "undecided", reason=reason)
    sizes = {(a.batch_size, b.batch_size) for a, b in pairs}
    per_example = all(size > 0 for pair in sizes for size in pair)
    if variant.changes_batch and not per_example and pairs[0][0].unit == "step":
        reason = "how many examples a step holds was not seen, so the times of steps can't be compared"
        return msgspec.structs.replace(made, verdict="not applicable", reason=reason)
    before = [a.ns / (a.batch_size if per_example else 1) for a, _ in pairs]
    after = [b.ns / (b.batch_size if per_example else 1) for _, b in pairs]
    found = paired_ratio(before, after)
    minutes = [_minute(b, per_example) / _minute(a, per_example) for a, b in pairs if a.minute > 0 and b.minute > 0]
    used = _processor(pairs, per_example)
    results, distance, own = _results(variant, base, changed, rounded)
    plain = [item.outputs for item in (*base, *rounded) if not item.error]
    outputs, difference = compare_outputs(plain, changed[0].outputs, variant.doubtful)
    made = msgspec.structs.replace(
        made,
        speedup=found.speedup,
        interval=_bounds(found),
        first_minute=math.exp(statistics.fmean(map(math.log, minutes))) if minutes else None,
        processor=used.speedup if used is not None else None,
        processor_interval=_bounds(used) if used is not None else None,
        memory_bytes=_memory(pairs),
        pairs=len(pairs),
        results=results,
        distance=distance,
        own_distance=own,
        outputs=outputs,
        outputs_differ=difference,
        loss=changed[0].end.losses[-1] if changed[0].end.losses else None,
    )
    if found.high is None:
        return msgspec.structs.replace(made, reason="one pair tells nothing of its spread")
    if found.verdict != "no difference shown":
        return msgspec.structs.replace(made, verdict=found.verdict)
    needed = pairs_needed(before, after, LOOKED_FOR)
    return msgspec.structs.replace(made, verdict="no difference", needed_pairs=needed)


def _update_ratio(a: Outcome, b: Outcome) -> float:
    """Return how many times as many updates of weights a step of ``a`` has as one of ``b``; 1 if that is not known."""
    if not (a.end.updates and b.end.updates and a.end.steps and b.end.steps):
        return 1.0
    ratio = (a.end.updates / a.end.steps) / (b.end.updates / b.end.steps)
    return ratio if abs(ratio - 1) > _OTHER_STEPS else 1.0


def _like_steps(a: Outcome, b: Outcome) -> Outcome:
    """Return ``b`` with steps as large as those of ``a``: an eager loop over two networks is one step, and two if a
    patch compiles what it calls."""
    ratio = _update_ratio(a, b) if a.unit == "step" else 1.0
    return msgspec.structs.replace(b, ns=b.ns * ratio, processor_ns=b.processor_ns * ratio, minute=b.minute / ratio)


def _processor(pairs: Sequence[tuple[Outcome, Outcome]], per_example: bool) -> Comparison | None:
    """By processor time, per example where both batch sizes are known; None if no pair has it."""
    known = [(a, b) for a, b in pairs if a.processor_ns > 0 and b.processor_ns > 0]
    before, after = (
        [item.processor_ns / (item.batch_size if per_example else 1) for item in side]
        for side in ([a for a, _ in known], [b for _, b in known])
    )
    return paired_ratio(before, after) if known else None


def _memory(pairs: Sequence[tuple[Outcome, Outcome]]) -> float | None:
    """Return the difference of the peaks; None if no pair has both: a run that had to be killed leaves none."""
    known = [b.memory_bytes - a.memory_bytes for a, b in pairs if a.memory_bytes > 0 and b.memory_bytes > 0]
    return statistics.median(known) if known else None


def _bounds(found: Comparison) -> tuple[float, float] | None:
    """Of how many times faster it is."""
    return (1 / found.high, 1 / found.low) if found.high and found.low else None


def _minute(outcome: Outcome, per_example: bool) -> float:
    """Return the examples of the first minute; steps if the batch size is known of one run of a pair only."""
    return outcome.minute / (1 if per_example else outcome.batch_size or 1)


def decided(item: Measured, pairs: int, at_least: int, brief: bool = False) -> bool:
    """Return whether more pairs would tell no more that matters. ``brief``: whether it is faster matters, and not how
    much."""
    if item.verdict in ("failed", "not applicable"):
        return True
    if pairs < at_least or item.interval is None or item.speedup is None:
        return False
    low, high = item.interval
    if brief and gains_processor_time(item):
        return True
    if item.verdict in ("faster", "slower"):
        sure = brief and (low > 1 + LOOKED_FOR or high < 1 - LOOKED_FOR)
        return sure or high / low < 1.25 or low > 2 or high < 0.5
    return high / low < (1 + LOOKED_FOR) ** 2


def baseline(outcomes: Sequence[Outcome]) -> Baseline | None:
    """Return the plain runs as one."""
    good = [outcome for outcome in outcomes if not outcome.error and outcome.unit != "none"]
    if not good:
        return None
    times = [outcome.ns / 1e6 for outcome in good]
    return Baseline(
        runs=len(good),
        unit="step" if good[0].unit == "step" else "run",
        ms=statistics.median(times),
        batch_size=good[0].batch_size,
        steps=good[0].steps,
        warm_s=statistics.median(outcome.warm_ns for outcome in good) / 1e9,
        memory_bytes=statistics.median([outcome.memory_bytes for outcome in good if outcome.memory_bytes > 0] or [0.0]),
        spread=max(times) / min(times),
    )


def _not_applied(variant: Variant, changed: Sequence[Outcome]) -> str:
    """Return why no change took effect; "" if all did, or nothing is known."""
    for outcome in changed[:1]:
        if not outcome.tensorflow:
            return "" if outcome.error else "the script imports no TensorFlow"
        end = outcome.end
        for change in variant.changes:
            if change.text in end.applied and not end.applied[change.text]:
                reason = end.refused.get(change.text) or "it found nothing to change in the steps that ran"
                return f"{change.text}: {reason}" if len(variant.changes) > 1 else reason
    return ""


def _results(
    variant: Variant, base: Sequence[Outcome], changed: Sequence[Outcome], rounded: Sequence[Outcome]
) -> tuple[Results, float | None, float | None]:
    """Return how the weights compare after the same number of steps; their distance, and that of two plain runs."""
    if variant.keeps == "ceiling":
        return "unknown", None, None
    plain = [item for item in base if item.end.digest and item.weights is not None]
    other = [item for item in changed if item.end.digest and item.weights is not None]
    if not plain or not other or plain[0].end.steps != other[0].end.steps or _update_ratio(plain[0], other[0]) != 1.0:
        return ("differ" if variant.keeps == "nothing" and changed else "unknown"), None, None
    same = {item.end.digest for item in plain} == {item.end.digest for item in other}
    begun = _distance(plain[0].first_weights, other[0].first_weights)
    same_begin = begun is not None and begun <= BEGIN_ROUNDING and plain[0].end.first_steps == other[0].end.first_steps
    # A nudge makes a chaotic script differ, and so would a wrong gradient: the first step, before it, has to be equal.
    alike = [
        item
        for item in rounded
        if item.end.digest and item.end.steps == plain[0].end.steps and (same_begin or not item.end.nudged)
    ]
    own = max((_distance(plain[0].weights, item.weights) or 0.0 for item in (*plain[1:3], *alike)), default=None)
    if same and len({item.end.digest for item in plain}) == 1:
        return "same bits", 0.0, own
    distance = _distance(plain[0].weights, other[0].weights)
    if distance is None:
        return ("differ" if variant.keeps == "nothing" else "unknown"), None, own
    if own is not None and distance <= _OWN_FACTOR * own:
        return "within noise", distance, own
    return ("rounding" if distance <= ROUNDING else "differ"), distance, own


def _distance(a: Path | None, b: Path | None) -> float | None:
    """Of two samples of weights, relative to the norm of the first; None where they can't be compared."""
    import numpy as np

    if a is None or b is None:
        return None
    try:
        one, two = (np.load(file, allow_pickle=False).astype(np.float64) for file in (a, b))
    except (OSError, ValueError):
        return None
    norm = float(np.linalg.norm(one))
    if one.shape != two.shape or not norm > 0:
        return None
    distance = float(np.linalg.norm(one - two)) / norm
    return distance if math.isfinite(distance) else None
