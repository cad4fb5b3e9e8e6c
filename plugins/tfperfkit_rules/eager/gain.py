"""Estimate the time of an eager step as a compiled step, from the operations that the trace measured.

``pricing.eager_ops`` prices the operations. Here are the facts about the step: what compiling leaves as it is.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Threshold
from tfperfkit.model import Elsewhere, Measurement
from tfperfkit.offers import InputPrefetch, RanOperations, StepBreakdown
from tfperfkit.pricing import Left, costs
from tfperfkit.pricing.bounds import Bounds, add_independent
from tfperfkit.pricing.costs import find_cost, list_costs
from tfperfkit.pricing.eager_ops import EagerOps, compile_ops, trace_once
from tfperfkit.pricing.run_time import pay_once
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import MIN
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import find_function
from tfperfkit_rules.measures.step_place import StepPlace

MIN_SHARE = Threshold(
    0.10,
    "share",
    "minimum share of the step in eager operations and the Python that dispatches them",
    Cited("XProf warns from 10 %"),
)
MIN_OPERATIONS = Threshold(
    30,
    "operations",
    "minimum number of operations of a step, for it to be worth compiling",
    Chosen("at 10 to 40 us each they take as long as one call of a compiled function, up to 1 ms"),
)
MIN_NUMPY = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the step in NumPy and its Python, for a finding of their own",
    Derived("XProf's moderate share of one part of a step"),
)
MAX_WAITED = Threshold(
    0.9,
    "share",
    "maximum share of its time that a thread is assumed to wait for a CPU",
    Chosen("beyond it a thread takes more than ten times as long as alone, and measurements say nothing"),
)
PYTHON_LEFT = Threshold(
    0.03,
    "share",
    "maximum share of the dispatching Python that remains (Keras' callbacks and metrics)",
    Chosen("one call instead of 30 (MIN_OPERATIONS) or more"),
)

#: Parts of a step that compiling it leaves as they are.
_KEPT: tuple[PartName, ...] = ("graph", "tracing", "saving", "gc", "copies", "collectives", "evaluate")


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """The estimate. Times are ms of the mean clean step; compiled it takes ``lower_ms`` to ``upper_ms``. ``traced_ms``:
    of tracing and first running it, once."""

    step_ms: float
    operations: float
    eager_ms: float
    dispatch_ms: float
    heavy_ms: float
    own_ms: float
    lower_ms: float
    upper_ms: float
    traced_ms: Bounds
    traced_by: str  # the window in which the operations were counted
    costs: tuple[Measurement, ...] = ()  # those of this machine that the estimate used

    @property
    def left(self) -> Left:
        """Return the rest of the step."""
        return Left.of_step(self.lower_ms, self.upper_ms, self.step_ms)

    @property
    def paid(self) -> tuple[Elsewhere, ...]:
        """Return the time that the run pays for the compiled step once."""
        return (pay_once(self.traced_ms, "tracing the compiled step"),)


def compiled(evidence: Evidence, place: StepPlace, *, without_own: bool = False) -> Compiled | None:
    """The estimate, or None when the step was not traced. ``without_own``: NumPy and Python in the step go too."""
    data, breakdown = evidence.offer(RanOperations), evidence.offer(StepBreakdown)
    account = evidence.account
    if data is None or not data.steps or breakdown is None or account is None or not account.parts_ms:
        return None
    traced = breakdown.parts_ms.get("eager_ops", 0.0)
    eager = evidence.part("eager_ops")
    rows = [row for row in data.rows if row.where == "eager"]
    if not rows or traced <= 0 or eager <= 0:
        return None
    scale = eager / traced / data.steps
    ops = EagerOps.split(rows, scale)
    count = sum(row.count for row in rows) / data.steps * _in_the_step(evidence)
    own, dispatch = _measure_own_python(evidence), handed_out(evidence)
    fetches, prefetch = evidence.part("input"), evidence.offer(InputPrefetch)
    waits = waiting(evidence)
    stays = evidence.part(*_KEPT) + (0.0 if without_own else _own_left(evidence, place, own))
    kept = (
        Bounds(stays, stays),
        Bounds(min(fetches, costs.FETCH_MS.value) if prefetch is not None and prefetch.there else fetches, fetches),
    )
    made = compile_ops(
        ops,
        ops.find_step_ms(place.updates, data.steps, evidence.cpus),
        find_cost(evidence, "call_ms").times(waits),
        find_cost(evidence, "graph_op_ms").times(waits * count),
        Bounds(0.0, evidence.part("host_sync", "other") + (PYTHON_LEFT.value * dispatch if place.by_keras else 0.0)),
    )
    step = account.mean_ms
    left = add_independent((*kept, made))
    upper = min(left.upper, shared.MAX_STEP_SHARE.value * step)
    return Compiled(
        step_ms=step,
        operations=count,
        eager_ms=eager,
        dispatch_ms=dispatch,
        heavy_ms=ops.heavy_ms,
        own_ms=own,
        lower_ms=min(left.lower, upper),
        upper_ms=upper,
        traced_ms=trace_once(ops, eager + dispatch),
        traced_by=evidence.offered_by(RanOperations),
        costs=tuple(list_costs(evidence, "call_ms", "graph_op_ms")),
    )


def waiting(evidence: Evidence) -> float:
    """How many times as long all takes that was measured on an idle machine, or undisturbed: the compiled step shares
    the processors with the same other programs as the step does now."""
    return 1 / (1 - min(evidence.waited_share or 0.0, MAX_WAITED.value))


def _in_the_step(evidence: Evidence) -> float:
    """The share of the eager operations that the step calls itself, not ``predict`` or ``evaluate`` within it."""
    seen = evidence.samples.activities["eager_ops"]
    return 1 - evidence.samples.evaluating["eager_ops"] / seen if seen >= MIN else 1.0


def _own_left(evidence: Evidence, place: StepPlace, own: float) -> float:
    """ms of the user's own Python that a compiled step keeps: what stands outside of the functions to be compiled.
    In them it runs while they are traced; where it takes much of the step it is NumPy, which something must replace."""
    if not place.functions or own >= MIN_NUMPY.value * (evidence.step_ms or 0.0):
        return own
    spans = [(span.file, find_function(evidence, span.file, span.line)) for span in place.functions]
    inside = [(file, item.first, item.last) for file, item in spans if item is not None]
    counted = Counter[bool]()
    for stack, count in evidence.samples.stacks.items():
        if stack.activity == "python" and stack.frames:
            counted[any(f.file == file and a <= f.line <= b for f in stack.frames for file, a, b in inside)] += count
    return own * counted[False] / counted.total() if counted.total() else own


def handed_out(evidence: Evidence) -> float:
    """ms of a step in TensorFlow's and Keras' Python: what is not the user's own."""
    return max(0.0, evidence.part("python", "dispatch") - _measure_own_python(evidence))


def _measure_own_python(evidence: Evidence) -> float:
    """ms of the user's own Python and NumPy in a step. Samples of Python fall where it lets go of the interpreter,
    so their share of the step is nearer to the truth than their share of all Python."""
    there = evidence.part("python", "dispatch")
    samples = evidence.samples
    if evidence.account is None or samples.tensorflow_total is None:
        return min(there, evidence.part("python"))
    own = sum(samples.doing_innermost(leaf)["python"] for leaf in samples.leaves())
    return min(there, own / samples.count * evidence.account.mean_ms)
