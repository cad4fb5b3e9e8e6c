"""Estimate the time of an eager step as a compiled step, from the operations that the trace measured.

The work of the kernels remains, beyond the time of a kernel on a negligible input. Everything around a kernel goes:
finding it, checking its inputs, recording them for a tape, creating result objects, and the Python of TensorFlow and
Keras. A call of a compiled function is added, and the overhead of the graph's runtime for each operation. A graph also
omits gradients that nobody uses, and runs independent operations in parallel.

Each of these terms has a lower and an upper bound. Their errors are independent, so the range of the sum adds them by
squares, not all at their worst.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.model import Measurement
from tfperfkit.offers import InputPrefetch, RanOperation, RanOperations, StepBreakdown
from tfperfkit.pricing import Left, costs
from tfperfkit.pricing.bounds import Bounds, together
from tfperfkit.pricing.costs import find_cost, list_costs
from tfperfkit.pricing.machines import MEASURED_ON
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
AGAIN = Threshold(
    1.1,
    "number",
    "factor by which a compiled step differs between runs, in addition to what the model does not know",
    Chosen("runs of one script differ by as much on a shared machine, see MIN_HEADROOM"),
)
MAX_WAITED = Threshold(
    0.9,
    "share",
    "maximum share of its time that a thread is assumed to wait for a CPU",
    Chosen("beyond it a thread takes more than ten times as long as alone, and measurements say nothing"),
)
LIGHT_SIDE_BY_SIDE = Threshold(
    0.5,
    "share",
    "minimum share of elementwise work in eager kernels that remains in a graph, where it runs next to other work",
    Derived("two threads run side by side what one ran in sequence; without XLA hardly anything is fused"),
)
PYTHON_LEFT = Threshold(
    0.03,
    "share",
    "maximum share of the dispatching Python that remains (Keras' callbacks and metrics)",
    Chosen("one call instead of 30 (MIN_OPERATIONS) or more"),
)
SHORT_MS = Threshold(
    1.0,
    "ms",
    "minimum time of a heavy operation: shorter ones spend much of their time on waking threads",
    Chosen("ten times DIVIDED_MS, the shortest operation that is divided"),
)
SHORT_LEFT = Threshold(
    0.5,
    "share",
    "minimum share of such short operations that remains in a graph",
    Chosen("work and waking take equally long then"),
)
OVERLAP_ONE = Threshold(
    1.15,
    "number",
    "maximum speed-up of heavy operations of one chain in a graph, from running next to others",
    Chosen("only the gradients of weights can: one of three matmuls, in part"),
)
OVERLAP_MANY = Threshold(
    1.6,
    "number",
    "maximum speed-up of the updates of two networks, if there are cores for both",
    Measured("1.2 to 1.7 for two independent chains of convolutions", MEASURED_ON, 5, "overlap"),
)
HEAVY_LEFT = Threshold(
    0.3,
    "share",
    "minimum share of heavy work that remains after pruning",
    Chosen("the forward pass, one of three matmuls of the same size, is always needed"),
)
FIRST_INPUT = Threshold(
    0.5,
    "share",
    "maximum share of the backward work that is the gradient of a network's input",
    Chosen("one of two matmuls of the same size"),
)

#: Operations that a compiled step still computes, even if others are fused or reordered around them.
HEAVY = optable.names(trait="heavy") | optable.names(kind=("sort", "decomposition", "solve", "fft"))
#: These do no work of their own, however long the runtime takes over them.
FREE = optable.names(trait="instant")
SMALL = costs.SMALL_OPERATION.value
#: Parts of a step that compiling it leaves as they are.
_KEPT: tuple[PartName, ...] = ("graph", "tracing", "saving", "gc", "copies", "collectives", "evaluate")


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """The estimate. Times are ms of the mean clean step; compiled it takes ``lower_ms`` to ``upper_ms``."""

    step_ms: float
    operations: float
    eager_ms: float
    dispatch_ms: float
    heavy_ms: float
    own_ms: float
    lower_ms: float
    upper_ms: float
    traced_by: str  # the window in which the operations were counted
    costs: tuple[Measurement, ...] = ()  # those of this machine that the estimate used

    @property
    def left(self) -> Left:
        """Return the rest of the step."""
        return Left.of_step(self.lower_ms, self.upper_ms, self.step_ms)


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
    tiny = tiny_of(rows)
    heavy = [row for row in rows if row.type in HEAVY]
    light = [row for row in rows if row not in heavy and row.type not in FREE]
    count = sum(row.count for row in rows) / data.steps * _in_the_step(evidence)
    own, dispatch = _measure_own_python(evidence), handed_out(evidence)
    fetches, prefetch = evidence.part("input"), evidence.offer(InputPrefetch)
    waits = waiting(evidence)
    stays = evidence.part(*_KEPT) + (0.0 if without_own else _own_left(evidence, place, own))
    heavy_ms = work_of(heavy, tiny) * scale
    kept = (
        Bounds(stays, stays),
        Bounds(min(fetches, costs.FETCH_MS.value) if prefetch is not None and prefetch.there else fetches, fetches),
    )
    made = (
        find_cost(evidence, "call_ms").times(waits),
        find_cost(evidence, "graph_op_ms").times(waits * count),
        Bounds(_heavy_lower(evidence, heavy, tiny, place, data.steps) * scale, heavy_ms),
        light_bounds(light, tiny, scale),
        Bounds(0.0, evidence.part("host_sync", "other") + (_python_left(dispatch) if place.by_keras else 0.0)),
    )
    step = account.mean_ms
    left = together((*kept, together(made).within(AGAIN.value)))
    upper = min(left.upper, shared.MAX_STEP_SHARE.value * step)
    return Compiled(
        step_ms=step,
        operations=count,
        eager_ms=eager,
        dispatch_ms=dispatch,
        heavy_ms=heavy_ms,
        own_ms=own,
        lower_ms=min(left.lower, upper),
        upper_ms=upper,
        traced_by=evidence.offered_by(RanOperations),
        costs=tuple(list_costs(evidence, "call_ms", "graph_op_ms")),
    )


def light_bounds(light: list[RanOperation], tiny: float, scale: float) -> Bounds:
    """Elementwise work, at best side by side with other work."""
    lower = LIGHT_SIDE_BY_SIDE.value * work_of(light, SMALL * tiny) * scale
    return Bounds(lower, work_of(light, tiny) * scale)


def waiting(evidence: Evidence) -> float:
    """How many times as long all takes that was measured on an idle machine, or undisturbed: the compiled step shares
    the processors with the same other programs as the step does now."""
    return 1 / (1 - min(evidence.waited_share or 0.0, MAX_WAITED.value))


def _heavy_lower(evidence: Evidence, heavy: list[RanOperation], tiny: float, place: StepPlace, steps: int) -> float:
    """ms of heavy work over the traced steps, at best: without what nobody uses, side by side, on threads that wait."""
    whole = undivided(heavy, tiny)
    needed = max(whole - _pruned(heavy, SMALL * tiny, place.updates, steps), HEAVY_LEFT.value * whole)
    return needed / (_overlap(place.updates) if evidence.cpus > 1 else 1.0)


def undivided(heavy: list[RanOperation], tiny: float) -> float:
    """ms of heavy work at best: without what short operations spend on waking threads."""
    short = [row for row in heavy if row.self_ms < SHORT_MS.value * row.count]
    return work_of(heavy, SMALL * tiny) - (1 - SHORT_LEFT.value) * work_of(short, SMALL * tiny)


def _python_left(dispatch: float) -> float:
    return PYTHON_LEFT.value * dispatch


def _overlap(updates: int) -> float:
    return OVERLAP_MANY.value if updates > 1 else OVERLAP_ONE.value


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


def is_of(row: RanOperation, types: tuple[str, ...]) -> bool:
    """Whether an operation is of one of these types, by a part of its name."""
    return any(part in row.type for part in types)


def tiny_of(rows: list[RanOperation]) -> float:
    """Return the ms of an operation on a negligible input: the lower quartile over all that ran, by type."""
    light = sorted((_took(row) / row.count, row.count) for row in rows if row.count and row.type not in HEAVY)
    whole, seen = sum(count for _, count in light), 0
    for each, count in light:
        seen += count
        if seen >= costs.TINY_OPERATIONS.value * whole:
            return each
    return 0.0


def _took(row: RanOperation) -> float:
    """ms in the kernels, undisturbed; of a trace that does not tell, in the operations."""
    return row.self_ms if row.kernel_ms is None else row.kernel_ms


def work_of(rows: list[RanOperation], tiny: float) -> float:
    """Return the ms of operations beyond the time of an operation on a negligible input."""
    return sum(max(0.0, _took(row) - row.count * tiny) for row in rows)


def _pruned(heavy: list[RanOperation], tiny: float, updates: int, steps: int) -> float:
    """ms, over the traced steps, of heavy work whose result nobody uses: a tape also computes the gradients of the
    first layer's input, and with several updates those of the other networks' weights. A graph leaves them out."""
    backward = [row for row in heavy if "Backprop" in row.type or "Grad" in row.type]
    first = sum(work_of([row], tiny) / row.count * steps for row in backward if "Input" in row.type and row.count)
    whole = work_of(backward, tiny)
    return max(whole * (updates - 1) / updates, min(first, FIRST_INPUT.value * whole))
