"""EAG007: in each step the weights of a network go through NumPy (``get_weights``, ``set_weights``)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfperfkit.evidence import Evidence
from tfperfkit.gain import MEDIUM, interval, middle, severity, speedups
from tfperfkit.model import Finding, Measurement
from tfperfkit.samples import LEAST
from tfperfkit_rules.eager_source import enclosing
from tfperfkit_rules.step_shares import LineShare, callers, line_shares, span, text_of, window

_WEIGHTS = re.compile(r"\.(get|set)_weights\(")
_LIBRARY = ("dispatch", "eager_ops", "host_sync")
#: What assigning in a compiled function leaves of that time. Measured on two busy cores, the soft updates of two target
#: networks of 0.3 million weights each: 34.7 ms a step became 20.7 ms, of which these lines had had 45 to 61 %.
LEFT = (0.05, 0.4)


def weights_through_numpy(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for lines that copy all weights in or out, and the NumPy between them."""
    rows = [row for row in line_shares(evidence, _LIBRARY, _LIBRARY) if _WEIGHTS.search(text_of(evidence, row.place))]
    if not rows or evidence.samples.count < LEAST:
        return
    rows += _between(evidence, rows)
    share = min(0.99, sum(row.share for row in rows))
    if share < MEDIUM:
        return
    low, high = interval(share, evidence.samples.count)
    bounds = speedups(low * (1 - LEFT[1]), high * (1 - LEFT[0]))
    places = [row.place for row in sorted(rows, key=lambda row: -row.share)]
    lines = [span(evidence, *place) for place in places if _WEIGHTS.search(text_of(evidence, place))][:3]
    yield Finding(
        code="EAG007", family="eager", title="Each step copies a network's weights to NumPy and back",
        severity=severity(1 - 1 / bounds[0]), share_of_step=share, predicted_speedup=middle(bounds),
        predicted_range=bounds, where=tuple(dict.fromkeys((*lines, *callers(evidence, places[0])[:1]))),
        evidence=(
            Measurement("time in these lines", share, "share", window(evidence)),
            Measurement("time in them per step", share * (evidence.step_ms or 0.0), "ms", window(evidence)),
            Measurement("samples", float(evidence.samples.count), "count", "baseline"),
        ),
        advice=(
            "Assign the variables within TensorFlow, in one function with @tf.function that uses both models: for a, b "
            "in zip(target.variables, model.variables): a.assign(...). Use the models from outside of the function; a "
            "list of variables given to it as an argument arrives as tensors. Or do it every hundredth step."
        ),
        detail="get_weights reads the variables one by one, and set_weights checks and assigns them one by one.",
        absorbs_here=("LIN001", "SYN001"),
    )


def _between(evidence: Evidence, rows: list[LineShare]) -> list[LineShare]:
    """The person's own Python in the functions that hold these lines: NumPy on the copies."""
    functions = {(row.place[0], enclosing(evidence, *row.place)) for row in rows}
    return [
        row for row in line_shares(evidence, ("python",), ("python",))
        if (function := enclosing(evidence, *row.place)) is not None and (row.place[0], function) in functions
    ]
