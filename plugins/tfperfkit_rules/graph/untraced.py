"""Operations of loops that ran in the traced steps and are not in the trace: the runtime leaves out what it takes for
cheap. The time between the operations that are there is theirs, for the most part."""

from __future__ import annotations

import math

from tfperfkit.offers import ComputedStep, FunctionCalls
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import largest_first
from tfperfkit_rules.graph.loop_share import turns_of
from tfperfkit_rules.graph.loop_trace import is_within


def untraced_runs(evidence: Evidence, step: ComputedStep) -> float:
    """How many a step, of the loops in the functions that the steps call; any number where a loop's iterations are not
    known and none of its operations is in the trace."""
    calls = evidence.offer(FunctionCalls)
    ran: dict[str, float] = {}
    for function in largest_first(evidence):
        often = calls.per_step.get(function.graph, 0.0) if calls is not None else 0.0
        for loop in function.marks.loops:
            turns = turns_of(loop)
            inner = any(other.around == loop.name for other in function.marks.loops)
            if often and not inner and not loop.trains:
                runs = often * turns * loop.operations if turns is not None else math.inf
                ran[loop.name] = max(ran.get(loop.name, 0.0), runs)
    seen = {name: sum(row.runs for row in step.operations if is_within(row.name, name)) for name in ran}
    return sum(max(0.0, each - seen[name]) for name, each in ran.items() if math.isfinite(each) or not seen[name])
