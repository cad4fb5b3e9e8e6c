"""STP009: several steps in one call would save the calls.

At least half of the time around the compiled function goes with 32 steps in a call. At most all of it goes, and half of
the time between its operations.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import Pipelines
from tfperfkit.pricing import price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import FIT, find_call_at, name_receiver
from tfperfkit_rules.measures.compiled_calls import in_calls
from tfperfkit_rules.measures.growth import growth
from tfperfkit_rules.measures.room import HEADROOM_STEPS, MIN_HEADROOM, find_left
from tfperfkit_rules.measures.source_calls import find_methods
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span

TOGETHER = Threshold(
    32,
    "steps",
    "number of steps in one call, as offered",
    Chosen("3 % of the cost of a call remains, and logs stay readable"),
)
CALL_GONE_MIN = Threshold(
    0.5,
    "share",
    "minimum share saved with many steps in a call, of the time outside of the compiled step; at most all of it",
    Measured(
        "with 32 steps in a call 8 scripts became 1.06 to 1.9 times as fast: 0.5 to 1.4 of it was saved",
        TWO_BUSY_CORES,
        8,
    ),
)
GAPS_GONE = Threshold(
    0.5,
    "share",
    "maximum share saved of the time between operations of the compiled step: the start and the end of the call",
    Measured("see CALL_GONE_MIN", TWO_BUSY_CORES, 8),
)


TITLES = {"STP009": "Calling the compiled step from Python takes time"}


def several_steps(evidence: Evidence) -> Iterable[Finding]:
    """Headroom: ``steps_per_execution`` of ``fit``; a loop of steps inside one ``tf.function`` otherwise."""
    unit = evidence.unit
    clean = evidence.steps.clean
    if not clean or any(step.count > 1 for step in clean) or evidence.steps.count < HEADROOM_STEPS.value:
        return
    found = growth(evidence)
    sites = reached(evidence, "batch") or reached(evidence, "call", "apply")
    if found is None or not sites:
        return
    fit = sites[0].kind == "batch"
    # In a loop of the user's only the cost of calling the function goes: the user's own Python may be needed.
    around = found.around_ms if fit else evidence.part("dispatch") * in_calls(evidence)
    whole = found.step_ms + found.between_ms
    upper = around + GAPS_GONE.value * found.gaps_ms
    gained = price(Setting("steps_per_execution"), left=find_left(whole, CALL_GONE_MIN.value * around, upper))
    if gained.factor < MIN_HEADROOM.value:
        return
    place = span(evidence, sites[0].file, sites[0].line)
    yield Finding(
        code="STP009",
        remedy=Setting("steps_per_execution", int(TOGETHER.value)),
        title=f"Calling compiled functions from Python takes {100 * around / found.step_ms:.0f} % of {unit.a}",
        severity="info",
        share_of_step=min(around / found.step_ms, shared.MAX_STEP_SHARE.value),
        gain=gained,
        where=(place,),
        evidence=(*found.evidence(), Measurement("steps per call to try", float(TOGETHER.value), "count", "advice")),
        advice=_fit_advice(evidence, place) if fit else _loop_advice(evidence),
        parts=("dispatch", "eager_ops"),
        headroom=True,
    )


def _fit_advice(evidence: Evidence, fit: SourceSpan) -> str:
    compiled = find_methods(evidence, "compile")
    call = compiled[0][1] if len(compiled) == 1 else find_call_at(evidence, (fit.file, fit.line), FIT)
    return (
        f"Run {TOGETHER.value} steps in one call: {name_receiver(call)}.compile(..., "
        f"steps_per_execution={TOGETHER.value}). Callbacks then see one batch in {TOGETHER.value}."
    )


def _loop_advice(evidence: Evidence) -> str:
    """Return the advice for the input of the steps: a dataset, or arrays that the script makes itself."""
    unit = evidence.unit
    there = evidence.offer(Pipelines)
    taken = f"`for batch in dataset.take({TOGETHER.value}):` around {unit.the}"
    if there is None or not (there.feeds_steps or there.iterated):
        taken = f"stack them, and loop over the first axis (`for i in tf.range({TOGETHER.value}):`) around {unit.the}"
    return (
        f"Run {TOGETHER.value} batches in one call: {taken} inside a function with @tf.function. "
        "Log values once for all of them."
    )
