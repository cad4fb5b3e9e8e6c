"""The stacks on which the operations of a graph were built, as two readers want them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from tfperfkit.records.graph_contents import CONTROL_FLOW, LAYER_CALL, GraphContents, Place, Traceback

#: Frames of the user's code that are looked at of an operation's stack, innermost first.
MAX_FRAMES = 10


def list_stacks(record: GraphContents) -> list[tuple[Place, ...]]:
    """Return the stacks of a graph by their numbers, innermost frame first. Raises IndexError for a damaged record."""
    if not record.tracebacks:
        return [tuple((str(f), int(n), str(w)) for f, n, w in frames) for frames in record.places]
    found = []
    for traceback in record.tracebacks:
        places = [_place(record, item) for item in reversed(traceback.frames) if item >= 0]
        found.append(tuple(places[:MAX_FRAMES]))
    return found


def call_path(record: GraphContents, traceback: Traceback) -> list[Place | None]:
    """Return the user's frames from the outermost inwards; None stands for the call of a Keras layer.

    AutoGraph runs the body of a loop or a condition as a function. It is the same function to the user: the frame
    around it is left out. Raises IndexError for a damaged record.
    """
    found: list[Place | None] = []
    last: Place | None = None  # the frame before, if only a loop or a condition lies between
    control = False
    for item in traceback.frames:
        if item == CONTROL_FLOW:
            control = True
        elif item == LAYER_CALL:
            found.append(None)
            last = None
        elif not traceback.foreign:
            place = _place(record, item)
            if control and last is not None and (last[0], last[2]) == (place[0], place[2]):
                found.pop()
            found.append(place)
            last, control = place, False
    return found


def _place(record: GraphContents, number: int) -> Place:
    file, line, function = record.frames[number]
    return record.files[file], line, function


def innermost(stacks: Sequence[Sequence[int]]) -> list[int]:
    """For each stack the user's innermost line, as the number of a frame; -1 if it has none."""
    return [next((frame for frame in reversed(stack) if frame >= 0), -1) for stack in stacks]


def common_frames(record: GraphContents) -> list[Place]:
    """Return the user's frames, outermost first, below which all operations of a graph were built."""
    used = {number for number in record.stacks if number >= 0}
    paths = [
        [frame for frame in each.frames if frame >= 0]
        for number, each in enumerate(record.tracebacks)
        if number in used and not each.foreign
    ]
    alike = takewhile(lambda frames: len(set(frames)) == 1, zip(*paths, strict=False))
    return [_place(record, frames[0]) for frames in alike]
