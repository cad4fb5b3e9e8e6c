"""Which dataset a compiled function was traced with, where it got one as an argument.

Within the function the argument is a ``_VariantDataset``, made before the function's own code runs: it knows its
elements only. What was passed stands in a frame further out, in TensorFlow's tracing.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from tfperfkit.instruments.hooks.frame_locals import local

#: TensorFlow's function that traces for the arguments it is given, and the number of frames that are looked at.
_TRACING, _FRAMES = "_maybe_define_function", 60
_DEEPEST = 8


class Passed:
    """Remembers, of each graph that is being built, which arguments have been found. Holds graphs weakly."""

    def __init__(self) -> None:
        self._taken: weakref.WeakKeyDictionary[Any, set[int]] = weakref.WeakKeyDictionary()

    def number(self, frame: FrameType | None, stand_in: Any, number: Callable[[Any], int]) -> int:
        """The number of the dataset that ``stand_in`` is in a graph; 0 where that is none that is known."""
        for _ in range(_FRAMES):
            if frame is None:
                return 0
            if frame.f_code.co_name == _TRACING:
                break
            frame = frame.f_back
        else:
            return 0
        bound, graph = local(frame, "bound_args"), local(frame, "func_graph")
        if bound is None or graph is None:
            return 0
        taken = self._taken.setdefault(graph, set())
        for dataset in _datasets((bound.args, bound.kwargs)):
            found = number(dataset)
            if found and found not in taken and dataset.element_spec == stand_in.element_spec:
                taken.add(found)
                return found
        return 0


def _datasets(value: Any, depth: int = 0) -> Iterator[Any]:
    """In the order of the arguments; of their attributes only what a plain container holds."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _datasets(item, depth + 1)
    elif hasattr(type(value), "element_spec") and hasattr(type(value), "_inputs"):
        yield value
