"""The lines of the user's code, and the layers, on which a compiled step computes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.graph.bounds import BY_THE_MACHINE
from tfperfkit.graph.optable import plain
from tfperfkit.model import SourceSpan, StepAccount
from tfperfkit.offers import ComputedOperation, ComputedStep

EXPLAINS = calibration.EXPLAINS.value
_MAX_TYPES = 3


class ComputedLine(NamedTuple):
    """A line of the user's code, or a layer that the line calls, with the operations that it runs.

    ``share`` is the share of the step (0 to 1) that the operations take. ``types`` are their types, the costliest
    first. ``direct`` is the share of their time that the line itself takes, and not a function that it calls.
    """

    where: SourceSpan
    share: float
    types: tuple[str, ...]
    direct: float
    layer: str = ""
    operations: tuple[ComputedOperation, ...] = ()

    @property
    def bound(self) -> str:
        """Return the limit of the larger half of its time; "" if that is not known."""
        bounds: dict[str, float] = defaultdict(float)
        for row in self.operations:
            bounds[row.bound] += row.ms
        largest = max(bounds, key=lambda each: bounds[each], default="")
        return largest if bounds[largest] > EXPLAINS * sum(bounds.values()) else ""

    @property
    def is_bound_by_machine(self) -> bool:
        """Return whether the machine's arithmetic or memory bounds the larger half of its time."""
        return self.bound in BY_THE_MACHINE

    def join_types(self) -> str:
        """Return the types for a sentence: ``TopKV2 and ScatterNd``."""
        *first, last = self.types or ("small operations",)
        return f"{', '.join(first)} and {last}" if first else last


def computed_lines(step: ComputedStep | None, account: StepAccount | None) -> list[ComputedLine]:
    """Return the lines on which the step computes, forward and backward, the costliest first.

    An operation counts for the innermost line of the user's code on the way to it. Updates of variables are the
    optimizer's and are left out. The list is empty without a trace.
    """
    return _group_operations(step, account, lambda row: "")


def computed_parts(step: ComputedStep | None, account: StepAccount | None) -> list[ComputedLine]:
    """Return the same as ``computed_lines``, with each of Keras' own layers that a line calls on its own."""
    return _group_operations(step, account, lambda row: "" if row.direct else row.layer)


def _group_operations(
    step: ComputedStep | None, account: StepAccount | None, layer_of: Callable[[ComputedOperation], str]
) -> list[ComputedLine]:
    if step is None or account is None or step.ms <= 0 or not account.mean_ms:
        return []
    scale = min(1.0, account.parts_ms.get("graph", 0.0) / step.ms) / account.mean_ms
    rows: dict[tuple[str, int, str], list[ComputedOperation]] = defaultdict(list)
    for row in step.operations:
        if row.file and row.stage != "update":
            rows[row.file, row.line, layer_of(row)].append(row)
    found = [_make_line(place, mine, scale) for place, mine in rows.items()]
    return sorted(found, key=lambda item: -item.share)


def _make_line(place: tuple[str, int, str], rows: Sequence[ComputedOperation], scale: float) -> ComputedLine:
    types: dict[str, float] = defaultdict(float)
    for row in rows:
        types[plain(row.type)] += row.ms
    total = sum(row.ms for row in rows)
    return ComputedLine(
        where=SourceSpan(place[0], place[1], ""),
        share=min(1.0, total * scale),
        types=tuple(
            name for name in sorted(types, key=lambda name: -types[name])[:_MAX_TYPES] if types[name] >= 0.1 * total
        ),
        direct=sum(row.ms for row in rows if row.direct) / total if total else 0.0,
        layer=place[2],
        operations=tuple(rows),
    )
