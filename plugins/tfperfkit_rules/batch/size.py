"""BAT001: so little is in a batch that the step is all overhead."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tfperfkit_probes.input.model import InputData

from tfperfkit.gain import MAX, middle, severity
from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import batch as calibrated
from tfperfkit_rules.measures.batch_cost import step_cost
from tfperfkit_rules.measures.batch_places import batch_of, size_code, size_places
from tfperfkit_rules.measures.fit_calls import costly_calls
from tfperfkit_rules.measures.growth import fed_ms
from tfperfkit_rules.measures.step_place import sites

TRY = calibrated.TRY.value


def small_batch(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for a compiled step whose time hardly depends on its few examples."""
    batch = batch_of(evidence) if evidence.work is None else 0
    if not 0 < batch <= calibrated.SMALL.value or evidence.steps.count < calibrated.MIN_STEPS.value:
        return
    if other_share(evidence) > calibrated.MAX_OTHER.value:
        return
    if any(step.count > 1 for step in evidence.steps.clean):
        return  # several steps in one call: what a step costs beside its operations is shared already
    if batch > calibrated.TINY.value and costly_calls(evidence) is not None:
        return  # steps_per_execution gains as much and leaves the training as it is
    cost = step_cost(evidence)
    if cost is None or python_feeds(evidence, cost.step_ms):
        return
    # At worst all operations grow, and all that the pipeline works for a batch on processors that the step could use.
    grows = cost.operations_ms + calibrated.INPUT_GROWS.value * cost.input_ms + fed_ms(evidence)
    fixed = 1 - grows / cost.step_ms
    if fixed < calibrated.MIN_FIXED.value:
        return
    ends = (
        gain(cost.step_ms, grows, max(calibrated.AT_LEAST_TIMES.value, calibrated.SMALL.value / batch)),
        gain(cost.step_ms, calibrated.GROWS_MIN.value * cost.work_ms, calibrated.UP_TO.value / batch),
    )
    bounds = (min(ends), max(ends))
    # What is to be tried is what the range was predicted for.
    wanted = max(int(TRY), math.ceil(calibrated.AT_LEAST_TIMES.value * batch))
    places = size_places(evidence, batch)
    yield Finding(
        code="BAT001",
        family="batch",
        title=f"With {batch} {'examples' if batch > 1 else 'example'} to a batch, the step is nearly all overhead",
        severity=severity(1 - 1 / bounds[0]),
        share_of_step=min(fixed, 1.0),
        predicted_speedup=middle(bounds),
        predicted_range=bounds,
        where=places,
        evidence=(
            Measurement("examples in a batch", float(batch), "count", "run"),
            Measurement("examples in a batch to try", float(wanted), "count", "advice"),
            *cost.evidence(),
        ),
        advice=(
            f"Try {size_code(evidence, places, batch, wanted)}: the step takes about as long, and an epoch has "
            f"{wanted / batch:,.0f} times fewer of them. Raise the learning rate with it (in proportion, or by the "
            "square root for Adam) and watch the loss."
        ),
        detail=(
            f"Of {cost.step_ms:,.2f} ms a step, {cost.operations_ms:,.2f} ms is spent in operations, and only "
            f"{cost.work_ms:,.2f} ms is work that grows with the batch. The factor is for examples per second."
        ),
    )


def python_feeds(evidence: Evidence, step_ms: float) -> bool:
    """Whether Python prepares each example, at a cost that a larger batch multiplies; it holds the interpreter's lock,
    so its time is not seen as a wait alone."""
    data = evidence.offer(InputData)
    stages = (
        [stage for pipeline in data.pipelines if pipeline.in_training is not False for stage in pipeline.stages]
        if data is not None
        else []
    )
    lower = calibrated.MAX_OTHER.value * step_ms
    return any(stage.is_python and (stage.self_ms_per_step or 0.0) >= lower for stage in stages)


def other_share(evidence: Evidence) -> float:
    """The share of the step in eager operations, saving, tracing, prediction and the person's own Python."""
    samples = evidence.samples
    count = max(samples.count, 1)
    steps = {(site.file, site.line) for site in sites(evidence)}
    own = sum(samples.doing_innermost(leaf)["python"] for leaf in samples.leaves()) / count
    own += (
        sum(  # TensorFlow's Python at other lines than those of the step itself: metrics, a model called beside
            samples.doing_innermost(leaf)[word]
            for leaf in samples.leaves()
            if leaf not in steps
            for word in ("eager_ops", "dispatch")
        )
        / count
    )
    return evidence.share("eager_ops", "saving", "tracing", "gc") + own + samples.contexts["evaluate"] / count


def gain(step_ms: float, grows_ms: float, times: float) -> float:
    """Examples per second with ``times`` as many in a batch, over now, when ``grows_ms`` of the step grow with it."""
    return min(MAX, times * step_ms / (step_ms - grows_ms + times * grows_ms))
