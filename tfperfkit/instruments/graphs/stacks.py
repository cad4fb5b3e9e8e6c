"""The stacks on which operations were built, reduced to the frames that matter, each stored once.

TensorFlow's own ``GraphDebugInfoBuilder`` interns the stacks in C++: about a tenth of the time that it takes to look
at each operation's traceback from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tfperfkit.instruments.graphs.building import Started, started_before
from tfperfkit.instruments.stacks import call_site
from tfperfkit.records.graph_contents import CONTROL_FLOW, LAYER_CALL, Place, Traceback

_AREAS = ("layers", "losses", "metrics", "optimizers", "regularizers")
_GRADIENT_FILES = (
    "/tensorflow/python/eager/backprop.py",
    "/tensorflow/python/ops/gradients_util.py",
    "/tensorflow/python/eager/imperative_grad.py",
)
_CONTROL_FLOW = "/tensorflow/python/autograph/operators/"
_REPLICA_FILE = "/tensorflow/python/distribute/mirrored_run.py"
_LAYER_FILES = ("/keras/src/layers/layer.py", "/tf_keras/src/engine/base_layer.py")


class _Stack(NamedTuple):
    """A stack with its frames as they are, and the numbers that stand between them. ``replica``: of a replica's own
    thread."""

    items: tuple[Place | int, ...]
    area: str
    gradient: bool
    foreign: bool
    replica: bool


#: The stacks of a graph and, for each operation, the number of its stack; -1 if it was not read.
Found = tuple[list[_Stack], list[int]]


class Stacks:
    """Reads the stacks of the graphs of one trace. ``is_user`` tells the user's own files."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._builder = _builder()
        self._kept: dict[str, tuple[list[str], list[int], Sequence[Started]]] = {}
        self._plain: dict[str, _Stack] = {}  # without the builder: by operation and graph
        self._by_frames: dict[tuple[Place, ...], _Stack] = {}

    def add(
        self, key: str, operations: list[Any], names: list[str], same: list[int], started: Sequence[Started] = ()
    ) -> None:
        """Read the stacks of a graph's operations. ``same``: see ``choose_stacks``.

        ``started``: where replicas began in the graph; the operations that they built are listed below the calls that
        started them.
        """
        for index, operation in enumerate(operations):
            if same[index] != index:
                continue
            traceback = operation.traceback
            if traceback is None:
                continue
            if self._builder is not None:
                self._builder.AccumulateStackTrace(key, names[index], traceback)
            else:
                self._plain[f"{names[index]}@{key}"] = self._reduce(
                    tuple((frame.filename, frame.lineno, frame.name) for frame in traceback)
                )
        self._kept[key] = (names, same, started)

    def finish(self) -> dict[str, Found]:
        """Return what was found, by graph."""
        read = self._built() if self._builder is not None else self._plain
        found = {}
        for key, (names, same, started) in self._kept.items():
            numbers: dict[_Stack, int] = {}
            own: dict[int, int] = {}
            for index, source in enumerate(same):
                stack = read.get(f"{names[index]}@{key}") if source == index else None
                if stack is not None:
                    stack = self._below(started, index, stack) if started and stack.replica else stack
                    own[index] = numbers.setdefault(stack, len(numbers))
            found[key] = list(numbers), [own.get(source, -1) for source in same]
        self._kept = {}
        return found

    def _built(self) -> dict[str, _Stack]:
        """Return the operations that the builder holds, by operation and graph."""
        info = self._builder.Build()
        if isinstance(info, bytes):
            from tensorflow.core.framework import graph_debug_info_pb2

            info = graph_debug_info_pb2.GraphDebugInfo.FromString(info)
        frames = {
            number: (info.files[frame.file_index], frame.line, frame.func)
            for number, frame in info.frames_by_id.items()
        }
        stacks = {
            number: self._reduce(tuple(frames[item] for item in trace.frame_id if item in frames))
            for number, trace in info.traces_by_id.items()
        }
        return {name: stacks[number] for name, number in info.name_to_trace_id.items() if number in stacks}

    def _reduce(self, frames: tuple[Place, ...]) -> _Stack:
        known = self._by_frames.get(frames)
        if known is None:
            known = self._by_frames[frames] = self._reduced(frames)
        return known

    def _reduced(self, frames: tuple[Place, ...]) -> _Stack:
        items: list[Place | int] = []
        others: list[Place | int] = []
        area, gradient, replica, control = "", False, False, False
        for frame in frames:
            file = frame[0]
            if not call_site.is_machinery(file) and "__autograph_generated_file" not in file:
                others.append(frame)
                if self._is_user(file):
                    items += [CONTROL_FLOW, frame] if control else [frame]
                    control = False
                    area = ""  # what the user's own code builds within a layer is the user's
                    continue
            place = file.replace("\\", "/")
            control = control or _CONTROL_FLOW in place
            replica = replica or (frame[2] == "run" and place.endswith(_REPLICA_FILE))
            if place.endswith(_LAYER_FILES) and frame[2] == "__call__":
                items.append(LAYER_CALL)
                others.append(LAYER_CALL)
            gradient = gradient or place.endswith(_GRADIENT_FILES)
            area = _area(place) or area
        foreign = not any(isinstance(item, tuple) for item in items)
        return _Stack(tuple(others if foreign else items), area, gradient, foreign, replica)

    def _below(self, started: Sequence[Started], index: int, stack: _Stack) -> _Stack:
        """Return the stack of a replica's operation below the call that started the replica."""
        calls = started_before(started, index).frames
        frames = ((place.file, place.line, place.function) for place in reversed(calls))
        above = [frame for frame in frames if self._is_user(frame[0])]
        if not above:
            return stack
        own = (item for item in stack.items if not stack.foreign or isinstance(item, int))
        return stack._replace(items=(*above, *own), foreign=False, replica=False)


def tabulate(stacks: Iterable[_Stack]) -> tuple[list[str], list[tuple[int, int, str]], list[Traceback]]:
    """Files, frames and tracebacks as ``GraphContents`` keeps them."""
    files: dict[str, int] = {}
    frames: dict[tuple[int, int, str], int] = {}
    rows = []
    for stack in stacks:
        numbers = []
        for item in stack.items:
            if isinstance(item, tuple):
                frame = (files.setdefault(item[0], len(files)), item[1], item[2])
                numbers.append(frames.setdefault(frame, len(frames)))
            else:
                numbers.append(item)
        rows.append(Traceback(numbers, stack.area, stack.gradient, stack.foreign))
    return list(files), list(frames), rows


def _area(place: str) -> str:
    """Return the part of Keras that a file belongs to; "saved_model" for the loader of saved functions."""
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
