"""Operations of loops that ran in the traced steps and are not in the trace: the runtime leaves out what it takes for
cheap. The time between the operations that are there is theirs, for the most part."""

from __future__ import annotations

from tfperfkit.offers import ComputedStep, FunctionCalls
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import largest_first
from tfperfkit_rules.graph.loop_share import turns_of


def untraced_runs(evidence: Evidence, step: ComputedStep) -> float:
    """How many a step, at least: of loops whose turns are known, in the functions that the steps call."""
    calls = evidence.offer(FunctionCalls)
    ran: dict[str, float] = {}
    for function in largest_first(evidence):
        often = calls.per_step.get(function.graph, 0.0) if calls is not None else 0.0
        for loop in function.marks.loops:
            turns = turns_of(loop)
            inner = any(other.around == loop.name for other in function.marks.loops)
            if turns is not None and not inner:
                ran[loop.name] = max(ran.get(loop.name, 0.0), often * turns * loop.operations)
    seen = {
        name: sum(row.runs for row in step.operations if f"{name}/body/" in row.name or f"{name}/cond/" in row.name)
        for name in ran
    }
    return sum(max(0.0, each - seen[name]) for name, each in ran.items())
