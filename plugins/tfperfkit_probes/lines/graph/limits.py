"""The limits of a compiled function's layers, by their operations in the trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.graph.bounds import AtHand, Bound, Machine
from tfperfkit.graph.optable import plain
from tfperfkit_probes.lines.graph.tree import FunctionTime, Ran

PS_PER_MS = 1_000_000_000
#: Share of a layer's time: the layer is bound by the limit of the larger part.
_LARGEST = 0.4


class Limit(NamedTuple):
    """The limit of a layer, in words, "" if unknown; its costliest operation with the shapes of inputs and outputs;
    bytes that it moves, None if unknown.
    """

    words: str = ""
    operation: str = ""
    bytes: float | None = None


def at_hand(functions: Iterable[FunctionTime], machine: Machine) -> AtHand:
    """The machine as the operations of these functions had it, with what else it was doing."""
    return AtHand(machine, (_run(ran) for function in functions for ran in function.ran.values()))


def bound_of(kind: str, ran: Ran, machine: AtHand) -> Bound:
    """Find the limit of an operation, by its mean run."""
    return machine.bound(plain(kind), *_run(ran))


def _run(ran: Ran) -> tuple[float, float | None, float | None]:
    runs = max(ran.runs, 1.0)
    flops = ran.flops / runs if ran.flops is not None else None
    moved = ran.moved / runs if ran.moved is not None else None
    return ran.wall / PS_PER_MS / runs, flops, moved


def layer_limits(function: FunctionTime, machine: AtHand, steps: int) -> dict[str, Limit]:
    """By layer."""
    rows: dict[str, list[tuple[str, Ran]]] = defaultdict(list)
    for (_, _, kind, layer), ran in function.ran.items():
        if layer:
            rows[layer].append((kind, ran))
    return {layer: _limit(mine, machine, steps) for layer, mine in rows.items()}


def _limit(rows: list[tuple[str, Ran]], machine: AtHand, steps: int) -> Limit:
    walls: dict[Bound, float] = defaultdict(float)
    bounds = [bound_of(kind, ran, machine) for kind, ran in rows]
    for each, (_, ran) in zip(bounds, rows, strict=True):
        walls[each] += ran.wall
    known = [ran.moved for _, ran in rows if ran.moved is not None]
    kind, costliest = max(rows, key=lambda row: row[1].wall)
    operation = f"{plain(kind)} {costliest.shapes}".strip()
    largest = max(walls, key=lambda each: walls[each])
    if not largest or walls[largest] < _LARGEST * sum(walls.values()):
        return Limit("", operation, sum(known) if known else None)
    mine = [row for each, row in zip(bounds, rows, strict=True) if each == largest]
    return Limit(_name_limit(largest, mine, steps), operation, sum(known) if known else None)


def _name_limit(largest: Bound, rows: list[tuple[str, Ran]], steps: int) -> str:
    if largest == "memory":
        counted = [ran for _, ran in rows if ran.flops and ran.moved]
        flops, moved = sum(ran.flops or 0.0 for ran in counted), sum(ran.moved or 0.0 for ran in counted)
        return f"memory, {moved / flops:.1g} B/FLOP" if flops else "memory"
    if largest == "starting":
        return f"{sum(ran.runs for _, ran in rows) / max(steps, 1):,.0f} small ops"
    return {"numbers": "elementwise", "kernel": "slow kernel"}.get(largest, largest)
