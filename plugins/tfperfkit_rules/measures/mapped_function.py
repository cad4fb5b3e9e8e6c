"""The function of the stage that sets a pipeline's pace, as if the step called it: for rules about compiled functions.

The step gets the wait for the stage as its time in compiled functions, and the operations of the pipeline in the trace
as those of compiled functions, of one thread.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import msgspec
from tfperfkit_probes.input.model import Stage
from tfperfkit_probes.lines.model import LinesData
from tfperfkit_probes.ops.model import Brief, MappedGraphs, OpsData

from tfperfkit.graph.recorded import RecordedGraphs
from tfperfkit.model import SourceSpan
from tfperfkit.offers import (
    FunctionCalls,
    FunctionCosts,
    OperationsAfterSteps,
    RanOperation,
    RanOperations,
    StepBreakdown,
)
from tfperfkit.records.samples import Frame, Samples, Stack
from tfperfkit.rule import Evidence, Offer
from tfperfkit_rules.measures.feed import Feed, feed

#: Operations of the pipeline itself: the stages.
_STAGES = "Iterator"


class MappedFunction(NamedTuple):
    """``evidence``: of the step, as if it called the function of ``stage``."""

    evidence: Evidence
    stage: Stage
    feed: Feed


def find_mapped_function(evidence: Evidence) -> MappedFunction | None:
    """Return the function for which the steps wait; None if they do not, or if its graph is not known."""
    item = feed(evidence)
    stage = item.bound if item is not None else None
    if item is None or stage is None or evidence.account is None or stage.is_python:
        return None
    function = find_graph(evidence, stage)
    if function is None:
        return None
    took_ms = item.wait_ms * item.part(stage)
    account = msgspec.structs.replace(
        evidence.account,
        parts_ms={"graph": took_ms, "other": max(evidence.account.mean_ms - took_ms, 0.0)},
        idle_ms={},
    )
    samples = Samples()
    samples.add(Stack((Frame(stage.file, stage.line, stage.function, stage.line),), "tensorflow", "graph"))
    made = evidence.within(
        account=account,
        samples=samples,
        offers=[
            Offer("ops", OpsData, OpsData(functions=[], all=(function,))),
            Offer("tfprof", FunctionCalls, FunctionCalls(per_step={function.graph: item.batches})),
            Offer("ops", FunctionCosts, FunctionCosts(functions=(function,))),
            *_offer_trace(evidence, item, stage, took_ms),
        ],
        without=(LinesData, OperationsAfterSteps),
    )
    return MappedFunction(made, stage, item)


def find_graph(evidence: Evidence, stage: Stage) -> Brief | None:
    """Return the function of a stage of the user's: by its name, and by the line that makes the stage. Of several, for
    elements of other types, the largest."""
    graphs, mapped = evidence.offer(MappedGraphs), stage.mapped
    if graphs is None or mapped is None or not evidence.is_user(mapped.file):
        return None
    name = mapped.function.rpartition(".")[2].strip("<>")
    found = [
        each
        for each in graphs.functions
        if each.function.endswith(name)
        and any((span.file, span.line) == (stage.file, stage.line) for span in each.callers)
    ]
    largest = max(found, key=lambda each: each.operations, default=None)
    if largest is None:
        return None
    return msgspec.structs.replace(
        largest,
        function=mapped.function.rpartition(".")[2].replace("<lambda>", "the lambda"),
        file=mapped.file,
        line=mapped.line,
        owner="user",
        first_execution_ms=0.0,
        callers=[SourceSpan(stage.file, stage.line, stage.function)],
    )


def list_operations(evidence: Evidence) -> list[RanOperation]:
    """List the operations of pipelines' functions in the trace, the costliest first."""
    ran = evidence.offer(RanOperations)
    return [row for row in ran.input if not row.type.startswith(_STAGES)] if ran is not None else []


def share_operations(evidence: Evidence, stage: Stage) -> dict[str, float]:
    """Return the shares (0 to 1) that types of operations have of the time of a stage's function in the trace, the
    largest first; empty without a trace or without the function's graph."""
    function, graphs = find_graph(evidence, stage), evidence.offer(RecordedGraphs)
    recorded = graphs.functions.get(function.graph) if graphs is not None and function is not None else None
    if recorded is None:
        return {}
    types = {node.name: node.type for view, _ in recorded.bodies for node in view.nodes.values()}
    took: dict[str, float] = defaultdict(float)
    for row in list_operations(evidence):
        parts = row.name.split("/")  # the runtime puts the bodies of a loop in its place
        own = next((name for at in range(len(parts)) if (name := "/".join(parts[at:])) in types), None)
        if own is not None:
            took[types[own]] += row.self_ms
    whole = sum(took.values())
    return {kind: ms / whole for kind, ms in sorted(took.items(), key=lambda item: -item[1])} if whole > 0 else {}


def _offer_trace(evidence: Evidence, item: Feed, stage: Stage, took_ms: float) -> list[Offer]:
    """Offer the trace of one thread: its part of the time and of the runs."""
    ran, breakdown = evidence.offer(RanOperations), evidence.offer(StepBreakdown)
    if ran is None:
        return []
    threads = item.count_threads(stage)
    rows = tuple(
        msgspec.structs.replace(
            row, where="graph", self_ms=row.self_ms / threads, count=max(round(row.count / threads), 1)
        )
        for row in list_operations(evidence)
    )
    made = [Offer("tfprof", RanOperations, RanOperations(steps=ran.steps, rows=rows))]
    if breakdown is not None:
        parts = {"graph": took_ms}
        made.append(Offer("tfprof", StepBreakdown, msgspec.structs.replace(breakdown, parts_ms=parts)))
    return made
