"""Moments of ``fit``, ``evaluate`` and ``predict``, and of their batches, seen where Keras calls its callbacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks import method_seam

_CALLBACKS = "keras.src.callbacks.callback_list"


class CallbackMoments:
    """``before``: by the method of the list, what is called before it, on the thread that calls it; its frame is two
    above. ``without``: what can't be seen where this Keras has no such methods."""

    def __init__(self, before: Mapping[str, Callable[[Any], None]], without: str) -> None:
        self._before = before
        self._without = without
        self._restores: list[Callable[[], None]] = []
        self.reasons: list[str] = []

    def install(self) -> None:
        """Nothing when Keras is not loaded. A second call does nothing."""
        owner = getattr(sys.modules.get(_CALLBACKS), "CallbackList", None)
        if owner is None or self._restores or self.reasons:
            return
        try:
            for method, before in self._before.items():
                self._restores.append(method_seam.install(owner, method, before, _after))
        except Unavailable as error:
            self.reasons.append(f"{self._without} ({error})")

    def restore(self) -> None:
        for undo in reversed(self._restores):
            undo()
        self._restores.clear()


def _after(token: Any, called: bool) -> None:
    """Never called: no call is of interest when it ends."""


_METHODS = ("on_test_batch_begin", "on_predict_batch_begin")


class EvaluatedBatches(CallbackMoments):
    """``begins()`` is called before each batch, on the thread that evaluates: no operation is under way there then."""

    def __init__(self, begins: Callable[[], None]) -> None:
        super().__init__(
            dict.fromkeys(_METHODS, lambda callbacks: begins()),
            "the pipelines of evaluate and predict are not measured within them",
        )
