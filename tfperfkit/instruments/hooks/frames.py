"""Keeping our own frames out of the user's tracebacks and out of TensorFlow's error messages.

A wrapper of ours that stands on the stack would be seen in three places: tracebacks that TensorFlow and Keras
filter, the stack that each graph operation remembers ("Detected at node ... defined at"), and the traceback of an
exception that passes through the wrapper. Each needs its own remedy; all are taken back by ``show_own_frames``.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any

from tfperfkit.instruments.hooks.notes import remark

#: Folder of tfperfkit's wrappers. TensorFlow and Keras look for this text in a frame's file name.
OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_FILTERS = (
    "tensorflow.python.util.traceback_utils",
    "keras.src.utils.traceback_utils",
    "tf_keras.src.utils.traceback_utils",
)


def hide_own_frames() -> None:
    """Add our folder to the paths that the traceback filters leave out.

    Touches only modules that are already imported, so call it again before user code runs under a wrapper: Keras is
    often imported later. Costs three dictionary look-ups when there is nothing to do.
    """
    for name in _FILTERS:
        module = sys.modules.get(name)
        paths = getattr(module, "_EXCLUDED_PATHS", None)
        if isinstance(paths, tuple) and OWN_FOLDER not in paths:
            module._EXCLUDED_PATHS = (*paths, OWN_FOLDER)  # type: ignore[union-attr]
        elif module is not None and not isinstance(paths, tuple):
            remark(f"{name} has no _EXCLUDED_PATHS: the script's tracebacks may show a line of tfperf")


def show_own_frames() -> None:
    """Take back what ``hide_own_frames`` did."""
    for name in _FILTERS:
        module = sys.modules.get(name)
        paths = getattr(module, "_EXCLUDED_PATHS", None)
        if isinstance(paths, tuple) and OWN_FOLDER in paths:
            module._EXCLUDED_PATHS = tuple(p for p in paths if p != OWN_FOLDER)  # type: ignore[union-attr]


def without_own_head(traceback: TracebackType | None) -> TracebackType | None:
    """Return the traceback without the frames of ours at its head.

    Set it on an exception inside the ``except`` of the wrapper and use a bare ``raise``: from Python 3.11 on the
    wrapper's frame is then gone. Python 3.10 puts the frame back; there only the filtered tracebacks lack it.
    """
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(OWN_FOLDER):
        if traceback.tb_next is None:
            return traceback  # it was raised by us: nothing to hide it behind
        traceback = traceback.tb_next
    return traceback


_filter_class: type[Any] | None = None


def operation_stack_filter() -> Any:
    """Return a context manager under which new graph operations don't remember the frames of files below
    ``OWN_FOLDER``.

    For the calling thread only. Raises whatever TensorFlow raises when this one has no such filter.
    """
    global _filter_class
    if _filter_class is None:
        from tensorflow.python.util import tf_stack

        ours = frozenset(
            os.path.join(folder, name)
            for folder, _, names in os.walk(OWN_FOLDER)
            for name in names
            if name.endswith(".py")
        )

        def get_filtered_filenames(self: Any) -> frozenset[str]:
            return ours | frozenset(self.parent.get_filtered_filenames())

        members = {"get_filtered_filenames": get_filtered_filenames}
        _filter_class = type("OwnFramesFilter", (tf_stack.StackTraceFilter,), members)
    return _filter_class()
