"""The methods of TensorFlow and Keras at which a training step can be seen, as data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal, NamedTuple

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks import method_seam

Role = Literal[
    "next",
    "call",
    "concrete",
    "apply",
    "train_on_batch",
    "batch_begin",
    "batch_end",
    "epoch_end",
    "predict",
    "evaluate",
    "session",
]


class StepSeam(NamedTuple):
    """``what`` is seen there, in words; ``needs_eager``: only where it is known whether a graph is being built."""

    what: str
    module: str
    owner: str
    name: str
    role: Role
    needs_eager: bool = True


TENSORFLOW = (
    StepSeam(
        "batches that a loop takes from a dataset",
        "tensorflow.python.data.ops.iterator_ops",
        "OwnedIterator",
        "__next__",
        "next",
    ),
    StepSeam(
        "batches of a distributed dataset",
        "tensorflow.python.distribute.input_lib",
        "DistributedIteratorBase",
        "__next__",
        "next",
    ),
    StepSeam(
        "calls of tf.functions",
        "tensorflow.python.eager.polymorphic_function.polymorphic_function",
        "Function",
        "_call",
        "call",
    ),
    StepSeam(
        "calls of concrete functions and of the signatures of SavedModels",
        "tensorflow.python.eager.polymorphic_function.concrete_function",
        "ConcreteFunction",
        "_call_impl",
        "concrete",
    ),
    StepSeam(
        "updates by tf.compat.v1 optimizers",
        "tensorflow.python.training.optimizer",
        "Optimizer",
        "apply_gradients",
        "apply",
    ),
    # The function that ``run`` itself calls: it is seen if a script keeps the method under a name of its own, too.
    StepSeam("runs of sessions", "tensorflow.python.client.session", "BaseSession", "_run", "session", False),
)


def of_keras(package: str) -> tuple[StepSeam, ...]:
    """Those of Keras 3 (``keras``) or Keras 2 (``tf_keras``)."""
    if package == "keras":
        callbacks, optimizer = "keras.src.callbacks.callback_list", ("base_optimizer", "BaseOptimizer", "apply")
        trainer = ("keras.src.backend.tensorflow.trainer", "TensorFlowTrainer")
    else:
        callbacks, optimizer = "tf_keras.src.callbacks", ("optimizer", "_BaseOptimizer", "apply_gradients")
        trainer = ("tf_keras.src.engine.training", "Model")
    lists = (callbacks, "CallbackList")
    module, owner, method = optimizer
    return (
        StepSeam("batches of Model.fit", *lists, "on_train_batch_begin", "batch_begin", False),
        StepSeam("the ends of Model.fit's batches", *lists, "on_train_batch_end", "batch_end", False),
        StepSeam("the ends of Model.fit's epochs", *lists, "on_epoch_end", "epoch_end", False),
        StepSeam("updates by Keras' optimizers", f"{package}.src.optimizers.{module}", owner, method, "apply"),
        StepSeam("calls of train_on_batch", *trainer, "train_on_batch", "train_on_batch"),
        StepSeam("calls of predict", *trainer, "predict", "predict", False),
        StepSeam("calls of evaluate", *trainer, "evaluate", "evaluate", False),
    )


def install(
    seam: StepSeam,
    before: method_seam.Before,
    after: method_seam.After,
    make: method_seam.Make = method_seam.Around,
) -> Callable[[], None]:
    """Observe it; returns what undoes that. Raises Unavailable with what is not seen, and why."""
    try:
        loaded = sys.modules.get(seam.module)
        if loaded is None:
            raise Unavailable(f"{seam.module} is not loaded")
        return method_seam.install(getattr(loaded, seam.owner), seam.name, before, after, make)
    except (Unavailable, AttributeError, TypeError) as error:
        raise Unavailable(f"{seam.what} can't be seen ({error})") from error
