"""Markers of calls that nobody has to hear of: by C code (``_quiet.c``) where it could be built, else by Python's.

The cost of a hook between two steps is the memory that it fetches: TensorFlow has just emptied the caches. In C that is
a tenth. The Python way is whole without it, and every call that is not a plain one goes there in any case.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from tfperfkit import native
from tfperfkit.instruments.hooks.method_seam import After, Around, Before
from tfperfkit.records.steps import Marker

if TYPE_CHECKING:
    from tfperfkit.instruments.steps import _quiet
else:
    try:
        _quiet = native.built("tfperfkit.instruments.steps._quiet")
    except ImportError:
        _quiet = None

#: Whether markers are made by C code here. Code that an earlier version built, in a checkout that was updated, is none.
NATIVE = hasattr(_quiet, "Queue")


class MarkerQueue(Protocol):
    """The methods of a ``deque`` that both implementations have."""

    def append(self, marker: Marker, /) -> None: ...
    def popleft(self) -> Marker: ...
    def __len__(self) -> int: ...


class PythonCalls:
    """State that the seams share, in the form of ``_quiet.Calls``: see there.

    Nothing is remembered for code that is not there.
    """

    def __init__(self) -> None:
        self.inside = 0  # observed calls that are under way, one within the other
        self.cost_ns = 0  # time spent in the hooks
        self.held = False  # whether somebody waits for a call: then each is announced
        self.late: Any = None
        self.marker: Any = None
        self.context: Any = None
        self.thread: int | None = None  # the training thread: the one that made the first update
        #: While nobody needs to know when a step begins, calls of known functions only leave this record.
        self.quietly: Callable[[Any], object] | None = None

    def remember(
        self, key: int, code: CodeType, instruction: int, depth: int, chain: tuple[tuple[CodeType, int], ...], site: int
    ) -> bool:
        """Calls of the function of this ``id`` come from there; False if that is not to be remembered."""
        return False

    def pass_by(self, key: int) -> None:
        """Calls of it are of no interest."""

    def forget(self, key: int) -> None:
        """Forget the facts about the function."""

    def drop(self, key: int) -> None:
        """The function is gone."""

    def counted(self, key: int) -> int:
        """Return how many of its calls were noted by C code."""
        return 0

    def elsewhere(self) -> None:
        """The calling thread trains on the side."""


if TYPE_CHECKING:
    Calls = PythonCalls
else:
    Calls = _quiet.Calls if NATIVE else PythonCalls


def queue(marker: Callable[[int, int, int], Marker]) -> MarkerQueue:
    """Markers that wait, in order. To its ``append`` C code hands three numbers, of which ``marker`` makes the marker
    when it is asked for; Python has a deque."""
    return _quiet.Queue(marker) if NATIVE else deque()


def _seam_class() -> type[Around] | None:
    if not NATIVE:
        return None

    class QuietSeam(_quiet.Seam, Around):
        """Asks ``Around`` wherever a call is not a plain one."""

        def __init__(self, calls: Any, shared: bool, original: Any, before: Before, after: After) -> None:
            Around.__init__(self, original, before, after)
            self.slow = Around.__get__
            self.shared = shared
            if isinstance(calls, _quiet.Calls):
                self.calls = calls

    return QuietSeam


_QuietSeam: Any = _seam_class()


def seam_of(calls: Any, shared: bool = False) -> Callable[[Any, Before, After], Around]:
    """Return a function that makes the seam of calls that ``calls`` knows: for each instance, or (``shared``) under 0
    for all alike.
    """
    if _QuietSeam is None:
        return Around

    def make(original: Any, before: Before, after: After) -> Around:
        made: Around = _QuietSeam(calls, shared, original, before, after)
        return made

    return make


def names_of(context: Any) -> dict[str, Any] | None:
    """Return the names of TensorFlow's module ``context``, where it can be read there whether it runs eagerly on this
    thread; None if that stands elsewhere."""
    names = vars(context)
    local = getattr(names.get("_context"), "_thread_local_data", None)
    known = type(local).__name__ == "EagerContextThreadLocalData"
    return names if known and getattr(local, "is_eager", None) is context.executing_eagerly() else None
