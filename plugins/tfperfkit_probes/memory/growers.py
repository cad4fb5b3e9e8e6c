"""Growth with the steps: the user's containers, graphs and variables that stay alive."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from tfperfkit.syntax.growth import find_growth
from tfperfkit_probes.memory.model import (
    Grower,
    GrowerKind,
    LengthRecord,
    LiveRecord,
    LookRecord,
    NameRecord,
)
from tfperfkit_probes.memory.phases import Phases

#: A grower is longer at each look of the steady phase than at the one before, by rates that lie within this factor
#: of their median, and by this many elements in all.
_EVEN, _MIN_ELEMENTS, _MIN_LOOKS = 3.0, 5, 3
_MAX = 50
_TENSORS = ("EagerTensor", "tensor of")
_VARIABLES = ("ResourceVariable", "Variable")
_GRAPHS = ("FuncGraph", "ConcreteFunction", "Graph")


def growers(
    looks: Sequence[LookRecord],
    names: Iterable[NameRecord],
    lengths: Iterable[LengthRecord],
    live: Iterable[LiveRecord],
    phases: Phases,
    source: Callable[[str], Sequence[str]],
) -> tuple[Grower, ...]:
    """Those that grow evenly over the looks after the warm-up, the most bytes first."""
    later = [look for look in looks if phases.warm_ns is not None and look.ns >= phases.warm_ns]
    times = [look.ns for look in later]
    steps = [phases.number_at(ns) for ns in times]
    by_id: dict[int, list[LengthRecord]] = {}
    for record in lengths:
        by_id.setdefault(record.id, []).append(record)
    found = []
    for name in names:
        records = by_id.get(name.id, [])
        filled = _filled([(record.ns, record.length) for record in records], times)
        # If the function was not looked into, nothing is known; otherwise a size that was not written has not changed.
        values = [None if name.function in look.skipped else value for look, value in zip(later, filled, strict=True)]
        rate = even_growth(steps, values)
        if rate is not None:
            found.append(_container(name, records[-1], rate, values, source))
    by_place: dict[tuple[str, str, int, str], list[LiveRecord]] = {}
    for item in live:
        by_place.setdefault((item.kind, item.file, item.line, item.function), []).append(item)
    for key, items in by_place.items():
        default = key[0] == "default graph"
        values = _filled([(item.ns, item.size if default else item.count) for item in items], times)
        rate = even_growth(steps, values)
        if rate is not None:
            found.append(_alive(key, items, rate, values, default))
    found.sort(key=lambda item: (-(item.bytes_per_step or 0.0), -item.per_step))
    return tuple(found[:_MAX])


def even_growth(steps: Sequence[int], values: Sequence[int | None]) -> float | None:
    """Elements per step if ``values`` grow from look to look at about one rate; None if they don't."""
    points = [(step, value) for step, value in zip(steps, values, strict=True) if value is not None]
    if len(points) < _MIN_LOOKS or points[-1][0] == points[0][0]:
        return None
    rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(points, points[1:], strict=False) if b[0] > a[0]]
    middle = statistics.median(rates)
    if middle <= 0 or points[-1][1] - points[0][1] < _MIN_ELEMENTS:
        return None
    if any(not middle / _EVEN <= rate <= middle * _EVEN for rate in rates):
        return None
    return (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])


def _filled(records: Sequence[tuple[int, int]], times: Sequence[int]) -> list[int | None]:
    """The value at each time: it is written only when it has changed. None before the first record."""
    values: list[int | None] = []
    ordered = sorted(records)
    index, current = 0, None
    for time in times:
        while index < len(ordered) and ordered[index][0] <= time:
            current = ordered[index][1]
            index += 1
        values.append(current)
    return values


def _container(
    name: NameRecord,
    newest: LengthRecord,
    rate: float,
    values: Sequence[int | None],
    source: Callable[[str], Sequence[str]],
) -> Grower:
    known = [value for value in values if value is not None]
    place = find_growth(source(name.file), name.name, name.function)
    line, function = name.line, name.function
    found: Literal["grows", "made", "defined"] = "defined"
    if place is not None:
        line, function, found = place.line, place.function, place.found
    size = newest.element_bytes
    slot = 8 if name.kind in ("list", "deque") else 100 if name.kind in ("dict", "set") else 0  # CPython, about
    return Grower(
        name=name.name,
        kind=_kind(name.kind, newest.element),
        container=name.kind,
        per_step=rate,
        bytes_per_step=None if size is None else rate * (size + slot),
        first=known[0],
        last=known[-1],
        file=name.file,
        line=line,
        function=function,
        element=newest.element,
        found=found,
        looks=len(known),
    )


def _alive(
    key: tuple[str, str, int, str],
    items: Sequence[LiveRecord],
    rate: float,
    values: Sequence[int | None],
    default: bool,
) -> Grower:
    kind, file, line, function = key
    known = [value for value in values if value is not None]
    graphs = kind != "variables"
    newest = items[-1]
    size = newest.size / newest.count if newest.count and not graphs else None
    name = "operations of the default graph" if default else f"graphs of {function}" if graphs else "variables"
    return Grower(
        name=name,
        kind="graphs" if graphs else "variables",
        container="",
        per_step=rate,
        bytes_per_step=None if size is None else rate * size,
        first=known[0],
        last=known[-1],
        file=file,
        line=line,
        function=function,
        element="operation" if default else "FuncGraph" if graphs else "Variable",
        found="made" if line else "defined",
        looks=len(known),
        operations=newest.size if graphs else None,
    )


def _kind(container: str, element: str) -> GrowerKind:
    if element.startswith(_TENSORS):
        return "tensors"
    if container == "ndarray" or element == "ndarray":
        return "arrays"
    if element in _VARIABLES:
        return "variables"
    if element in _GRAPHS:
        return "graphs"
    if container == "list":
        return "list"
    return "dict" if container == "dict" else "set" if container == "set" else "deque"
