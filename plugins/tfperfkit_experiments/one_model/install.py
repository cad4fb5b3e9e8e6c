"""``fit`` of models that are set up alike, and ``compile`` of one that is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import module, seams
from tfperfkit_experiments.one_model.recompiled import compiling


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Models that are built, with an optimizer and a loss that Keras can write down."""
    fitted: dict[str, Any] = {}
    trial.refuse("no model was fitted that is set up as one before, nor compiled again as it was")

    def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
        def fit(model: Any, *arguments: Any, **named: Any) -> Any:
            key = set_up(model)
            first = fitted.setdefault(key, model) if key else model
            if first is model:
                return original(model, *arguments, **named)
            trial.applied()
            own = [[item.numpy() for item in states] for states in changing(first)]
            hand_over(changing(model), changing(first))
            try:
                history = original(first, *arguments, **named)
            finally:
                hand_over(changing(first), changing(model))
                hand_over(own, changing(first))
            model.history, model.stop_training = history, first.stop_training
            return history

        return fit

    def install_fit() -> None:
        for owner in having("fit"):
            made.replace(owner, "fit", fitting)
        for owner in having("compile"):
            made.replace(owner, "compile", compiling(trial))

    with seams() as made:
        trial.when_keras(install_fit)
        yield


def changing(model: Any) -> tuple[Any, Any]:
    """All that ``fit`` changes: weights, what random layers count, metrics; and the optimizer's state."""
    return model.variables, model.optimizer.variables


def hand_over(giver: Sequence[Sequence[Any]], taker: Sequence[Sequence[Any]]) -> None:
    """The values of all that the first one has."""
    for sources, targets in zip(giver, taker, strict=True):
        for source, target in zip(sources, targets, strict=False):
            target.assign(source)


def set_up(model: Any) -> str:
    """Equal for models of the same layers and the same ``compile``; "" where that can't be said."""
    serialize = module("keras.src.saving.serialization_lib").serialize_keras_object
    try:
        if not model.built or model.optimizer is None:
            return ""
        model.optimizer.build(model.trainable_variables)
        configuration = [
            model.get_config(),
            serialize(model.get_compile_config()),
            model.run_eagerly,
            model.jit_compile,
        ]
        shapes = [(tuple(item.shape), item.trainable) for item in model.variables[: len(model.weights)]]
        names: dict[str, str] = {}
        _names(configuration, names)
        return type(model).__qualname__ + json.dumps(
            _renamed([*configuration, shapes], names), sort_keys=True, default=_refuse
        )
    except Exception:  # a class that can't be written down
        return ""


def _names(value: Any, names: dict[str, str]) -> None:
    """Those of layers count up: the first is "0", whatever it is called."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        _names(item, names)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        names.setdefault(value["name"], str(len(names)))


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} can't be written down")
