"""Where a step's time went: a partition of the training thread's timeline.

Each moment of a step is counted once, under the outermost event that covers it on the training thread:

- ``input``: an operation of an iterator (``IteratorGetNext``), or the wait for one within a compiled function:
  the time in which the function's fetch was under way and no other operation of that function ran.
- ``eager_ops``: any other operation run one by one (``EagerLocalExecute: MatMul``), its dispatch in the runtime
  included.
- ``graph``: the runtime running a compiled function (``EagerLocalExecute: __inference_...``).
- ``tracing``: Python code being made into a graph (``tf.function-graph_building``).
- ``other``: the runtime outside of operations: freeing tensors and iterators.
- ``python``: what no such event covers: the script's own Python, Keras, and the Python side of TensorFlow, the
  binding of a ``tf.function``'s arguments included.

The parts are integers in picoseconds and add up to the steps' wall time exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from tfperfkit.records.parts import TRACED, PartName
from tfperfkit.xplane.spans import Span, intersect, subtract, total, union

Label = Literal["input", "eager_ops", "graph", "tracing", "other"]


class Labelled(NamedTuple):
    """A span of the training thread's timeline and what it counts as."""

    begin: int
    end: int
    label: Label


def breakdown(steps: Iterable[Span], events: Iterable[Labelled], waits: Sequence[Span] = ()) -> dict[PartName, int]:
    """Split the steps' wall time (ps) into the parts that a trace tells (``TRACED``).

    ``steps`` and ``events`` are of one thread; ``waits`` are the moments, on any thread, in which a compiled
    function had nothing to do but wait for its input. Steps that overlap are counted once.
    """
    wall = union(steps)
    parts = dict.fromkeys(TRACED, 0)
    outer: dict[Label, list[Span]] = {}
    cursor: int | None = None
    for begin, end, label in sorted(events, key=lambda event: (event.begin, -event.end)):
        start = begin if cursor is None else max(begin, cursor)
        if end <= start:
            continue  # within an event that is counted already, or empty
        outer.setdefault(label, []).append(Span(start, end))
        cursor = end
    for kind, spans in outer.items():
        inside = intersect(union(spans), wall)
        if kind == "graph" and waits:
            waiting = intersect(inside, union(waits))
            parts["input"] += total(waiting)
            inside = subtract(inside, waiting)
        parts[kind] += total(inside)
    parts["python"] = total(wall) - sum(parts.values())
    return parts
