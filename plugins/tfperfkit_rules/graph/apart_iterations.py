"""GRF008: a loop that tracing unrolled although no iteration needs the result of another: one operation does for
all."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import Brief, Control

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.clock import MS_PER_S
from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import CompiledFunctions, ComputedOperation, ComputedStep, FunctionCalls
from tfperfkit.pricing import Part, costs, price
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.graph.functions import counted, definition, largest_first, once, places
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.growth import tiny_of

TITLES = {"GRF008": "Unrolled loop in tf.function with independent iterations"}

APART_ITERATIONS = Threshold(
    8,
    "copies",
    "minimum number of independent copies of a loop's body",
    Chosen("as MIN_ITERATIONS of eager loops: shorter loops go over layers, heads or networks"),
)
MIN_APART = Threshold(
    2 * calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the step in such a loop",
    Derived("twice XProf's moderate share of one part of a step: about half of it is saved"),
)
GAPS_GO = Threshold(
    0.5,
    "share",
    "minimum share saved of the time between the operations of such a loop",
    Chosen("the middle: the start and the end of the call remain"),
)


def apart_iterations(evidence: Evidence) -> Iterator[Finding]:
    """GRF008, for the loops in compiled functions that the steps call, Keras' own included: a layer's ``call``."""
    calls = evidence.offer(FunctionCalls)
    if calls is None:
        return
    yield from once(
        finding
        for function in largest_first(evidence)
        if function.graph in calls.per_step
        for loop in _outer([each for each in function.marks.unrolled if _is_reported(each)])
        if (finding := _judge_loop(evidence, function, loop)) is not None
    )


def _is_reported(loop: Control) -> bool:
    return loop.apart and not loop.per_variable and loop.copies >= APART_ITERATIONS.value


def _outer(loops: list[Control]) -> list[Control]:
    """Without those inside of others."""
    return [
        each
        for each in loops
        if not any(
            other is not each and other.file == each.file and other.line < each.line <= other.last for other in loops
        )
    ]


def _judge_loop(evidence: Evidence, function: Brief, loop: Control) -> Finding | None:
    unit = evidence.unit
    step, account = evidence.offer(ComputedStep), evidence.account
    took = lines_ms(evidence, loop.file, loop.line, loop.last)
    if step is None or account is None or step.ms <= 0 or not account.mean_ms or took <= 0:
        return None
    scale = min(1.0, evidence.part("graph") / step.ms) / account.mean_ms
    forward = max(function.operations - function.gradient_operations, 1)
    first_ms = function.first_execution_ms or 0.0
    part = min(1.0, loop.ops / forward)  # by their number: a gradient's operations have another line
    runs = part * sum(row.runs for row in step.operations if row.stage != "update")
    gaps = part * step.idle_ms  # the runtime passes from one operation to the next
    share = scale * (took + gaps)
    if share < MIN_APART.value:
        return None
    once_for_all = 1 - 1 / loop.copies
    traced_s = once_for_all * part * (max(function.traces, 1) * function.trace_ms + first_ms) / MS_PER_S
    of_run = traced_s / evidence.run.wall_s if evidence.run.wall_s > 0 else 0.0
    starting = min(took, runs * tiny_of(step.operations) + _slices_ms(step, loop))
    arithmetic = _arithmetic_ms(evidence, step, loop)
    lower = scale * once_for_all * (starting + GAPS_GO.value * gaps)
    upper = scale * once_for_all * max(starting + gaps, took + gaps - arithmetic)
    return Finding(
        code="GRF008",
        title=f"Unrolled {_name(loop)} in {loop.function} with {loop.copies:,} independent iterations",
        share_of_step=min(share, 1.0),
        gain=price(Rewrite(), Part(lower, min(upper, share))),
        where=places([SourceSpan(loop.file, loop.line, loop.function), definition(function)]),
        evidence=(
            counted("copies of the loop body", loop.copies),
            counted("operations of the loop", loop.ops),
            Measurement(f"loop operations that run in {unit.a}, gradients included", runs, "count", "tfprof"),
            Measurement("time in the loop's operations", took * scale * account.mean_ms, "ms", "tfprof"),
            Measurement("idle time between the loop's operations", gaps * scale * account.mean_ms, "ms", "tfprof"),
            Measurement(f"share of {unit.the}", min(share, 1.0), "share", "tfprof"),
            Measurement("tracing and first run of the copies", traced_s, "s", "run"),
        ),
        advice=(
            "Replace the loop with one operation over the whole axis: use x instead of x[:, i], with tf.matmul, "
            "tf.einsum or a sum over an axis. Or: let tf.vectorized_map batch the body."
        ),
        detail="Each copy does the same to another slice of the input. TensorFlow starts every operation of each copy, "
        "and the gradient of each slice (x[:, i]) is as large as x." + _once(traced_s, of_run, unit),
        # Copies that are most of a function are what its tracing takes long for.
        absorbs=("CMP004",) if part >= shared.MOSTLY.value else (),
        # If tracing is more of the run than the copies are of a step, it is reported first.
        absorbs_here=("OPS001",) if of_run <= share else (),
        parts=("graph",),
    )


def _once(traced_s: float, of_run: float, unit: Unit) -> str:
    """Describe the saving outside of the steps, if it is worth a sentence."""
    if of_run < MEDIUM:
        return ""
    share = f"{100 * of_run:.0f} % of this run"
    return f" The change also saves {traced_s:,.0f} s of tracing and first runs, {share}."


def _name(loop: Control) -> str:
    return "comprehension" if loop.statement == "comprehension" else f"{loop.statement} loop"


def lines_ms(evidence: Evidence, file: str, first: int, last: int) -> float:
    """ms of a traced step in compiled functions at these lines and in what they call, each moment once."""
    data = evidence.offer(CompiledFunctions)
    total = 0.0
    for function in data.functions if data is not None else ():
        inside: set[int] = set()
        for number, row in enumerate(function.lines):  # parents stand before their children
            if row.parent in inside:
                inside.add(number)
            elif row.file == file and first <= row.line <= last:
                inside.add(number)
                total += row.ms
    return total


def _slices_ms(step: ComputedStep, loop: Control) -> float:
    """Sum the time of slice gradients: each copy's makes a tensor as large as the whole that the copies slice."""
    return sum(row.ms for row in _inside(step, loop) if row.type == "StridedSliceGrad")


def _inside(step: ComputedStep, loop: Control) -> list[ComputedOperation]:
    return [row for row in step.operations if row.file == loop.file and loop.line <= row.line <= loop.last]


def _arithmetic_ms(evidence: Evidence, step: ComputedStep, loop: Control) -> float:
    """The loop's arithmetic at the best rate: what stays whoever calls it."""
    flops = sum(row.flops or 0.0 for row in _inside(step, loop))
    return costs.find_work_ms(evidence.machine_gflops, flops, 0.0).lower if evidence.machine_gflops else 0.0
