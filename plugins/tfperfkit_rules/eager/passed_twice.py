"""EAG017, for data that ``evaluate`` and ``predict`` go through one after the other, with the same weights.

When a call ends, tfperf compares samples of the inputs, and notes the model. No step runs between the two calls, and
the source shows no call there that could change weights. The gain leaves out ``evaluate``.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit_probes.input.model import InputData, PassedTwice

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit.syntax.effects import find_effect
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.straight_line import list_calls_between
from tfperfkit_rules.measures.called import EVALUATE, PREDICT, find_call_at, name_receiver
from tfperfkit_rules.measures.step_shares import span

METRICS_LEFT = Threshold(
    0.2,
    "share",
    "maximum share of evaluate's time that computing loss and metrics from the predictions takes",
    Chosen("elementwise operations on results, next to a whole network"),
)
_HARMLESS = frozenset({"pure", "output", "consumes"})
_SYMPTOMS = ("EAG004", "LIN001", "STP001", "STP006", "STP011", "INP001", "INP012", "INP013", "SYN001", "RET012")


def evaluated_and_predicted(evidence: Evidence) -> Iterable[Finding]:
    """Report the pair of lines that takes most."""
    data = evidence.offer(InputData)
    rows = [row for row in data.passed_twice if 2 * row.pairs > row.calls] if data is not None else []
    steps = evidence.steps.steps
    if not rows or not steps:
        return
    row = max(rows, key=lambda item: item.seconds)
    whole = evidence.work.seconds if evidence.work is not None else evidence.run.wall_s
    within = row.begin_ns < steps[-1].end_ns and row.end_ns > steps[0].begin_ns
    if within and row.seconds >= MEDIUM * whole > 0 and _keeps_weights(evidence, row):
        yield _make_finding(evidence, row, min(row.seconds / whole, 1.0))


def _keeps_weights(evidence: Evidence, row: PassedTwice) -> bool:
    """Whether the source shows that nothing between the two calls may change weights."""
    calls = _find_calls(evidence, row)
    if calls is None:
        return False
    between = list_calls_between(*sorted(calls, key=lambda call: call.line))
    return between is not None and all(map(_is_harmless, between))


def _find_calls(evidence: Evidence, row: PassedTwice) -> tuple[Call, Call] | None:
    evaluated = find_call_at(evidence, (row.file, row.line), EVALUATE)
    predicted = find_call_at(evidence, (row.other.file, row.other.line), PREDICT)
    return (evaluated, predicted) if evaluated is not None and predicted is not None else None


def _is_harmless(call: Call) -> bool:
    effect = find_effect(call.name)
    return effect is not None and all(kind in _HARMLESS or kind.startswith("out:") for kind in effect.kinds)


def _make_finding(evidence: Evidence, row: PassedTwice, share: float) -> Finding:
    calls = _find_calls(evidence, row)
    model = name_receiver(calls[0] if calls is not None else None)
    other = name_receiver(calls[1] if calls is not None else None, model)
    result = f"the result of {other}.predict at line {row.other.line}"
    return Finding(
        code="EAG017",
        title=f"{model}.evaluate and {other}.predict go through the same data with the same weights",
        basis="run" if evidence.work is None else "step",
        share_of_step=share,
        gain=price(Rewrite(), Part(share, share), Left(0.0, METRICS_LEFT.value)),
        where=(span(evidence, row.file, row.line), span(evidence, row.other.file, row.other.line)),
        evidence=(
            Measurement("pairs of calls", float(row.pairs), "count", "run"),
            Measurement("time in evaluate", 1e3 * row.seconds, "ms", "run"),
        ),
        advice=(
            f"Remove {model}.evaluate. Compute its loss and metrics from {result}, for example with "
            "keras.losses.binary_crossentropy(y, scores) and keras.metrics.binary_accuracy(y, scores)."
        ),
        detail="tfperf compared a sample of the inputs. According to the source, no call in between changes weights.",
        absorbs_here=_SYMPTOMS,
        parts=("evaluate", "graph", "dispatch", "eager_ops", "tracing", "input", "other")
        if evidence.work is not None
        else (),
    )
