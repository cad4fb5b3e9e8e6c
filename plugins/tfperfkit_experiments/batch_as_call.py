"""``batch-as-call``: serves ``train_on_batch``, and a ``fit`` of one batch, by one compiled function."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from tfperfkit.experiment import Change
from tfperfkit.remedy import CallDirectly
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams

#: The batch size of ``fit`` if it is given none.
_BATCH = 32
#: Arguments of ``fit`` that are allowed besides its data.
_FIT = frozenset({"batch_size", "epochs", "verbose", "shuffle"})


class BatchAsCall(Base):
    """Applies from the second batch on; not with class weights, callbacks, a progress bar or ``run_eagerly``.

    The first call after each ``compile`` is left to Keras: it builds what is needed.
    """

    name = "batch-as-call"
    keeps = "mathematics"
    remedies = (CallDirectly("fit"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Call the model's ``train_step``, compiled once."""
        steps = _Steps(seams.tensorflow)

        def served(step: Callable[..., Any], x: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
            seams.applied()
            made = step(x, y, sample_weight)
            return {name: made[name].numpy() for name in sorted(made)}  # in Keras' order

        def train_on_batch(
            original: Any,
            model: Any,
            x: Any,
            y: Any = None,
            sample_weight: Any = None,
            class_weight: Any = None,
            return_dict: bool = False,
        ) -> Any:
            step = steps.find(model) if class_weight is None else None
            if step is None:
                given = original(model, x, y, sample_weight, class_weight, return_dict)
                steps.learn(model)
                return given
            logs = served(step, x, y, sample_weight)
            return logs if return_dict else model._flatten_metrics_in_order(logs)

        def fit(original: Any, model: Any, x: Any = None, y: Any = None, *arguments: Any, **named: Any) -> Any:
            step = steps.find(model) if not arguments and _is_one_batch(x, y, named) else None
            if step is None:
                given = original(model, x, y, *arguments, **named)
                steps.learn(model)
                return given
            history = model.history = seams.find("keras.callbacks:History")()
            history.set_model(model)
            history.epoch = [0]
            history.history = {name: [float(value)] for name, value in served(step, x, y, None).items()}
            return history

        seams.replace_in_models("train_on_batch", train_on_batch)
        seams.replace_in_models("fit", fit)


class _Compiled(NamedTuple):
    """``keras``: the function that Keras made, which ``compile`` drops; ``step`` is out of date then, too."""

    keras: Any
    step: Callable[..., Any]


class _Steps:
    """The compiled step of each model."""

    def __init__(self, tensorflow: Any) -> None:
        self._tensorflow = tensorflow
        self._known: weakref.WeakKeyDictionary[Any, _Compiled] = weakref.WeakKeyDictionary()

    def find(self, model: Any) -> Callable[..., Any] | None:
        """The compiled step; None before Keras has made its own function."""
        known = self._known.get(model)
        if getattr(model, "run_eagerly", True) or known is None or known.keras is not model.train_function:
            return None
        return known.step

    def learn(self, model: Any) -> None:
        """Compile the step if Keras has made a function of its own."""
        function = getattr(model, "train_function", None)
        if function is not None and (model not in self._known or self._known[model].keras is not function):
            self._known[model] = _Compiled(function, self._compile(weakref.ref(model)))

    def _compile(self, model: Any) -> Callable[..., Any]:
        def step(x: Any, y: Any, sample_weight: Any) -> Any:
            owner = model()
            owner.reset_metrics()
            return owner.train_step((x, y, sample_weight))

        made: Callable[..., Any] = self._tensorflow.function(step, reduce_retracing=True)
        return made


def _is_one_batch(x: Any, y: Any, named: dict[str, Any]) -> bool:
    """Whether ``fit`` makes one update with these arrays, and does nothing else."""
    if not set(named) <= _FIT or named.get("epochs", 1) != 1 or named.get("verbose", "auto") != 0:
        return False
    rows = len(x) if hasattr(x, "shape") and x.shape and y is not None else 0
    return 0 < rows <= (named.get("batch_size") or _BATCH)
