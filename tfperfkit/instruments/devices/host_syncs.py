"""Record where Python waits for the value of an eager tensor: ``.numpy()``, ``float(t)``, ``if t:``, printing it.

All of these go through ``EagerTensor._numpy``. Copies through the buffer protocol (``np.asarray(t)``) don't go through
that method. Meant for a few steps: each value that is read costs some microseconds meanwhile.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from tfperfkit import clock
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.devices import runtime
from tfperfkit.instruments.hooks import method_seam
from tfperfkit.instruments.stacks.call_site import user_line
from tfperfkit.records.placement import Sync

_HOW = {
    "numpy": ".numpy()",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "as an index",
    "__bool__": "bool() or if",
    "__complex__": "complex()",
    "__format__": "formatted",
    "numpy_text": "printed",
    "__array__": "as an array",
    "__reduce__": "pickled",
    "__str__": "printed",
    "__repr__": "printed",
}


class HostSyncs:
    """Counts on the thread that made it, from ``install`` to ``restore``; ``take`` gives what came since the last."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._thread = threading.get_ident()
        self._inside = False
        self._found: dict[tuple[Any, ...], list[int]] = {}
        self._restore: Callable[[], None] = lambda: None

    def install(self) -> None:
        """Raises ``Unavailable`` when this TensorFlow's eager tensors have no such method."""
        ops = sys.modules.get("tensorflow.python.framework.ops")
        owner = getattr(ops, "_EagerTensorBase", None)
        if owner is None:
            raise Unavailable("reads of eager tensors can't be seen: this TensorFlow has no _EagerTensorBase")
        try:
            self._restore = method_seam.install(owner, "_numpy", self._before, self._after)
        except (Unavailable, TypeError) as error:
            raise Unavailable(f"reads of eager tensors can't be seen: {error}") from error

    def restore(self) -> None:
        self._restore()

    def take(self) -> list[Sync]:
        """Return the counts since the last call, and start again at zero."""
        found, self._found = self._found, {}
        return [
            Sync(file, line, function, how, device, through, count, blocked)
            for (file, line, function, how, through, device), (count, blocked) in found.items()
        ]

    def _before(self, tensor: Any) -> tuple[tuple[Any, ...], Any, int] | None:
        if self._inside or threading.get_ident() != self._thread:
            return None
        self._inside = True
        try:
            caller = sys._getframe(2)
            place, through = user_line(caller, self._is_user)
            how = _HOW.get(caller.f_code.co_name, "converted")
            return (*place, how, through), tensor, clock.now_ns()
        finally:
            self._inside = False

    def _after(self, token: tuple[tuple[Any, ...], Any, int], called: bool) -> None:
        ended = clock.now_ns()
        key, tensor, began = token
        if called:
            # Asked now: before the read the answer itself may wait for the tensor.
            entry = self._found.setdefault((*key, runtime.short(str(tensor.device))), [0, 0])
            entry[0] += 1
            entry[1] += ended - began
