"""EAG017: ``predict`` or ``evaluate`` gets the same data again, with the same weights.

When a call ends, tfperf compares the types, the shapes and a sample of the numbers in its data and in its result with
those of earlier calls. The finding is reported if at least half of the calls at a line are repeats. The gain leaves
them out.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit_probes.input.model import AskedAgain, InputData

from tfperfkit.gain import MEDIUM
from tfperfkit.model import Basis, Finding, Measurement
from tfperfkit.pricing import Part, price
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import EVALUATE, PREDICT, find_call_at, name_receiver
from tfperfkit_rules.measures.loop_iterations import basis, stretch, where
from tfperfkit_rules.measures.predicting import predicting
from tfperfkit_rules.measures.step_shares import callers

TITLES = {"EAG017": "model.predict repeated on the same data and weights"}

#: Other findings that such calls cause.
_SAME_CALLS = ("EAG004", "LIN001", "STP001", "STP006", "INP001", "INP012", "INP013", "RET008", "RET012", "RET014")


def same_again(evidence: Evidence) -> Iterable[Finding]:
    """Report the line that takes most of a work or an iteration, by samples; else of the run, by wall-clock time."""
    data = evidence.offer(InputData)
    rows = [row for row in data.asked_again if 2 * row.repeats >= row.calls] if data is not None else []
    if not rows:
        return
    row = max(rows, key=lambda item: item.in_vain)
    iterations = stretch(evidence)
    if iterations is not None:
        found = predicting(evidence, iterations.found).at
        share = found[row.file, row.line] / iterations.whole * row.in_vain / row.seconds
        if share >= MEDIUM:
            yield _make_finding(evidence, row, share, len(iterations.found), basis(evidence, iterations.iteration_ms))
            return
    whole, steps = evidence.run.wall_s, evidence.steps.steps
    # A call before or after the steps is separate work.
    within = bool(steps) and row.begin_ns < steps[-1].end_ns and row.end_ns > steps[0].begin_ns
    if within and evidence.work is None and whole > 0 and row.in_vain >= MEDIUM * whole:
        yield _make_finding(evidence, row, row.in_vain / whole, 0, "run")


def _make_finding(evidence: Evidence, row: AskedAgain, share: float, samples: int, of: Basis) -> Finding:
    """``samples`` 0: the share is of wall-clock time."""
    place = row.file, row.line
    model = name_receiver(find_call_at(evidence, place, EVALUATE if row.way == "evaluate" else PREDICT))
    spans = [*where(evidence, [place]), *([row.before] if row.before is not None else callers(evidence, place))]
    others = row.calls - row.repeats - (row.before is None)
    return Finding(
        code="EAG017",
        remedy=Rewrite("repeated"),
        title=_title(f"{model}.{row.way}", row),
        basis=of,
        share_of_step=min(share, 1.0),
        gain=price(Rewrite("repeated"), Part.sampled(share, samples)),
        where=tuple(dict.fromkeys(spans)),
        evidence=(
            Measurement("calls at this line", float(row.calls), "count", "run"),
            Measurement("calls that repeat an earlier one", float(row.repeats), "count", "run"),
            Measurement("time in repeated calls", 1e3 * row.in_vain, "ms", "run"),
            *([Measurement("samples", float(samples), "count", "baseline")] if samples else []),
        ),
        advice=_advice(f"{model}.{row.way}", row, others),
        detail=(
            "tfperf compared a sample of the numbers in the data and in the results. Other weights or other data would "
            "give other results."
        ),
        absorbs_here=_SAME_CALLS,
        parts=("evaluate", "graph", "dispatch", "eager_ops", "tracing", "input", "other")
        if evidence.work is not None
        else (),
    )


def _title(call: str, row: AskedAgain) -> str:
    if row.before is not None:
        times = "" if row.repeats == 1 else f", {row.repeats:,} times"
        return f"{call} repeated on the same data and weights as line {row.before.line}{times}"
    if row.repeats == row.calls - 1:
        return f"{call} repeated on the same data and weights, {row.calls:,} calls"
    return f"{call} repeated on the same data and weights, {row.repeats:,} of {row.calls:,} calls"


def _advice(call: str, row: AskedAgain, others: int) -> str:
    if row.before is not None:
        return f"Keep the result of line {row.before.line} and use it here."
    if not others:
        return f"Call {call} once, before the loop, and reuse its result."
    return f"Keep the result of {call} for each data set in a dictionary. Empty the dictionary when the weights change."
