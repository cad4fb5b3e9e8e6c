"""STP002: each step of ``fit`` pays for its own call from Python."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.evidence import Evidence
from tfperfkit.gain import middle, severity, speedup
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit_rules.batch_cost import StepCost, step_cost
from tfperfkit_rules.eager_place import reached
from tfperfkit_rules.step_shares import span

#: What a step pays beside its operations must be this share of it, and a step no longer than this (ms): beyond, what
#: one call costs (0.3 to 1 ms) is small.
LEAST_SHARE, LONGEST_MS = 0.4, 5.0
#: Fewer steps than this pass quickly either way.
LEAST_STEPS = 1000
#: What the advice asks for, and what of the calls' cost it leaves.
TOGETHER = 50
#: Running operations in a graph takes this many times their own time (the executor): measured on a step of 0.9 ms whose
#: operations took 0.07 ms; in executions of 100 steps one took 0.16 ms in the graph.
GRAPH_LEFT = 2.0


def one_call_a_step(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for ``fit`` with one step per execution and tiny compiled steps."""
    sites = reached(evidence, "batch")
    clean = evidence.steps.clean
    if not sites or not clean or any(step.count > 1 for step in clean) or evidence.steps.count < LEAST_STEPS:
        return
    cost = step_cost(evidence)
    if cost is None or cost.step_ms > LONGEST_MS:
        return
    around = cost.step_ms - cost.graph_ms - cost.input_ms
    launch = max(0.0, cost.graph_ms - cost.operations_ms)
    if around < 0.2 * cost.step_ms or around + launch < LEAST_SHARE * cost.step_ms:
        return
    bounds = _range(cost)
    fit = span(evidence, sites[0].file, sites[0].line)
    compiled = evidence.find(r"\.compile\(")
    first = (span(evidence, compiled[0].file, compiled[0].line),) if len(compiled) == 1 else ()
    model = _model(evidence, first[0] if first else fit)
    yield Finding(
        code="STP002", family="step", title="Each step of fit costs more to call than to compute",
        severity=severity(1 - 1 / bounds[0]), share_of_step=min(1.0, (around + launch) / cost.step_ms),
        predicted_speedup=middle(bounds), predicted_range=bounds, where=(*first, fit),
        evidence=(
            Measurement("step", cost.step_ms, "ms", "baseline"),
            Measurement("of it outside of the compiled step", around, "ms", "breakdown"),
            Measurement("in operations of the compiled step", cost.operations_ms, "ms", "breakdown"),
            Measurement("steps", float(evidence.steps.count), "count", "run"),
        ),
        advice=(
            f"{model}.compile(..., steps_per_execution={TOGETHER}) runs {TOGETHER} steps in one call. Callbacks then "
            f"hear of every {TOGETHER}th batch; a batch cut short at an epoch's end is fine."
        ),
        detail=(
            f"Keras calls the compiled step, its callbacks and the iterator for each batch: {around:,.2f} of "
            f"{cost.step_ms:,.2f} ms. The operations themselves take {cost.operations_ms:,.2f} ms."
        ),
    )


def _range(cost: StepCost) -> tuple[float, float]:
    """At least: the Python around goes. At most: what starting a graph takes goes too, and the operations stay."""
    around = cost.step_ms - cost.graph_ms - cost.input_ms
    low = speedup(around * (1 - 1 / TOGETHER) * 0.9 / cost.step_ms)
    left = max(GRAPH_LEFT * cost.operations_ms, 0.1 * cost.graph_ms) + cost.input_ms + 0.02 * around
    return low, max(low, speedup(1 - left / cost.step_ms))


def _model(evidence: Evidence, place: SourceSpan) -> str:
    text = evidence.line(place.file, place.line).partition("#")[0]
    name = text.rpartition(".compile(")[0] or text.rpartition(".fit(")[0]
    name = name.rpartition("=")[2].strip()
    return name if name.replace(".", "").replace("_", "").isalnum() else "model"
