"""OPS006 of a switch: ``tf.debugging.enable_check_numerics`` has the result of every operation checked."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.graph import optable
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep, FunctionCalls
from tfperfkit.pricing import Part, costs
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import counted, of_step, places
from tfperfkit_rules.graph.prints import PRINT_SAVED_MIN

#: The operations that the switch adds after each operation that makes floating-point numbers.
_CHECKS = optable.names(kind=("check", "debug")) - {"Assert"}
_SWITCH = "tensorflow.debugging.enable_check_numerics"


def checks_on(evidence: Evidence) -> Iterator[Finding]:
    """Priced by the checks' time in the trace, and at most by what it takes to start them too."""
    step = evidence.offer(ComputedStep)
    if evidence.settings.get("check_numerics") is not True or step is None or step.ms <= 0 or not evidence.step_ms:
        return
    rows = [row for row in step.operations if row.type in _CHECKS]
    runs, every = sum(row.runs for row in rows), sum(row.runs for row in step.operations)
    if not runs:
        return
    graph = evidence.share("graph")
    share = graph * sum(row.ms for row in rows) / step.ms
    starts = min(graph * step.idle_ms / step.ms * runs / every, runs * costs.GRAPH_OP_MAX_MS.value / evidence.step_ms)
    # Calls of compiled functions call back into Python for each operation that may be checked, while this is on.
    calls = evidence.offer(FunctionCalls)
    usual_ms = costs.FUNCTION_CALL_MIN_MS.value * max(sum(calls.per_step.values()) if calls is not None else 1.0, 1.0)
    # The checks of eager operations are eager operations themselves.
    python = max(evidence.part("dispatch", "eager_ops") - usual_ms, 0.0) / evidence.step_ms
    spent = min(share + starts, 1.0)
    # The checks stand between operations that TensorFlow would fuse: at most the graph shrinks by their number.
    most = max(spent, graph * runs / every) + python
    made = Finding(
        code="OPS006",
        remedy=Setting("check_numerics", "off"),
        severity="info",
        share_of_step=0.0,
        title=f"tf.debugging.enable_check_numerics runs {runs:,.0f} checks in {evidence.unit.every}",
        where=places(evidence.calls(_SWITCH)[:1]),
        evidence=(counted("checks", runs),),
        advice="Delete tf.debugging.enable_check_numerics(), which is for finding where a NaN comes from. Or: put it "
        "behind a flag.",
        detail="The switch adds a check to each operation. Graphs become twice as large, take longer to trace, and "
        "cannot be fused.",
    )
    absorbs = ("OPS006", "STP002", "CMP006", "GRF032")
    own = Measurement("share of time in the checks", share, "share", "tfprof")
    found = of_step(
        made, spent, Part(PRINT_SAVED_MIN.value * share, most, spent + python), "checking and starting it", absorbs
    )
    yield msgspec.structs.replace(found, evidence=(*found.evidence, own))
