"""The time of each operation of a step's compiled functions: the offer ``ComputedStep``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from tfperfkit.graph.bounds import NOT_MEASURED, AtHand
from tfperfkit.graph.stages import BACKWARD, FORWARD, UPDATE
from tfperfkit.offers import ComputedOperation, ComputedStep, ComputedStretch
from tfperfkit_probes.lines.graph.analysis import GraphLines
from tfperfkit_probes.lines.graph.compiled import compiled_functions, layer_flops
from tfperfkit_probes.lines.graph.data import PS_PER_MS, GraphFunction
from tfperfkit_probes.lines.graph.limits import bound_of
from tfperfkit_probes.lines.graph.tree import Ran

_STAGES: dict[str, Literal["forward", "backward", "update"]] = {
    FORWARD: "forward",
    BACKWARD: "backward",
    UPDATE: "update",
}
#: Operations that are kept one by one, the costliest; others are summed up by type and stage.
_KEPT = 4000


#: The window of the trace.
_WINDOW = "tfprof"


def computed(
    lines: GraphLines, described: Sequence[GraphFunction] = (), machine: AtHand = NOT_MEASURED
) -> ComputedStep | ComputedStretch | None:
    """Return the times of a step, or of all of a trace without steps. None when no compiled function ran in it, or
    nothing is known of its operations. ``described``: the functions line by line."""
    functions = [function for function in lines.functions if function.ran]
    if not functions:
        return None
    count = max(lines.steps, 1)
    scale = 1 / PS_PER_MS / count
    ran = [(key, item) for function in functions for key, item in function.ran.items()]
    ran.sort(key=lambda row: -row[1].wall)
    rows = [_operation(*row, scale, count, machine) for row in (*ran[:_KEPT], *_summed(ran[_KEPT:]))]
    made = ComputedStep(
        ms=sum(function.wall for function in functions) * scale,
        idle_ms=sum(function.idle for function in functions) * scale,
        waits_ms=sum(function.waits for function in functions) * scale,
        unknown_ms=sum(function.unmatched_wall for function in functions) * scale,
        operations=tuple(rows),
        batch=lines.batch,
    )
    if lines.steps:
        return made
    return ComputedStretch(
        wall_ms=lines.wall * scale,
        window=_WINDOW,
        computed=made,
        functions=compiled_functions(described),
        calls=dict(lines.calls),
        layer_flops=layer_flops(described),
    )


def _operation(
    key: tuple[str, str, str, str], ran: Ran, scale: float, steps: int, machine: AtHand
) -> ComputedOperation:
    stage, name, kind, layer = key
    lower = max(machine.machine.arithmetic_ms(ran.flops), machine.machine.memory_ms(ran.moved))
    return ComputedOperation(
        name=name,
        type=kind,
        stage=_STAGES[stage],
        runs=ran.runs / steps,
        ms=ran.wall * scale,
        alone_ms=ran.alone * scale,
        busy_ms=ran.busy * scale,
        flops=ran.flops / steps if ran.flops is not None else None,
        layer=layer,
        file=ran.place[0],
        line=ran.place[1],
        direct=ran.direct,
        of=ran.of,
        bytes=ran.moved / steps if ran.moved is not None else None,
        shapes=ran.shapes,
        bound=bound_of(kind, ran, machine),
        lower_ms=lower / steps if lower else None,
    )


def _summed(rows: Iterable[tuple[tuple[str, str, str, str], Ran]]) -> list[tuple[tuple[str, str, str, str], Ran]]:
    found: dict[tuple[str, str, str, str], Ran] = {}
    for (stage, _, kind, _), ran in rows:
        total = found.setdefault((stage, "", kind, ""), Ran())
        total.wall += ran.wall
        total.alone += ran.alone
        total.busy += ran.busy
        total.runs += ran.runs
        if ran.moved is not None:
            total.moved = (total.moved or 0.0) + ran.moved
        if ran.flops is not None:
            total.flops = (total.flops or 0.0) + ran.flops
    return list(found.items())
