"""The parts of a step's time: a partition of the training thread's timeline.

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
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from tfperfkit import calibration
from tfperfkit.records.parts import TRACED, PartName
from tfperfkit.xplane.intervals import Ints, Spans, union, within

Label = Literal["input", "eager_ops", "graph", "tracing", "other"]
LABELS: tuple[Label, ...] = get_args(Label)
#: Through two points there is always a line.
_MIN_STEPS = 3


class Labelled(NamedTuple):
    """Spans of the training thread's timeline in order of their begin, longer ones first, and what each counts as, by
    its place in ``LABELS``."""

    begin: Ints
    end: Ints
    label: npt.NDArray[np.int8]


def breakdown(steps: Spans, events: Labelled, waits: Spans) -> dict[PartName, int]:
    """Split the steps' wall time (ps) into the parts that a trace tells (``TRACED``).

    ``steps`` and ``events`` are of one thread; ``waits`` are the moments, on any thread, in which a compiled
    function had nothing to do but wait for its input. Steps that overlap are counted once.
    """
    wall = union([steps])
    parts = dict.fromkeys(TRACED, 0)
    for label, spans in _outermost(events):
        inside = within(union([spans]), wall)
        if label == "graph":
            waiting = within(inside, union([waits])).total
            parts["input"] += waiting
            parts["graph"] += inside.total - waiting
        else:
            parts[label] += inside.total
    parts["python"] = wall.total - sum(parts.values())
    return parts


def share_of_longer(steps: Sequence[Spans], calls: Spans, waits: Spans) -> float | None:
    """Return the share (0 to 1) of waiting for input in what makes compiled calls of one step longer than of another.

    It is the slope of the waiting over the calls' time, by least squares over the steps. ``steps``: the spans of each;
    ``calls``: when compiled functions ran, ``waits`` as for ``breakdown``; both from ``union``. None if there are fewer
    than three steps, or none is longer than the median by ``OUTLIER_SHARE``: then nothing is to be explained.
    """
    inside = [within(calls, step) for step in steps]
    whole = np.array([spans.total for spans in inside], dtype=float)
    if len(whole) < _MIN_STEPS:
        return None
    if whole.max() <= (1 + calibration.OUTLIER_SHARE.value) * np.median(whole):
        return None
    waited = np.array([within(spans, waits).total for spans in inside], dtype=float)
    apart = whole - whole.mean()
    return float(np.clip((apart * waited).sum() / (apart * apart).sum(), 0.0, 1.0))


def _outermost(events: Labelled) -> Iterable[tuple[Label, Spans]]:
    """Return the part of each event that is outside of all earlier events."""
    if not len(events.begin):
        return
    covered = np.maximum.accumulate(events.end)
    begin = events.begin.copy()
    begin[1:] = np.maximum(begin[1:], covered[:-1])
    for number, label in enumerate(LABELS):
        mine = (events.label == number) & (events.end > begin)
        if mine.any():
            yield label, Spans(begin[mine], events.end[mine])
