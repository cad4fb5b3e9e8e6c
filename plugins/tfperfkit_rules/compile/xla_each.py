"""The remaining time of a step in which XLA compiles each time: its operations, and compiling once."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.clock import ms
from tfperfkit.offers import XlaCompilations
from tfperfkit.pricing import costs
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time, shared

EACH_STEPS = Threshold(
    5, "steps", "minimum number of steps of which even the fastest compiles", Chosen("fewer show no pattern")
)
WITHOUT_XLA = Threshold(
    5.0,
    "number",
    "maximum ratio of a compiled step without XLA to the own time of its operations with XLA",
    Measured(
        "convolutions over sequences of 60 to 400 frames: operations of 4.6 ms with XLA, 9.8 ms a call without; steps "
        "of a recurrent network see PRODUCT_LOST and FUSED",
        TWO_BUSY_CORES,
        1,
    ),
)


def every_step(evidence: Evidence, data: XlaCompilations) -> tuple[float, float] | None:
    """(the least, the most) that compiling has of the mean step; None where not every step compiles, or the trace does
    not tell the operations.

    Making machine code, which the trace times, is only the last part of compiling. Here all of a compiled function's
    time that none of its operations ran is compiling, as even the fastest step has it.
    """
    trace, whole = graph_time.find_trace(evidence), evidence.step_ms
    steps = [ms(step.duration_ns) for step in evidence.steps.clean]
    if trace is None or not whole or len(steps) < EACH_STEPS.value:
        return None
    scale, rows = trace.scale, graph_time.rows(evidence)
    if not rows or data.count * scale < shared.MOSTLY.value or any(row.type == "XLA function" for row in rows):
        return None  # TensorFlow 2.16 tells no kernels of XLA on a CPU
    runs = scale * (sum(row.self_ms for row in rows) + trace.rest_ms)
    rest = whole - evidence.part("graph")
    if min(steps) - rest - runs < shared.MOSTLY.value * min(steps):
        return None
    call = costs.FUNCTION_CALL_MAX_MS.value
    left = rest + WITHOUT_XLA.value * runs + call + whole / len(steps)
    upper = min(1 - min(rest + costs.FUNCTION_CALL_MIN_MS.value, whole) / whole, shared.MAX_STEP_SHARE.value)
    lower = 1 - left / whole
    return (min(lower, upper), upper) if lower > 0 else None
