"""STP002: each step of ``fit`` is called from Python, which takes longer than computing it.

Reported for steps of at most 5 ms with at least 40 % around the compiled step. At least 90 % of that goes; at most the
start of the graph goes too.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.batch_cost import StepCost
from tfperfkit_rules.measures.called import FIT, find_call_at, name_receiver
from tfperfkit_rules.measures.fit_calls import costly_calls
from tfperfkit_rules.measures.graph_time import GRAPH_LEFT
from tfperfkit_rules.measures.source_calls import find_methods
from tfperfkit_rules.measures.step_shares import span

TOGETHER = Threshold(
    50,
    "steps",
    "number of steps in one call, as advised",
    Chosen("a fiftieth of a call's cost remains, and callbacks still hear of every 50th step"),
)
CALLS_SAVED_MIN = Threshold(
    0.9,
    "share",
    "minimum share of the Python outside of a call that is saved with TOGETHER steps in one call",
    Chosen("a fiftieth remains, and what callbacks do for each batch"),
)
LAUNCH_SAVED_MIN = Threshold(
    0.5,
    "share",
    "minimum share of a call's overhead (its time without operations) that occurs once for each call, not for each "
    "step",
    Measured(
        "0.24 of 0.41 ms of a call of 64 tiny operations: with 100 steps in one call 0.17 ms remained for each, 0.8 "
        "of the time between operations was gone",
        TWO_BUSY_CORES,
        1,
    ),
)
LAUNCH_SAVED_LIKELY = Threshold(
    0.8,
    "share",
    "likely share of a call's overhead that goes with many steps in one call",
    Measured("see LAUNCH_SAVED_MIN", TWO_BUSY_CORES, 1),
)
CALLS_LEFT = Threshold(
    1 / TOGETHER.value,
    "share",
    "minimum share of the Python outside of a call that remains",
    Derived("one call in TOGETHER steps"),
)


TITLES = {"STP002": "Model.fit steps cost more to call than to compute"}


def one_call_a_step(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, for ``fit`` with one step per execution and tiny compiled steps."""
    unit = evidence.unit
    found = costly_calls(evidence)
    if found is None:
        return
    cost, around = found.cost, found.around_ms
    gained = price(Setting("steps_per_execution"), left=_find_left(cost, found.launch_ms))
    fit = span(evidence, found.site.file, found.site.line)
    compiled = find_methods(evidence, "compile")
    first = (span(evidence, compiled[0][0], compiled[0][1].line),) if len(compiled) == 1 else ()
    model = name_receiver(compiled[0][1] if first else find_call_at(evidence, (fit.file, fit.line), FIT))
    yield Finding(
        code="STP002",
        remedy=Setting("steps_per_execution", int(TOGETHER.value)),
        title=TITLES["STP002"].replace("Model.fit", f"{model}.fit"),
        share_of_step=found.share,
        gain=gained,
        where=(*first, fit),
        evidence=(
            Measurement(f"time of {unit.a}", cost.step_ms, "ms", "baseline"),
            Measurement("time outside of the compiled step", around, "ms", "breakdown"),
            Measurement("time in operations of the compiled step", cost.operations_ms, "ms", "breakdown"),
            Measurement("steps", float(evidence.steps.count), "count", "run"),
            Measurement("steps per call to try", float(TOGETHER.value), "count", "advice"),
        ),
        advice=(
            f"Run {TOGETHER.value} steps in one call: {model}.compile(..., steps_per_execution={TOGETHER.value}). "
            f"Callbacks then see every {TOGETHER.value}th batch."
        ),
        detail=(
            f"Keras calls the compiled step, its callbacks and the iterator for each batch: {around:,.2f} of "
            f"{cost.step_ms:,.2f} ms. The operations themselves take {cost.operations_ms:,.2f} ms."
        ),
    )


def _find_left(cost: StepCost, launch_ms: float) -> Left:
    """Return what is left of a step. At worst the Python around goes, and of what starting a graph takes only what is
    paid for each call. At best all of that goes, and the operations stay."""
    around = cost.step_ms - cost.graph_ms - cost.input_ms
    worst_ms, likely_ms = (
        cost.step_ms - (around * CALLS_SAVED_MIN.value + launch_ms * saved) * (1 - 1 / TOGETHER.value)
        for saved in (LAUNCH_SAVED_MIN.value, LAUNCH_SAVED_LIKELY.value)
    )
    graph = max(GRAPH_LEFT.value * cost.operations_ms, shared.LEFT_MIN.value * cost.graph_ms)
    best_ms = graph + cost.input_ms + CALLS_LEFT.value * around
    return Left.of_step(min(best_ms, worst_ms), worst_ms, cost.step_ms, likely_ms)
