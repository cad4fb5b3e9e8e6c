"""``one-model``: fits the first of several models that are set up alike instead of each of them, with the weights and
the optimizer's state of each, and skips a ``compile`` that changes nothing, so that traces are kept."""

from __future__ import annotations

import inspect
import json
import weakref
from collections.abc import Sequence
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Compile, KeepTrace
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class OneModel(Base):
    """Callbacks see the first model. Applies to models that are built, with an optimizer and a loss that Keras can
    serialize."""

    name = "one-model"
    keeps = "results"
    remedies = (KeepTrace("models"), KeepTrace("keras"), KeepTrace("unknown"), Compile("jacobian"))
    whole_run = True

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``fit`` of models that are set up alike, and ``compile`` of one that is compiled so already."""
        fitted: dict[str, Any] = {}
        #: How a model was compiled last.
        settings: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        seams.refuse("no model was fitted that is set up as one before, nor compiled again as it was")

        def fit(original: Any, model: Any, /, *arguments: Any, **named: Any) -> Any:
            key = _set_up(seams, model)
            first = fitted.setdefault(key, model) if key else model
            if first is model:
                return original(model, *arguments, **named)
            seams.applied()
            own = [[item.numpy() for item in states] for states in _states(first)]
            _assign(_states(model), _states(first))
            try:
                history = original(first, *arguments, **named)
            finally:
                _assign(_states(first), _states(model))
                _assign(own, _states(first))
            model.history, model.stop_training = history, first.stop_training
            return history

        def compile(original: Any, model: Any, /, *arguments: Any, **named: Any) -> Any:
            given = inspect.signature(original).bind(model, *arguments, **named).arguments
            setting = _setting(seams, model, given)
            known = bool(setting) and settings.get(model) == setting
            if known and _reset(seams, model, given.get("optimizer", "rmsprop")):
                seams.applied()
                return None
            settings[model] = ""  # a class may call its base's
            result = original(model, *arguments, **named)
            settings[model] = setting
            return result

        seams.replace_in_models("fit", fit)
        seams.replace_in_models("compile", compile)


def _states(model: Any) -> tuple[Any, Any]:
    """All that ``fit`` changes: weights, counters of random layers, metrics; and the optimizer's state."""
    return model.variables, model.optimizer.variables


def _assign(sources: Sequence[Sequence[Any]], targets: Sequence[Sequence[Any]]) -> None:
    """Give each state of a model the values of another's."""
    for values, states in zip(sources, targets, strict=True):
        for value, state in zip(values, states, strict=False):
            state.assign(value)


def _set_up(seams: Seams, model: Any) -> str:
    """Return a text that is equal for models of the same layers and the same ``compile``; "" if it can't be made."""
    serialize = seams.find("keras.src.saving.serialization_lib").serialize_keras_object
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
        _number_names(configuration, names)
        return type(model).__qualname__ + json.dumps(
            _with_names([*configuration, shapes], names), sort_keys=True, default=_refuse
        )
    except Exception:  # a class that can't be serialized
        return ""


def _number_names(value: Any, names: dict[str, str]) -> None:
    """Number the names of layers in their order: the first is "0", whatever it is called."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        _number_names(item, names)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        names.setdefault(value["name"], str(len(names)))


def _with_names(value: Any, names: dict[str, str]) -> Any:
    """The configuration with these names instead of its own."""
    if isinstance(value, dict):
        return {key: _with_names(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_names(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} can't be serialized")


def _setting(seams: Seams, model: Any, given: dict[str, Any]) -> str:
    """Return a text that is equal if ``compile`` would have the same effect, with the same layers to be trained; "" if
    it can't be made."""
    serialize = seams.find("keras.src.saving.serialization_lib").serialize_keras_object
    try:
        written = {name: serialize(value) for name, value in given.items() if name != "self"}
        if isinstance(written.get("optimizer"), dict):  # each one made has a name of its own
            written["optimizer"]["config"].pop("name", None)
        layers = [(id(layer), layer.trainable) for layer in model._flatten_layers()]
        return json.dumps([written, layers], sort_keys=True)
    except Exception:  # a class of the script's that can't be serialized, tf_keras
        return ""


def _reset(seams: Seams, model: Any, optimizer: Any) -> bool:
    """Reset the optimizer's state and the metrics as ``compile`` does; False if that can't be done."""
    old = model.optimizer
    if optimizer is not old and old.built:
        fresh = seams.find("keras").optimizers.get(optimizer)
        if fresh.built:  # it has a state already
            return False
        fresh.build(old._trainable_variables)
        if len(fresh.variables) != len(old.variables):
            return False
        for variable, begin in zip(old.variables, fresh.variables, strict=True):
            variable.assign(begin)
    model.reset_metrics()
    model.stop_training = False
    return True
