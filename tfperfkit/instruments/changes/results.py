"""Make the results of trials comparable: the same seeds, the weights at the end, and the losses of ``fit``."""

from __future__ import annotations

import gc
import hashlib
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.changes.replaced import replace

#: So many numbers are kept to measure a distance with; the digest is of all.
_KEPT = 2_000_000
#: The error of a sum of 64 terms grows with the root of their number; layers have more terms.
_ROUNDINGS = 8
_MAX_LOSSES = 20_000
_LISTS = {"keras": "keras.src.callbacks.callback_list", "tf_keras": "tf_keras.src.callbacks"}


def keep_weights(file: Path) -> str:
    """Write (a sample of) all trainable variables that are alive to ``file``; a digest of all of their bytes.

    In the order in which they were made. "" when there is none.
    """
    variables = _find_trained()
    if not variables:
        return ""
    import numpy as np

    arrays = [np.asarray(item.numpy()) for item in variables]
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr(array.shape).encode() + array.tobytes())
    flat = np.concatenate([array.astype(np.float32).ravel() for array in arrays])
    np.save(file, flat[:: flat.size // _KEPT + 1])
    return digest.hexdigest()


def count_updates() -> int:
    """Return how often all optimizers of Keras that are alive have updated weights; 0 without Keras."""
    places = ("keras.src.optimizers.base_optimizer:BaseOptimizer", "tf_keras.src.optimizers.optimizer:_BaseOptimizer")
    found = (
        getattr(sys.modules.get(module), name, None) for module, _, name in (each.partition(":") for each in places)
    )
    kinds = tuple(kind for kind in found if kind is not None)
    return sum(int(item.iterations) for item in gc.get_objects() if isinstance(item, kinds)) if kinds else 0


def nudge_weights(seed: int) -> int:
    """Change each number of all trainable variables by up to ``_ROUNDINGS`` roundings. Returns the number of variables;
    those of a dtype that NumPy does not have stay."""
    import numpy as np

    variables = [item for item in _find_trained() if item.dtype.as_numpy_dtype in (np.float16, np.float32, np.float64)]
    dice = np.random.default_rng(seed)
    for item in variables:
        values = np.asarray(item.numpy())
        by = dice.integers(-_ROUNDINGS, _ROUNDINGS + 1, values.shape)
        item.assign((values + by * np.spacing(np.abs(values))).astype(values.dtype))
    return len(variables)


def _find_trained() -> list[Any]:
    """Return the trainable variables that are alive, in the order in which they were made."""
    kind = getattr(sys.modules.get("tensorflow.python.ops.resource_variable_ops"), "BaseResourceVariable", None)
    if kind is None:
        return []
    found = [item for item in gc.get_objects() if isinstance(item, kind) and _trains(item)]
    return sorted({id(item.handle): item for item in found}.values(), key=_age)


def _trains(variable: Any) -> bool:
    try:
        return bool(variable.trainable) and variable.dtype.is_floating and hasattr(variable.handle, "_id")
    except Exception:  # of a graph, or half made
        return False


def _age(variable: Any) -> int:
    """Names of variables end in a number that counts up."""
    number = str(getattr(variable, "_unique_id", "")).rpartition("_")[2]
    return int(number) if number.isdecimal() else 0


class Losses:
    """References to what ``fit`` hands its callbacks as the loss; read at the end only, since reading would wait."""

    def __init__(self) -> None:
        self._seen: list[Any] = []
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Keras is there."""
        for package, place in _LISTS.items():
            owner = getattr(sys.modules.get(place), "CallbackList", None)
            if package in sys.modules and owner is not None:
                try:
                    self._undo.append(replace(owner, "on_train_batch_end", self._make))
                except Unavailable:
                    pass

    def _make(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def on_train_batch_end(callbacks: Any, batch: Any, logs: Any = None) -> Any:
            if isinstance(logs, dict) and "loss" in logs and len(self._seen) < _MAX_LOSSES:
                self._seen.append(logs["loss"])
            return original(callbacks, batch, logs)

        return on_train_batch_end

    def values(self) -> list[float]:
        """One for each batch that was seen."""
        try:
            return [float(value) for value in self._seen]
        except Exception:
            return []

    def restore(self) -> None:
        """Take the seams back."""
        for undo in self._undo:
            undo()


_SEED = 20


def seed() -> None:
    """Seed Python, NumPy (if loaded) and TensorFlow, without initialising its runtime. The script's seeds override."""
    random.seed(_SEED)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(_SEED)
    context = sys.modules.get("tensorflow.python.eager.context")
    if context is not None:
        try:
            context.set_global_seed(_SEED)
        except Exception:  # another TensorFlow: then two runs differ, which the comparison sees
            pass
