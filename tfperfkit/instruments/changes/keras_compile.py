"""What a script hands to ``compile`` of its Keras models, and the classes that have ``fit``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.changes.replaced import Seams

_TRAINERS = {
    "keras": (("keras.src.trainers.trainer", "Trainer"), ("keras.src.backend.tensorflow.trainer", "TensorFlowTrainer")),
    "tf_keras": (("tf_keras.src.engine.training", "Model"),),
}


def on_compile(seams: Seams, change: Callable[[dict[str, Any]], None]) -> None:
    """``change`` may alter the named arguments of every ``compile``. Keras has been imported."""

    def compiling(original: Callable[..., Any]) -> Callable[..., Any]:
        def compile(model: Any, *arguments: Any, **named: Any) -> Any:
            if type(model).compile is not compile and len(arguments) > 3:
                return original(model, *arguments, **named)
            change(named)
            return original(model, *arguments, **named)

        return compile

    for owner in having("compile"):
        seams.replace(owner, "compile", compiling)


def having(method: str) -> list[Any]:
    """The loaded classes with this method of their own, the base that others override left out. Raises Unavailable when
    there is none."""
    found = []
    for places in _TRAINERS.values():
        for place, name in places:
            owner = getattr(sys.modules.get(place), name, None)
            if owner is not None and method in vars(owner) and (method == "compile" or name != "Trainer"):
                found.append(owner)
    if not found:
        raise Unavailable(f"no class of this Keras that tfperf knows defines {method}")
    return found
