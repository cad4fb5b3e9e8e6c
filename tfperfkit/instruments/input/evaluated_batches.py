"""The moments between the batches of Keras' ``evaluate`` and ``predict``, from its own callbacks for them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks import method_seam

_CALLBACKS = "keras.src.callbacks.callback_list"
_METHODS = ("on_test_batch_begin", "on_predict_batch_begin")


class EvaluatedBatches:
    """``begins()`` is called before each batch, on the thread that evaluates: no operation is under way there then."""

    def __init__(self, begins: Callable[[], None]) -> None:
        self._begins = begins
        self._restores: list[Callable[[], None]] = []
        self.reasons: list[str] = []

    def install(self) -> None:
        """Nothing when Keras is not loaded. A second call does nothing."""
        owner = getattr(sys.modules.get(_CALLBACKS), "CallbackList", None)
        if owner is None or self._restores or self.reasons:
            return
        try:
            for name in _METHODS:
                self._restores.append(method_seam.install(owner, name, self._before, _after))
        except Unavailable as error:
            self.reasons.append(f"the pipelines of evaluate and predict are not measured within them ({error})")

    def restore(self) -> None:
        for undo in reversed(self._restores):
            undo()
        self._restores.clear()

    def _before(self, callbacks: Any) -> None:
        self._begins()


def _after(token: Any, called: bool) -> None:
    """Never called: no call is of interest when it ends."""
