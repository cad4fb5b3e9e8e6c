"""Change the arguments that a script passes to TensorFlow and Keras, and the datasets that it iterates over."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.changes.replaced import Seams, attribute, caller, module
from tfperfkit.instruments.steps.functions import own_code

_DATASET = "tensorflow.python.data.ops.dataset_ops"
_FUNCTION = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
_EPOCH = "keras.src.backend.tensorflow.trainer"
_TRAINERS = {
    "keras": (("keras.src.trainers.trainer", "Trainer"), ("keras.src.backend.tensorflow.trainer", "TensorFlowTrainer")),
    "tf_keras": (("tf_keras.src.engine.training", "Model"),),
}


class Watching(Protocol):
    """Parts of a trial that a change of datasets uses."""

    def when_keras(self, callback: Callable[[], object]) -> None: ...
    def is_user_code(self, filename: str) -> bool: ...


def on_compile(seams: Seams, change: Callable[[dict[str, Any]], object]) -> None:
    """Let ``change`` alter the named arguments of every ``compile`` of a Keras model. Keras has been imported."""

    def compiling(original: Callable[..., Any]) -> Callable[..., Any]:
        def compile(model: Any, *arguments: Any, **named: Any) -> Any:
            if type(model).compile is not compile and len(arguments) > 3:
                return original(model, *arguments, **named)
            change(named)
            return original(model, *arguments, **named)

        return compile

    for owner in model_classes("compile"):
        seams.replace(owner, "compile", compiling)


def on_model_call(seams: Seams, method: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Let ``change`` alter the arguments of a method of Keras models, such as ``fit``, by name and with ``self`` among
    them. Keras has been imported."""

    def calling(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def call(*arguments: Any, **named: Any) -> Any:
            given = signature.bind(*arguments, **named)
            change(given.arguments)
            return original(*given.args, **given.kwargs)

        return call

    for owner in model_classes(method):
        seams.replace(owner, method, calling)


def model_classes(method: str) -> list[Any]:
    """Return the loaded Keras classes that define this method. The base whose method others override counts for
    ``compile`` only. Raises Unavailable when there is none."""
    found = []
    for places in _TRAINERS.values():
        for place, name in places:
            owner = getattr(sys.modules.get(place), name, None)
            if owner is not None and method in vars(owner) and (method == "compile" or name != "Trainer"):
                found.append(owner)
    if not found:
        raise Unavailable(f"no class of this Keras that tfperf knows defines {method}")
    return found


def on_tf_function(
    seams: Seams, is_user: Callable[[str], bool], target: str, change: Callable[[dict[str, Any]], object]
) -> None:
    """Let ``change`` alter the named arguments with which a ``tf.function`` is made of a user function called
    ``target`` ("": of any)."""

    def making(original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(function: Any, python_function: Any, *arguments: Any, **named: Any) -> None:
            code = named_code(python_function, target)
            if code is not None and is_user(code.co_filename):
                change(named)
            original(function, python_function, *arguments, **named)

        return __init__

    seams.replace(attribute(_FUNCTION, "Function"), "__init__", making)


def named_code(function: Any, target: str = "") -> CodeType | None:
    """Return the code of a Python function, if ``target`` names it (``train_step`` or ``Trainer.train_step``; "":
    any)."""
    code: CodeType | None = own_code(function)
    if code is None or (target and target not in (code.co_name, getattr(code, "co_qualname", code.co_name))):
        return None
    return code


def on_iteration(seams: Seams, trial: Watching, change: Callable[[Any, int | None], Any]) -> None:
    """Iterate ``change(dataset, length)`` instead of a dataset that feeds training: in a loop of the user's, or in
    ``fit``. The length is None if it is not known. Validation is left as it is."""

    def iterating(original: Callable[..., Any]) -> Callable[..., Any]:
        def __iter__(dataset: Any) -> Any:
            if trial.is_user_code(caller().f_code.co_filename) and module("tensorflow").executing_eagerly():
                length = int(dataset.cardinality())
                return original(change(dataset, length if length > 0 else None))
            return original(dataset)

        return __iter__

    def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(iterator: Any, *arguments: Any, **named: Any) -> None:
            original(iterator, *arguments, **named)
            dataset = iterator._distributed_dataset
            if caller().f_code.co_name == "fit" and hasattr(dataset, "take"):
                iterator._distributed_dataset = change(dataset, iterator.num_batches)

        return __init__

    seams.replace(attribute(_DATASET, "DatasetV2"), "__iter__", iterating)
    trial.when_keras(lambda: seams.replace(attribute(_EPOCH, "TFEpochIterator"), "__init__", fitting))
