"""CMP002: elementwise operations that XLA could fuse, by their share of the traced steps. CMP004: tracing and compiling
dominate the run.

The gain of CMP002 starts at none: on a CPU, XLA often gains nothing. It is silent on a CPU with convolutions, sines or
hyperbolic tangents, which XLA slows down. CMP004 counts tracing and the extra time of first runs, without avoidable
retraces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit import calibration, gain
from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.clock import ms
from tfperfkit.graph import optable
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import AvoidableTracing, FunctionCosts, RanOperation
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import KeepTrace, Setting
from tfperfkit.rule import Evidence, Unit
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.compile import xla_place
from tfperfkit_rules.compile.elementwise import Elementwise, elementwise_lines
from tfperfkit_rules.measures import graph_time, shared
from tfperfkit_rules.measures.source_calls import list_files
from tfperfkit_rules.measures.xla_shapes import compiled_by_xla

#: The titles of the findings' pages.
TITLES = {
    "CMP002": "Elementwise operations run one by one without XLA",
    "CMP004": "Tracing and compiling tf.functions dominate the run",
}

ELEMENTWISE = Threshold(
    0.5, "share", "minimum share of the step in operations that XLA fuses", Chosen("the larger half of the step")
)
FUSED = Threshold(
    0.8,
    "share",
    "maximum share of elementwise operations that XLA saves on a CPU",
    Measured(
        "chains of products, sums, exponentials and softplus over 10 to 1,000,000 numbers ran 0.9 to 5.2 times as "
        "fast (saved up to 0.81), in alternating calls with and without XLA; whole steps 1.25, 2.9 and 3.9 times",
        TWO_BUSY_CORES,
        None,
        "xla_elementwise",
    ),
)
PROPER = Threshold(
    ELEMENTWISE.value / 2,
    "share",
    "minimum share of the step in elementwise operations proper, without the slices and sums that are fused with them",
    Derived("half of ELEMENTWISE: fusing needs something to fuse with"),
)
LONG_MS = Threshold(
    0.05,
    "ms",
    "minimum time of an operation: shorter ones are limited by dispatch, not by memory",
    Chosen("more than ten times GRAPH_OP_MAX_MS, so at most a tenth of it is dispatch"),
)
SLOW_SHARE = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "maximum share of the step in sines and the like for XLA to be offered",
    Measured(
        "XLA's sines took up to 5 times as long on a CPU, its tanh 0.13 to 2.1 times; a step with cosines 2.2 to 4.4 "
        "times at a load of 13 and more, 0.5 to 1.3 times at a load of 6",
        TWO_BUSY_CORES,
        None,
    ),
)
PRODUCT_LOST = Threshold(
    0.5,
    "share",
    "share of the time of matmuls that XLA adds on a CPU",
    Measured("matmuls took 0.8 to 2.1 times as long", TWO_BUSY_CORES, None, "xla_product"),
)
CONVOLUTIONS = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "maximum share of the step in convolutions for XLA to be offered on a CPU",
    Measured("XLA's convolutions took 1.1 to 4.4 times as long", TWO_BUSY_CORES, None),
)
MANY_OPERATIONS = Threshold(
    5000, "operations", "largest graph for which XLA is advised", Chosen("XLA compiles larger graphs for minutes")
)
RUN_SHARE = Threshold(
    2 * calibration.SEVERITY_HIGH.value,
    "share",
    "minimum share of the run in tracing and compiling",
    Derived("twice a high share: every run spends some of its time there, and a longer run less"),
)
RUN_S = Threshold(10.0, "s", "minimum time in tracing and compiling", Chosen("a shorter wait is not worth a change"))
SIBLINGS_HEAVY = Threshold(
    48,
    "operations",
    "minimum number of matmuls and convolutions of a graph for a loop that makes layers side by side to be named",
    Chosen("three, with the gradients, for each of sixteen layers"),
)

#: Operations that XLA computes slowly on a CPU, see ``SLOW_SHARE``.
SLOW_TYPES = optable.names(trait="slow-in-xla")


def many_small_operations(evidence: Evidence) -> Iterator[Finding]:
    """CMP002: elementwise operations that XLA would fuse, where that was measured to help."""
    unit = evidence.unit
    functions = [(brief, n) for brief, n in graph_time.list_called(evidence) if not brief.jit_compile]
    if not functions or compiled_by_xla(evidence) or xla_place.auto_jit(evidence):
        return
    share = graph_time.share(evidence, _fused)
    proper = graph_time.share(evidence, graph_time.is_elementwise)
    if share < ELEMENTWISE.value or proper < PROPER.value:
        return
    lost = 0.0
    if not evidence.accelerated:
        slow = graph_time.share(evidence, lambda row: row.type in SLOW_TYPES)
        heavy = graph_time.share(evidence, graph_time.is_arithmetic)
        convolutions = graph_time.share(evidence, lambda row: "Conv" in row.type)
        if slow > SLOW_SHARE.value or convolutions > CONVOLUTIONS.value:
            return
        lost = PRODUCT_LOST.value * heavy
    upper = FUSED.value * share - lost
    if upper < gain.MEDIUM:
        return
    function = max(functions, key=lambda found: found[0].elementwise)[0]
    if function.operations > MANY_OPERATIONS.value:
        return
    name = function.function if function.owner == "user" else "the model"
    code = f"@tf.function(jit_compile=True) at {name}" if function.owner == "user" else "compile(..., jit_compile=True)"
    mostly = elementwise_lines(evidence)
    yield Finding(
        code="CMP002",
        remedy=Setting("jit_compile", "on"),
        share_of_step=share,
        title=f"Elementwise operations run one by one without XLA, {100 * share:.0f} % of {unit.a}",
        gain=price(Setting("jit_compile"), Part(0.0, upper)),
        where=tuple(dict.fromkeys((*mostly.lines, *xla_place.function_lines(evidence, function)))),
        evidence=(
            Measurement(
                f"share of elementwise operations, slices and sums in {evidence.unit.the}", share, "share", "breakdown"
            ),
            Measurement("elementwise operations in a call", function.elementwise, "count", "run"),
        ),
        advice=f"Try {code}, and keep it only if {unit.a} gets shorter.",
        detail=f"Each operation reads and writes memory; XLA fuses chains of operations into one pass.{_size(mostly)}",
    )


def _size(mostly: Elementwise) -> str:
    """Return what the costliest line makes: fewer numbers gain more than fewer passes, where not all of them count."""
    if not mostly.shape:
        return ""
    return (
        f" Line {mostly.lines[0].line} makes tensors of {mostly.shape}, {mostly.numbers:,} numbers: if a mask sets "
        "most of these to zero, computing only the others gains more."
    )


def _fused(row: RanOperation) -> bool:
    return graph_time.is_fusable(row) and row.self_ms >= LONG_MS.value * row.count


def run_spent_on_compiling(evidence: Evidence) -> Iterator[Finding]:
    """CMP004: tracing, optimising and compiling are a good part of the whole run."""
    warm, wall = evidence.warm_up, evidence.run.wall_s
    if warm is None or wall <= 0:
        return
    first_runs = warm.parts_s.get("compile and first runs", 0.0)
    traced = evidence.offer(AvoidableTracing)  # what could be avoided is reported with its cause
    tracing = ms(sum(end - begin for begin, end in evidence.tracing)) / 1e3
    tracing = max(0.0, tracing - (traced.ms / 1e3 if traced else 0.0))
    share = min((tracing + first_runs) / wall, shared.MAX_RUN_SHARE.value)
    if share < RUN_SHARE.value or tracing + first_runs < RUN_S.value:
        return
    costs = evidence.offer(FunctionCosts)
    known = sorted(costs.functions if costs else (), key=lambda each: -(each.trace_ms + (each.first_execution_ms or 0)))
    where = xla_place.function_lines(evidence, known[0]) if known else ()
    largest = f" The largest is {known[0].function}, with {known[0].operations:,} operations." if known else ""
    numbers = [
        Measurement("tracing, without avoidable retraces", tracing, "s", "run"),
        Measurement("compile and first runs", first_runs, "s", "run"),
        Measurement("share of the run", share, "share", "run"),
    ]
    if known:
        numbers.append(Measurement("operations of the largest function", known[0].operations, "count", "run"))
    many = bool(known) and known[0].heavy >= SIBLINGS_HEAVY.value
    siblings = sibling_layers(evidence) if many else None
    yield Finding(
        code="CMP004",
        remedy=KeepTrace("models"),
        basis="run",
        share_of_step=share,
        where=where if siblings is None else tuple(dict.fromkeys((siblings.place, *where))),
        evidence=tuple(numbers),
        title=f"Tracing and compiling tf.functions dominate the run at {100 * share:.0f} %"
        + (", for layers that a loop makes" if siblings is not None else ""),
        advice=_one_layer(siblings, evidence.unit)
        if siblings is not None
        else (
            "Create models, optimizers and tf.functions once, before the loop. If each iteration trains from the "
            "start, call model.set_weights(start) in the loop, and reset the optimizer. Or, if AutoGraph unrolls a "
            "Python loop: write for i in tf.range(n). Or: run longer, which amortises this one-time cost."
        ),
        detail=f"TensorFlow traces and optimises each function before its first run.{largest}",
    )


def _one_layer(siblings: Siblings, unit: Unit) -> str:
    units = "units" if siblings.layer == "Dense" else "filters"
    return (
        f"Replace the layers that line {siblings.place.line} makes in a loop with one layers.{siblings.layer} that "
        "has the "
        f"{units} of all, called once on {siblings.given}. Slice its last axis for each result, and use one loss and "
        f"one metric. Tracing and the operations of {unit.every} then no longer grow with their number."
    )


#: Layers that compute each of their units, or filters, independently.
_BY_UNITS = ("Dense", "Conv1D", "Conv2D", "Conv3D")


class Siblings(NamedTuple):
    """The place where an iteration's layer is made, its Keras class, and the name of the tensor that all layers are
    called on.
    """

    place: SourceSpan
    layer: str
    given: str


def sibling_layers(evidence: Evidence) -> Siblings | None:
    """Find the first such loop."""
    return next((found for file, syntax in list_files(evidence) for found in _find_siblings(file, syntax)), None)


def _find_siblings(file: str, syntax: Syntax) -> Iterator[Siblings]:
    for loop in syntax.loops:
        bound = loop.bound_names
        for call in loop.calls if loop.targets else ():
            made = call.function
            layer = made.name.removeprefix("keras.layers.") if isinstance(made, Call) else ""
            given = call.arguments[0] if call.arguments else None
            if layer in _BY_UNITS and given is not None and given.kind == "name" and given.text not in bound:
                yield Siblings(SourceSpan(file, call.line), layer, given.text)
