"""Record the requests to TensorFlow 1 sessions: which operations each run fetches, and which values it is fed.

A seam on ``BaseSession._do_run`` reads the fetches and the fed arrays as TensorFlow has resolved them. So it makes no
difference how the user writes the call: ``session.run``, ``tensor.eval``, a name for the method, a dictionary of heads.
Only the first runs of each place are looked at; then the seam is taken off.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from tfperfkit.clock import now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs.same_arguments import mark_of
from tfperfkit.instruments.hooks import method_seam
from tfperfkit.instruments.hooks.frame_locals import locals_of, unseen

#: Runs that are looked at, of each place and graph, and in all.
MAX_OF_PLACE = 64
MAX = 1024
_MODULE, _OWNER, _METHOD = "tensorflow.python.client.session", "BaseSession", "_do_run"


class Run(NamedTuple):
    """``number``: of the graph, from 1; ``graph``: itself, not to be kept; ``calls``: so far at this place."""

    graph: Any
    number: int
    calls: int
    file: str
    line: int
    thread: int
    begin_ns: int
    fetched: list[str]
    feeds: dict[str, str]
    shapes: dict[str, list[int]]


class _Runs:
    def __init__(self, listener: Callable[[Run], None], is_user: Callable[[str], bool]) -> None:
        self._listener = listener
        self._is_user = is_user
        self._left = MAX
        self._graphs: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._calls: Counter[tuple[int, str, int]] = Counter()
        self.restore: Callable[[], None] = _nothing

    def before(self, session: Any) -> None:
        frame = sys._getframe(2)
        user = self._find_user(frame.f_back)
        if user is None or not unseen(frame.f_code):
            return
        number = self._graphs.setdefault(session.graph, len(self._graphs) + 1)
        key = (number, user.f_code.co_filename, user.f_lineno)
        if self._calls[key] >= MAX_OF_PLACE:
            return
        self._calls[key] += 1
        begin = now_ns()
        with locals_of(frame) as values:
            fetched = [_name_operation(item) for item in (*values["final_fetches"], *values["final_targets"])]
            fed = {_name_operation(tensor.deref()): value for tensor, value in values["feed_dict_tensor"].items()}
        made = Run(
            graph=session.graph,
            number=number,
            calls=self._calls[key],
            file=key[1],
            line=key[2],
            thread=threading.get_ident(),
            begin_ns=begin,
            fetched=fetched,
            feeds={name: _mark(value) for name, value in fed.items()},
            shapes={name: list(value.shape) for name, value in fed.items() if hasattr(value, "tobytes")},
        )
        self._listener(made)
        self._left -= 1
        if self._left <= 0:
            self.restore()

    def _find_user(self, frame: FrameType | None) -> FrameType | None:
        while frame is not None and not self._is_user(frame.f_code.co_filename):
            frame = frame.f_back
        return frame


def subscribe(listener: Callable[[Run], None], is_user: Callable[[str], bool]) -> Callable[[], None]:
    """Tell ``listener`` of each run that is looked at, before it runs; returns what ends that. Raises ``Unavailable``
    if this TensorFlow has no known seam."""
    loaded = sys.modules.get(_MODULE)
    owner = getattr(loaded, _OWNER, None)
    if owner is None:
        raise Unavailable(f"{_MODULE} is not loaded")
    runs = _Runs(listener, is_user)
    runs.restore = method_seam.install(owner, _METHOD, runs.before, _ignore)
    return runs.restore


def _name_operation(item: Any) -> str:
    """Return the name of an operation, or of the one that makes a tensor."""
    return str(item.name).partition(":")[0]


def _mark(value: Any) -> str:
    read = getattr(value, "tobytes", None)  # a TensorHandle has none
    return "" if read is None or value.dtype == object and value.nbytes > 1 << 16 else str(_mark_array(value))


def _mark_array(array: Any) -> tuple[Any, ...]:
    return (array.shape, array.tolist()) if array.dtype == object else mark_of(array)


def _ignore(token: Any, called: bool) -> None:
    pass


def _nothing() -> None:
    pass
