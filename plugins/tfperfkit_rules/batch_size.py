"""BAT001: so little is in a batch that the step is all overhead."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfperfkit_probes.input_model import InputData

from tfperfkit.evidence import Evidence
from tfperfkit.gain import MOST, middle, severity
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit_rules.batch_cost import step_cost
from tfperfkit_rules.eager_place import reached, sites
from tfperfkit_rules.step_fit import one_call_a_step
from tfperfkit_rules.step_shares import span

#: Up to this many examples a batch is small (Keras' own default is 32).
SMALL_BATCH = 16
#: Up to this many a larger batch is the first thing to try, whatever else helps.
TINY_BATCH = 4
#: The batch to try, and the largest that the range's upper end stands for.
TRY, UP_TO = 32, 64
#: Of the work of operations on so little, what really grows with the batch at best (vector units and threads are idle).
#: Fitted to two pairs, run twice on two busy cores: 2 to 64 examples gained 26x to 37x,
#: 1 to 32 gained 28x to 30x, by the median step.
GROWS_LEAST = 0.3
#: What does not depend on the batch must be this share of the step.
LEAST_SHARE = 0.6
#: With more than this of the step in things that are no business of the batch's size, those come first.
MOST_OTHER = 0.3
_SINGLE = re.compile(r"\[None\b|\[np\.newaxis|\[tf\.newaxis|expand_dims\(|reshape\(\(?1,")
#: Fewer steps than this pass quickly either way.
LEAST_STEPS = 200


def small_batch(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for a compiled step whose time hardly depends on its few examples."""
    batch = _batch(evidence)
    if not 0 < batch <= SMALL_BATCH or evidence.steps.count < LEAST_STEPS or _other_share(evidence) > MOST_OTHER:
        return
    if any(step.count > 1 for step in evidence.steps.clean):
        return  # several steps in one call: what a step costs beside its operations is shared already
    if batch > TINY_BATCH and list(one_call_a_step(evidence)):
        return  # steps_per_execution gains as much and leaves the training as it is
    cost = step_cost(evidence)
    if cost is None or _python_feeds(evidence, cost.step_ms):
        return
    grows = cost.operations_ms + 0.5 * cost.input_ms  # at worst all operations and half of the hand-over
    fixed = 1 - grows / cost.step_ms
    if fixed < LEAST_SHARE:
        return
    ends = (
        gain(cost.step_ms, grows, max(4, 16 / batch)), gain(cost.step_ms, GROWS_LEAST * cost.work_ms, UP_TO / batch),
    )
    bounds = (min(ends), max(ends))
    places = _where(evidence, batch)
    yield Finding(
        code="BAT001", family="batch",
        title=f"With {batch} {'examples' if batch > 1 else 'example'} to a batch, the step is nearly all overhead",
        severity=severity(1 - 1 / bounds[0]), share_of_step=min(fixed, 1.0), predicted_speedup=middle(bounds),
        predicted_range=bounds, where=places,
        evidence=(Measurement("examples in a batch", float(batch), "count", "run"), *cost.evidence()),
        advice=(
            f"Try {_code(evidence, places, batch)}: the step takes about as long, and an epoch has "
            f"{TRY / batch:,.0f} times fewer of them. Raise the learning rate with it (in proportion, or by the square "
            "root for Adam) and watch the loss."
        ),
        detail=(
            f"Of {cost.step_ms:,.2f} ms a step, {cost.operations_ms:,.2f} ms is spent in operations, and only "
            f"{cost.work_ms:,.2f} ms is work that grows with the batch. The factor is for examples per second."
        ),
    )


def _python_feeds(evidence: Evidence, step_ms: float) -> bool:
    """Whether Python prepares each example, at a cost that a larger batch multiplies; it holds the interpreter's lock,
    so its time is not seen as a wait alone."""
    data = evidence.data("input", InputData)
    stages = [stage for pipeline in data.pipelines if pipeline.in_training is not False for stage in pipeline.stages] \
        if data is not None else []
    return any(stage.is_python and (stage.self_ms_per_step or 0.0) >= MOST_OTHER * step_ms for stage in stages)


def _batch(evidence: Evidence) -> int:
    """Examples in a batch; 0 when not known. What is made a batch of one in the line of the call is one."""
    places = reached(evidence, "batch", "call", "train_on_batch")
    known = evidence.steps.batch_size or max((site.batch_size for site in places), default=0)
    if known or not places:
        return known
    return int(bool(_SINGLE.search(evidence.line(places[0].file, places[0].line).partition("#")[0])))


def _other_share(evidence: Evidence) -> float:
    """The share of the step in eager operations, saving, tracing, prediction and the person's own Python."""
    samples = evidence.samples
    count = max(samples.count, 1)
    steps = {(site.file, site.line) for site in sites(evidence)}
    own = sum(samples.doing_innermost(leaf)["python"] for leaf in samples.leaves()) / count
    own += sum(  # TensorFlow's Python at other lines than those of the step itself: metrics, a model called beside
        samples.doing_innermost(leaf)[word] for leaf in samples.leaves() if leaf not in steps
        for word in ("eager_ops", "dispatch")
    ) / count
    return evidence.share("eager_ops", "saving", "tracing", "gc") + own + samples.contexts["evaluate"] / count


def gain(step_ms: float, grows_ms: float, times: float) -> float:
    """Examples per second with ``times`` as many in a batch, over now, when ``grows_ms`` of the step grow with it."""
    return min(MOST, times * step_ms / (step_ms - grows_ms + times * grows_ms))


def _where(evidence: Evidence, batch: int) -> tuple[SourceSpan, ...]:
    """Where the size stands, then the call of ``fit`` or the loop."""
    places = reached(evidence, "batch", "call", "loop_call", "train_on_batch", "apply", "next")
    if places and batch == 1 and _SINGLE.search(evidence.line(places[0].file, places[0].line)):
        loop = [SourceSpan(each.file, each.line) for each in places[0].loops[-1:]]
        return (span(evidence, places[0].file, places[0].line), *loop)
    exact = evidence.find(rf"batch_size\s*=\s*{batch}\b|\.batch\(\s*{batch}\b")
    named = [] if exact else evidence.find(r"batch_size\s*=|\.batch\(")
    used = [span(evidence, site.file, site.line) for site in places if site.file][:1]
    given = [span(evidence, row.file, row.line) for row in exact or named]
    if used:  # a call of fit that spans lines: its own first
        given.sort(key=lambda row: (row.file != used[0].file, abs(row.line - used[0].line)) if exact else (False, 0))
    constants = [] if exact else evidence.find(rf"(?i)^\s*\w*batch\w*\s*=\s*{batch}\b")
    return tuple(dict.fromkeys((*(span(evidence, row.file, row.line) for row in constants[:1]), *given[:1], *used)))


def _code(evidence: Evidence, places: tuple[SourceSpan, ...], batch: int) -> str:
    text = evidence.line(places[0].file, places[0].line).partition("#")[0] if places else ""
    found = re.search(rf"(batch_size\s*=\s*|\.batch\(\s*){batch}\b", text)
    return f"{found[1]}{TRY}{')' if found[1].startswith('.') else ''}" if found else f"batches of {TRY}"
