"""Recording which source line each operation of a graph comes from; runs once per trace, in the user's process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.probe import Recording
from tfperfkit_probes.lines.graph.model import STREAM, BuiltGraphs, Place
from tfperfkit_probes.traced_function import definition

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
    """Describes each trace."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lock = threading.Lock()
        self._number = 0

    def __call__(self, functions: Mapping[str, str], traced: Any, cost_ns: int) -> None:
        """See ``Recording.follow_graphs``."""
        with self._lock:
            self._number += 1
            number = self._number
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
        row = BuiltGraphs(number=number, cost_ns=cost_ns, functions=dict(functions), **described)
        self._recording.append(STREAM, row)


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
    try:
        graphs = recording.follow_graphs(Recorder(recording))
    except Unavailable as reason:
        recording.note(f"lines inside compiled functions can't be seen: {reason}")
        yield
        return
    try:
        yield
    finally:
        for limit in graphs.end():
            recording.note(f"lines inside compiled functions: {limit}")
