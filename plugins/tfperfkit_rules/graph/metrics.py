"""Metrics and summaries on the hot path of a compiled step (GRF002)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfperfkit_probes.lines.graph.data import GraphFunction
from tfperfkit_probes.lines.graph.repeated import BesideTime

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.graph.sessions import RUN
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.graph_ops import WASTE_SAVED_MIN
from tfperfkit.remedy import Remove
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.traced_step import WINDOW, definition, traced_functions
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import FIT, find_call_at
from tfperfkit_rules.measures.source_calls import list_files
from tfperfkit_rules.measures.step_shares import span

TITLES = {"GRF002": "Metrics or tf.summary computed in every step"}

MIN_METRICS = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the step in metrics and summaries",
    Derived("XProf's moderate share of one part of a step"),
)
NAMED = Threshold(
    0.1,
    "share",
    "minimum share of metrics and summaries for a line or a kind to be named",
    Chosen("a tenth changes little"),
)

_ADVICE = {
    "metrics": (
        "Compute costly metrics once per epoch, on the validation data. Or: choose cheaper ones, such as an AUC with "
        "fewer thresholds, keras.metrics.AUC(num_thresholds=50)."
    ),
    "summaries": (
        "Write summaries every 100 steps: with tf.summary.record_if(step % 100 == 0), where step is a tf.Variable or a "
        "tensor."
    ),
}
#: A merged summary is one more thing that a run fetches.
_IN_SESSION = (
    "Fetch the merged summary every 100 steps only, and run without it in between. Or: leave out histograms, and keep "
    "the scalars."
)
#: Keras' metrics that count each batch once for each of many thresholds.
_WITH_THRESHOLDS = (
    "AUC",
    "PrecisionAtRecall",
    "RecallAtPrecision",
    "SensitivityAtSpecificity",
    "SpecificityAtSensitivity",
)


def metrics(evidence: Evidence) -> Iterator[Finding]:
    """GRF002: what the training itself does not need, in each compiled function. Other work may be done for them,
    unless the function updates weights too."""
    for function, step_ms in traced_functions(evidence):
        if evidence.work is None or any(row.update_ms > 0 for row in function.innermost):
            yield from _judge_function(evidence, function, step_ms)


def _judge_function(evidence: Evidence, function: GraphFunction, step_ms: float) -> Iterator[Finding]:
    unit = evidence.unit
    total = sum(row.ms for row in function.beside)
    share = total / step_ms
    if share < MIN_METRICS.value:
        return
    named = [row for row in function.beside if row.ms >= NAMED.value * total] or function.beside[:1]
    kinds = sorted({row.part for row in named})
    words = " and ".join(kinds)
    starts = _share_starts(evidence, total)
    in_session = function.function == RUN
    advice = {**_ADVICE, "summaries": _IN_SESSION} if in_session else _ADVICE
    yield Finding(
        code="GRF002",
        remedy=Remove("metrics"),
        title=f"{words.capitalize()} computed in {unit.every}, {100 * share:.0f} % of its time",
        share_of_step=share,
        gain=price(Remove("metrics"), Part(WASTE_SAVED_MIN.value * share, share + starts, share + starts)),
        where=(*(places := _places(evidence, named)), *(definition(function) if in_session or not places else ())),
        evidence=(
            Measurement(f"metrics and summaries {unit.per}", total, "ms", WINDOW),
            Measurement(f"share of {unit.the}", share, "share", WINDOW),
        ),
        advice=" ".join(advice[kind] for kind in kinds),
    )


def _share_starts(evidence: Evidence, took_ms: float) -> float:
    """Return the share of the step between operations that goes with those that take ``took_ms``: at most in
    proportion to their time."""
    step = evidence.offer(ComputedStep)
    if step is None or step.ms <= step.idle_ms:
        return 0.0
    return evidence.share("graph") * step.idle_ms / step.ms * min(took_ms / (step.ms - step.idle_ms), 1.0)


def _places(evidence: Evidence, rows: Sequence[BesideTime]) -> tuple[SourceSpan, ...]:
    """Return where they are computed; of what Keras computes in ``fit``, first where its metrics are made, those with
    a row of thresholds before the others."""
    found = [row.where for row in rows if row.where is not None]
    in_fit = any(row.part == "metrics" for row in rows) and any(
        find_call_at(evidence, (place.file, place.line), FIT) is not None for place in found
    )
    return tuple(dict.fromkeys((*(_list_places(evidence) if in_fit else ()), *found)))


def _list_places(evidence: Evidence) -> list[SourceSpan]:
    made = [
        (call.name.rpartition(".")[2] not in _WITH_THRESHOLDS, file, call.line)
        for file, syntax in list_files(evidence)
        for call in syntax.calls
        if call.name.startswith("keras.metrics.")
    ]
    return [span(evidence, file, line) for _, file, line in sorted(made)[: shared.MAX_PLACES.value]]
