"""Record where the operations run that Python calls one by one, and which tensors are copied to them from another
device.

TensorFlow tells each such operation to a callback (``op_callbacks``), on the thread that asked for it: some 4
microseconds each, so for a few steps only.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.devices.runtime import short
from tfperfkit.instruments.devices.source import merged, satisfies
from tfperfkit.instruments.stacks.call_site import user_line
from tfperfkit.records.placement import EagerCopy, EagerFallback

#: Values of these types lie on the host or are handles: an operation elsewhere takes them without a copy of data.
_UNCOUNTED = frozenset({"resource", "variant", "string", "int32"})
_CALLS = ("__inference_", "__forward_", "__backward_", "StatefulPartitionedCall", "PartitionedCall")


class EagerDevices:
    """Counts from ``install`` to ``restore``, on the calling thread; ``take`` gives what came since the last."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._names: dict[str, str] = {}
        self._context: Any = None
        self._counting = False
        self._clear()

    def install(self) -> None:
        """Raises ``Unavailable`` when TensorFlow is not imported or has no such callbacks."""
        if "tensorflow" not in sys.modules:
            raise Unavailable("TensorFlow is not imported, so there are no operations to watch")
        try:
            from tensorflow.python.eager import context
            from tensorflow.python.framework import op_callbacks

            op_callbacks.add_op_callback(self._note_call)
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            raise Unavailable(f"eager operations can't be seen in this TensorFlow ({words})") from error
        self._context, self._counting = context.context(), True

    def restore(self) -> None:
        self._counting = False  # TensorFlow may go on calling: it holds the callback for the thread that installed it
        try:
            from tensorflow.python.eager import execute
            from tensorflow.python.framework import op_callbacks

            op_callbacks.remove_op_callback(self._note_call)
            # It puts its own function back only where no graph is being built.
            if not self._context.op_callbacks and execute.execute is execute.execute_with_callbacks:
                execute.execute = execute.quick_execute
        except Exception:
            pass  # on another thread, or the script cleared all callbacks

    def take(self) -> tuple[dict[str, int], list[EagerCopy], list[EagerFallback]]:
        """(operations by device, copies, fallbacks)."""
        ops, copies, fallbacks = dict(self._ops), self._copies, self._fallbacks
        self._clear()
        return (
            ops,
            [
                EagerCopy(source, target, file, line, function, op, count, size)
                for (source, target, file, line, function, op), (count, size) in copies.items()
            ],
            [
                EagerFallback(op, requested, assigned, file, line, function, count)
                for (op, requested, assigned, file, line, function), count in fallbacks.items()
            ],
        )

    def _clear(self) -> None:
        self._ops: Counter[str] = Counter()
        self._copies: dict[tuple[Any, ...], list[int]] = {}
        self._fallbacks: Counter[tuple[Any, ...]] = Counter()

    def _note_call(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        if graph is not None or not self._counting:
            return
        try:
            name = op_type.decode() if isinstance(op_type, bytes) else op_type
            if not name.startswith(_CALLS):
                self._count(name, inputs, outputs)
        except Exception:
            pass

    def _count(self, name: str, inputs: Any, outputs: Any) -> None:
        if not outputs and not inputs:
            return
        home = self._short(outputs[0].device if outputs else inputs[0].device)
        self._ops[home] += 1
        for tensor in inputs:
            source = self._short(tensor.device)
            if source != home and tensor.dtype.name not in _UNCOUNTED:
                place, _ = user_line(sys._getframe(2), self._is_user)
                entry = self._copies.setdefault((source, home, *place, name), [0, 0])
                entry[0] += 1
                entry[1] += int(tensor.shape.num_elements() or 0) * int(tensor.dtype.size)
        asked = self._context.device_name
        if asked and not satisfies(home, short(asked)):
            place, _ = user_line(sys._getframe(2), self._is_user)
            self._fallbacks[(name, merged(asked), home, *place)] += 1

    def _short(self, device: str) -> str:
        known = self._names.get(device)
        if known is None:
            known = self._names[device] = short(device)
        return known
