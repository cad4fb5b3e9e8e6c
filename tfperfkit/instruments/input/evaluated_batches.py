"""The moments between the batches of Keras' ``evaluate`` and ``predict``, from its own callbacks for them."""

from __future__ import annotations

from collections.abc import Callable

from tfperfkit.instruments.input.callback_moments import CallbackMoments

_METHODS = ("on_test_batch_begin", "on_predict_batch_begin")


class EvaluatedBatches(CallbackMoments):
    """``begins()`` is called before each batch, on the thread that evaluates: no operation is under way there then."""

    def __init__(self, begins: Callable[[], None]) -> None:
        super().__init__(
            dict.fromkeys(_METHODS, lambda callbacks: begins()),
            "the pipelines of evaluate and predict are not measured within them",
        )
