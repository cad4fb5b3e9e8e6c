"""``compile`` of a model that is compiled so already: what was traced stays, all that ``compile`` makes begins anew."""

from __future__ import annotations

import inspect
import json
import weakref
from collections.abc import Callable
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module


def compiling(trial: Trial) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For the same arguments, the same layers, and the same ones of them to be trained as at the last call."""
    #: How a model was compiled last.
    settings: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def compile(model: Any, *arguments: Any, **named: Any) -> Any:
            given = signature.bind(model, *arguments, **named).arguments
            setting = _setting(model, given)
            if setting and settings.get(model) == setting and _begun_anew(model, given.get("optimizer", "rmsprop")):
                trial.applied()
                return None
            settings[model] = ""  # a class may call its base's
            result = original(model, *arguments, **named)
            settings[model] = setting
            return result

        return compile

    return make


def _setting(model: Any, given: dict[str, Any]) -> str:
    """Equal where ``compile`` would make the same of it; "" where that can't be said."""
    serialize = module("keras.src.saving.serialization_lib").serialize_keras_object
    try:
        written = {name: serialize(value) for name, value in given.items() if name != "self"}
        if isinstance(written.get("optimizer"), dict):  # each one made has a name of its own
            written["optimizer"]["config"].pop("name", None)
        layers = [(id(layer), layer.trainable) for layer in model._flatten_layers()]
        return json.dumps([written, layers], sort_keys=True)
    except Exception:  # a class of the script's that can't be written down, tf_keras
        return ""


def _begun_anew(model: Any, optimizer: Any) -> bool:
    """The optimizer's state and the metrics as after ``compile``; False where that can't be had."""
    old = model.optimizer
    if optimizer is not old and old.built:
        fresh = module("keras").optimizers.get(optimizer)
        if fresh.built:  # it brings a state along
            return False
        fresh.build(old._trainable_variables)
        if len(fresh.variables) != len(old.variables):
            return False
        for variable, begin in zip(old.variables, fresh.variables, strict=True):
            variable.assign(begin)
    model.reset_metrics()
    model.stop_training = False
    return True
