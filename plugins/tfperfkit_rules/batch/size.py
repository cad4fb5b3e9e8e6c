"""BAT001: so little is in a batch that the step is all overhead."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tfperfkit_probes.input.model import InputData

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.gain import MAX
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, price
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.remedy import BatchSize
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.batch_cost import step_cost
from tfperfkit_rules.measures.batch_places import batch_of, size_code, size_places
from tfperfkit_rules.measures.fit_calls import costly_calls
from tfperfkit_rules.measures.growth import INPUT_GROWS, MIN_STEPS, SMALL, TRY, fed_ms
from tfperfkit_rules.measures.step_place import sites

#: The titles of the findings' pages.
TITLES = {
    "BAT001": "batch_size too small; call overhead dominates the step",
}

TINY = Threshold(
    4,
    "examples",
    "largest batch for which a larger one is the first thing to try",
    Chosen("an eighth of the batch to try: no other change of a step's overhead gains as much"),
)
UP_TO = Threshold(64, "examples", "batch that the upper end of the range stands for", Chosen("twice the batch to try"))
AT_LEAST_TIMES = Threshold(
    4,
    "number",
    "times the batch that the lower end of the range stands for",
    Chosen("the largest tiny batch gains as much too"),
)
GROWS_MIN = Threshold(
    0.3,
    "share",
    "minimum share of the work of operations on little data that grows with the batch: vector units and threads "
    "are idle",
    Measured(
        "0.04 to 0.63, median 0.23. It was 0.3 from pairs of runs (2 to 64 examples gained 26 to 37 times, 1 to 32 "
        "gained 28 to 30 times) and stays, since the measured values lie around it",
        MEASURED_ON,
        38,
        "batch_growth",
    ),
)
MIN_FIXED = Threshold(
    0.6,
    "share",
    "minimum share of the step that does not depend on the batch",
    Chosen("clearly more than half of the step is overhead"),
)
MAX_OTHER = Threshold(
    0.3,
    "share",
    "maximum share of the step in things that the batch size does not change: with more, those come first",
    Chosen("half of MIN_FIXED"),
)


def small_batch(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for a compiled step whose time hardly depends on its few examples."""
    unit = evidence.unit
    batch = batch_of(evidence) if evidence.work is None else 0
    if not 0 < batch <= SMALL.value or evidence.steps.count < MIN_STEPS.value:
        return
    if other_share(evidence) > MAX_OTHER.value:
        return
    if any(step.count > 1 for step in evidence.steps.clean):
        return  # several steps in one call: the cost of a step besides its operations is shared already
    if batch > TINY.value and costly_calls(evidence) is not None:
        return  # steps_per_execution gains as much and leaves the training as it is
    cost = step_cost(evidence)
    if cost is None or python_feeds(evidence, cost.step_ms):
        return
    # At worst all operations grow, and all that the pipeline works for a batch on processors that the step could use.
    grows = cost.operations_ms + INPUT_GROWS.value * cost.input_ms + fed_ms(evidence)
    fixed = 1 - grows / cost.step_ms
    if fixed < MIN_FIXED.value:
        return
    ends = (
        gain(cost.step_ms, grows, max(AT_LEAST_TIMES.value, SMALL.value / batch)),
        gain(cost.step_ms, GROWS_MIN.value * cost.work_ms, UP_TO.value / batch),
    )
    gained = price(BatchSize("training"), left=Left.faster(*ends))
    # The range was predicted for the sizes to be tried.
    wanted = max(int(TRY.value), math.ceil(AT_LEAST_TIMES.value * batch))
    places = size_places(evidence, batch)
    yield Finding(
        code="BAT001",
        remedy=BatchSize("training", math.ceil(wanted / batch)),
        title=f"batch_size {batch} too small; call overhead dominates {unit.the}",
        share_of_step=min(fixed, 1.0),
        gain=gained,
        where=places,
        evidence=(
            Measurement("examples in a batch", float(batch), "count", "run"),
            Measurement("suggested examples in a batch", float(wanted), "count", "advice"),
            *cost.evidence(),
        ),
        advice=(
            f"Try {size_code(evidence, places, batch, wanted)}. Raise the learning rate too (in proportion, or by the "
            "square root of the factor for Adam), and watch the loss."
        ),
        detail=(
            f"Only {cost.work_ms:,.2f} ms of {cost.step_ms:,.2f} ms {unit.per} is work that grows with the batch. The "
            "factor is for examples per second."
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
    lower = MAX_OTHER.value * step_ms
    return any(stage.is_python and (stage.self_ms_per_step or 0.0) >= lower for stage in stages)


def other_share(evidence: Evidence) -> float:
    """The share of the step in eager operations, saving, tracing, prediction and the user's own Python."""
    samples = evidence.samples
    count = max(samples.count, 1)
    steps = {(site.file, site.line) for site in sites(evidence)}
    own = sum(samples.doing_innermost(leaf)["python"] for leaf in samples.leaves()) / count
    own += (
        sum(  # TensorFlow's Python at other lines than those of the step itself: metrics, a model called separately
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
