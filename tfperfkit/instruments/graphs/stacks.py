"""The stacks on which operations were built, reduced to the frames that matter, each stored once.

TensorFlow's own ``GraphDebugInfoBuilder`` interns the stacks in C++: about a tenth of the time that it takes to look
at each operation's traceback from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfperfkit.instruments.graphs.building import Started, started_before
from tfperfkit.instruments.stacks import call_site
from tfperfkit.records.graphs import LAYER_CALL

_AREAS = ("layers", "losses", "metrics", "optimizers", "regularizers")
_GRADIENT_FILES = (
    "/tensorflow/python/eager/backprop.py",
    "/tensorflow/python/ops/gradients_util.py",
    "/tensorflow/python/eager/imperative_grad.py",
)
_CONTROL_FLOW = "/tensorflow/python/autograph/operators/"
_REPLICA_FILE = "/tensorflow/python/distribute/mirrored_run.py"
_LAYER_FILES = ("/keras/src/layers/layer.py", "/tf_keras/src/engine/base_layer.py")


class Stacks:
    """Interns stacks, for the graphs of one trace. ``is_user`` tells the user's own files."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self.files: list[str] = []
        self.frames: list[tuple[int, int, str]] = []
        self.stacks: list[list[int]] = []
        self.areas: list[str] = []
        self.gradient: list[bool] = []  # by stack: built within a call for gradients
        self._file_ids: dict[str, int] = {}
        self._frame_ids: dict[tuple[str, int, str], int] = {}
        self._stack_ids: dict[tuple[Any, ...], int] = {}
        self._builder = _builder()
        self._replica: list[bool] = []  # by stack: of a replica's own thread
        self._waiting: list[tuple[str, list[int], list[str], list[int], Sequence[Started]]] = []

    def add(
        self, key: str, operations: list[Any], names: list[str], same: list[int], started: Sequence[Started] = ()
    ) -> list[int]:
        """The stacks of a graph's operations; the list is filled in by ``finish``.

        ``same`` tells for each operation which one's stack to take: its own number, another one's, or -1 for none.
        ``started``: where replicas began in the graph; what they built stands below the calls that started them.
        """
        found = [-1] * len(operations)
        for index, operation in enumerate(operations):
            if same[index] != index:
                continue
            traceback = operation.traceback
            if traceback is None:
                continue
            if self._builder is not None:
                self._builder.AccumulateStackTrace(key, names[index], traceback)
            else:
                found[index] = self._intern([(f.filename, f.lineno, f.name) for f in traceback])
        self._waiting.append((key, found, names, same, started))
        return found

    def finish(self) -> None:
        """Fill in the lists that ``add`` gave."""
        traces, numbers = self._built() if self._builder is not None else ({}, {})
        for key, found, names, same, started in self._waiting:
            for index, source in enumerate(same):
                if source == index and self._builder is not None:
                    found[index] = traces.get(numbers.get(f"{names[index]}@{key}", 0), -1)
                if started and source == index and found[index] >= 0 and self._replica[found[index]]:
                    found[index] = self._below(started, index, found[index])
            for index, source in enumerate(same):
                if source >= 0:
                    found[index] = found[source]
        self._waiting = []

    def innermost(self) -> list[int]:
        """For each stack the user's innermost line, as a number of a frame; -1 if it has none."""
        return [next((frame for frame in reversed(stack) if frame >= 0), -1) for stack in self.stacks]

    def _built(self) -> tuple[dict[int, int], dict[str, int]]:
        """From the builder's numbers of stacks to ours, and its number for each operation."""
        info = self._builder.Build()
        if isinstance(info, bytes):
            from tensorflow.core.framework import graph_debug_info_pb2

            info = graph_debug_info_pb2.GraphDebugInfo.FromString(info)
        frames = {
            number: (info.files[frame.file_index], frame.line, frame.func)
            for number, frame in info.frames_by_id.items()
        }
        traces = {
            number: self._intern([frames[item] for item in trace.frame_id if item in frames])
            for number, trace in info.traces_by_id.items()
        }
        return traces, dict(info.name_to_trace_id)

    def _intern(self, frames: list[tuple[str, int, str]]) -> int:
        kept: list[int] = []
        area, gradient, replica = "", False, False
        last: tuple[str, int, str] | None = None  # the frame before, if only a loop or a condition lies between
        control = False
        for frame in frames:
            file = frame[0]
            if self._is_user(file) and not call_site.is_machinery(file):
                if control and last is not None and (last[0], last[2]) == (file, frame[2]):
                    kept.pop()  # AutoGraph runs the body of a loop as a function: it is the same one to the user
                kept.append(self._frame(frame))
                last, control = frame, False
                area = ""  # what the user's own code builds within a layer is the user's
                continue
            place = file.replace("\\", "/")
            control = control or _CONTROL_FLOW in place
            replica = replica or (frame[2] == "run" and place.endswith(_REPLICA_FILE))
            if place.endswith(_LAYER_FILES) and frame[2] == "__call__":
                kept.append(LAYER_CALL)
                last = None
            if place.endswith(_GRADIENT_FILES):
                gradient = True
            area = _area(place) or area
        return self._number(kept, area, gradient, replica)

    def _number(self, kept: list[int], area: str, gradient: bool, replica: bool) -> int:
        key = (tuple(kept), area, gradient, replica)
        number = self._stack_ids.get(key)
        if number is None:
            number = self._stack_ids[key] = len(self.stacks)
            self.stacks.append(kept)
            self.areas.append(area)
            self.gradient.append(gradient)
            self._replica.append(replica)
        return number

    def _below(self, started: Sequence[Started], index: int, number: int) -> int:
        """The stack of a replica's operation below the call that started the replica."""
        calls = started_before(started, index).frames
        frames = [(place.file, place.line, place.function) for place in reversed(calls)]
        above = [self._frame(frame) for frame in frames if self._is_user(frame[0])]
        return self._number([*above, *self.stacks[number]], self.areas[number], self.gradient[number], False)

    def _frame(self, frame: tuple[str, int, str]) -> int:
        number = self._frame_ids.get(frame)
        if number is None:
            file = self._file_ids.setdefault(frame[0], len(self.files))
            if file == len(self.files):
                self.files.append(frame[0])
            number = self._frame_ids[frame] = len(self.frames)
            self.frames.append((file, frame[1], frame[2]))
        return number


def _area(place: str) -> str:
    """The part of Keras that a file belongs to; "saved_model" for the loader of saved functions."""
    _, found, rest = place.rpartition("keras/src/")
    if found:
        area = rest.partition("/")[0]
        if area == "trainers" and "compile_utils" in rest:
            return "losses"
        return area if area in _AREAS else ""
    if "/tensorboard/plugins/" in place or place.endswith("/tensorflow/python/ops/summary_ops_v2.py"):
        return "summaries"
    return "saved_model" if "/tensorflow/python/saved_model/load" in place else ""


def _builder() -> Any:
    try:
        from tensorflow.python.util import tf_stack

        return tf_stack.GraphDebugInfoBuilder()
    except (ImportError, AttributeError, TypeError):
        return None
