"""Recording which source line each operation of a graph comes from; runs once per trace, in the user's process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs.sources import GraphSources
from tfperfkit.probe import Recording
from tfperfkit.records.graphs import Graphs
from tfperfkit_probes.lines.graph.model import STREAM, BuiltGraphs, Place
from tfperfkit_probes.traced_function import definition

#: Operations recorded of a run, at some 60 bytes each.
MAX_OPERATIONS = 300_000
_METHODS = frozenset(
    {
        "fit",
        "evaluate",
        "predict",
        "train_on_batch",
        "test_on_batch",
        "predict_on_batch",
    }
)


class Recorder:
    """The listener of ``GraphSources``."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lock = threading.Lock()
        self._number = 0
        self._operations = 0
        self._said: set[str] = set()

    def __call__(self, graphs: Graphs, traced: Any, cost_ns: int) -> None:
        operations = sum(len(graph.operations) for graph in graphs.graphs)
        with self._lock:
            self._number += 1
            self._operations += operations
            number, total = self._number, self._operations
        if total > MAX_OPERATIONS or graphs.left_out:
            self._say("the graphs hold too many operations: those beyond the limit have no source lines")
        if total > MAX_OPERATIONS:
            return
        described: dict[str, Any] = {}
        if traced is not None:
            function = getattr(traced.function, "python_function", traced.python_function)
            found = definition(function, str(getattr(traced.tracing_options, "name", "")))
            attributes = getattr(traced.tracing_options, "attributes", None) or {}
            described = {
                "function": found.function,
                "file": found.file,
                "line": found.line,
                "owner": found.owner,
                "called_from": [
                    Place(f.file, f.line, f.function)
                    for f in reversed(traced.frames)
                    if self._recording.is_user_code(f.file)
                ],
                "keras_method": _keras_method() if found.owner == "keras" else "",
                "jit_compile": bool(attributes.get("_XlaMustCompile", False)),
                "trace_ns": traced.end_ns - traced.begin_ns,
            }
        self._recording.append(STREAM, BuiltGraphs(number=number, cost_ns=cost_ns, graphs=graphs, **described))
        for file in graphs.files:
            if self._recording.is_user_code(file):
                self._recording.keep_source(file)

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._recording.note(text)


def _keras_method() -> str:
    """The method of a Keras model that is running: "fit"."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if code.co_name in _METHODS and "keras" in code.co_filename:
            return code.co_name
        frame = frame.f_back
    return ""


@contextmanager
def following_graphs(recording: Recording) -> Iterator[None]:
    """Record every graph that is built while the context is open; where that can't be, a note says why."""
    sources = GraphSources(Recorder(recording), recording.is_user_code)
    try:
        sources.start()
    except Unavailable as reason:
        recording.note(f"lines inside compiled functions can't be seen: {reason}")
        yield
        return
    try:
        yield
    finally:
        limits = sources.reasons  # those of the traces are forgotten with the last listener
        sources.stop()
        for limit in limits:
            recording.note(f"lines inside compiled functions: {limit}")
