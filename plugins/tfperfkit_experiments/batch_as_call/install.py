"""Serves ``train_on_batch``, and a ``fit`` of one batch, by the model's ``train_step`` compiled once.

Keras' own first call after each ``compile`` builds what is needed, and is left as it is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import attribute, module, seams

#: Keras' own size of a batch, where ``fit`` is given none.
_BATCH = 32
#: What ``fit`` may be given beside its data.
_FIT = frozenset({"batch_size", "epochs", "verbose", "shuffle"})


class _Compiled(NamedTuple):
    """``of``: Keras' own function, which ``compile`` takes away: then what was compiled here is out of date too."""

    of: Any
    step: Callable[..., Any]


class _Steps:
    """Of each model."""

    def __init__(self, tensorflow: Any) -> None:
        self._tensorflow = tensorflow
        self._known: weakref.WeakKeyDictionary[Any, _Compiled] = weakref.WeakKeyDictionary()

    def of(self, model: Any) -> Callable[..., Any] | None:
        """The compiled step; None before Keras' own first call."""
        known = self._known.get(model)
        if getattr(model, "run_eagerly", True) or known is None or known.of is not model.train_function:
            return None
        return known.step

    def learn(self, model: Any) -> None:
        """After a call of Keras' own."""
        function = getattr(model, "train_function", None)
        if function is not None and (model not in self._known or self._known[model].of is not function):
            self._known[model] = _Compiled(function, self._compiled(weakref.ref(model)))

    def _compiled(self, model: Any) -> Callable[..., Any]:
        def step(x: Any, y: Any, sample_weight: Any) -> Any:
            owner = model()
            owner.reset_metrics()
            return owner.train_step((x, y, sample_weight))

        made: Callable[..., Any] = self._tensorflow.function(step, reduce_retracing=True)
        return made


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """For models that are compiled as usual."""
    steps = _Steps(module("tensorflow"))

    def served(step: Callable[..., Any], x: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        trial.applied()
        made = step(x, y, sample_weight)
        return {name: made[name].numpy() for name in sorted(made)}  # in Keras' order

    def by_batch(original: Callable[..., Any]) -> Callable[..., Any]:
        def train_on_batch(
            model: Any,
            x: Any,
            y: Any = None,
            sample_weight: Any = None,
            class_weight: Any = None,
            return_dict: bool = False,
        ) -> Any:
            step = steps.of(model) if class_weight is None else None
            if step is None:
                given = original(model, x, y, sample_weight, class_weight, return_dict)
                steps.learn(model)
                return given
            logs = served(step, x, y, sample_weight)
            return logs if return_dict else model._flatten_metrics_in_order(logs)

        return train_on_batch

    def by_fit(original: Callable[..., Any]) -> Callable[..., Any]:
        def fit(model: Any, x: Any = None, y: Any = None, *arguments: Any, **named: Any) -> Any:
            step = steps.of(model) if not arguments and _is_one_batch(x, y, named) else None
            if step is None:
                given = original(model, x, y, *arguments, **named)
                steps.learn(model)
                return given
            history = model.history = attribute("keras.callbacks", "History")()
            history.set_model(model)
            history.epoch = [0]
            history.history = {name: [float(value)] for name, value in served(step, x, y, None).items()}
            return history

        return fit

    with seams() as made:

        def keras() -> None:
            for name, serving in (("train_on_batch", by_batch), ("fit", by_fit)):
                for owner in having(name):
                    made.replace(owner, name, serving)

        trial.when_keras(keras)
        yield


def _is_one_batch(x: Any, y: Any, named: dict[str, Any]) -> bool:
    """Whether ``fit`` makes one update with these arrays, and nothing else."""
    if not set(named) <= _FIT or named.get("epochs", 1) != 1 or named.get("verbose", "auto") != 0:
        return False
    rows = len(x) if hasattr(x, "shape") and x.shape and y is not None else 0
    return 0 < rows <= (named.get("batch_size") or _BATCH)
