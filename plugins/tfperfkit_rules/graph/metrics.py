"""Metrics and summaries on the hot path of a compiled step (GRF002)."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.lines.graph.data import GraphFunction

from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import graph as calibrated
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.traced_step import WINDOW, definition, graph_severity, traced_functions

_ADVICE = {
    "metrics": (
        "Leave the costly metrics to the validation data, once per epoch, or choose cheaper ones (AUC keeps 200 "
        "thresholds by default: num_thresholds=50)."
    ),
    "summaries": "Write summaries every n-th step only: with tf.summary.record_if(step % 100 == 0).",
}


def metrics(evidence: Evidence) -> Iterator[Finding]:
    """GRF002: what the training itself does not need, in each compiled function."""
    for function, step_ms in traced_functions(evidence):
        yield from _of(function, step_ms)


def _of(function: GraphFunction, step_ms: float) -> Iterator[Finding]:
    total = sum(row.ms for row in function.beside)
    share = total / step_ms
    if share < calibrated.MIN_METRICS.value:
        return
    named = [row for row in function.beside if row.ms >= calibrated.NAMED.value * total] or function.beside[:1]
    kinds = sorted({row.part for row in named})
    words = " and ".join(kinds)
    yield Finding(
        code=codes.METRICS,
        family="graph",
        title=f"{words.capitalize()} take {100 * share:.0f} % of every step",
        severity=graph_severity(share),
        share_of_step=share,
        predicted_speedup=1 / (1 - share),
        where=tuple(row.where for row in named if row.where is not None) or definition(function),
        evidence=(
            Measurement("metrics and summaries per step", total, "ms", WINDOW),
            Measurement("share of the step", share, "share", WINDOW),
        ),
        advice=" ".join(_ADVICE[kind] for kind in kinds),
    )
