"""``padded_batch`` in the person's files, and ``fit`` with an array of padded tokens."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import attribute, caller, module, seams
from tfperfkit_experiments.like_lengths.arrays import BOUNDARIES, in_batches


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Batches are as many examples as before, fewer where a group of like lengths ends."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("nothing is padded by padded_batch, nor fit handed an array of tokens with a model of any length")

    def padding(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def padded_batch(dataset: Any, *arguments: Any, **named: Any) -> Any:
            given = signature.bind(dataset, *arguments, **named)
            held = given.arguments
            length = _longest(tensorflow, dataset) if trial.is_user_code(caller().f_code.co_filename) else None
            if length is None or not isinstance(held["batch_size"], int):
                return original(dataset, *arguments, **named)
            trial.applied()
            others = ("padded_shapes", "padding_values", "drop_remainder")
            return dataset.bucket_by_sequence_length(
                length,
                list(BOUNDARIES),
                [held["batch_size"]] * (len(BOUNDARIES) + 1),
                **{name: held[name] for name in others if name in held},
            )

        return padded_batch

    def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def fit(*arguments: Any, **named: Any) -> Any:
            given = signature.bind(*arguments, **named)
            made = in_batches(tensorflow, given.arguments)
            if made is not None:
                for name in ("y", "batch_size", "shuffle"):
                    given.arguments.pop(name, None)
                given.arguments["x"] = made
                trial.applied()
            return original(*given.args, **given.kwargs)

        return fit

    with seams() as made:
        made.replace(attribute("tensorflow.python.data.ops.dataset_ops", "DatasetV2"), "padded_batch", padding)

        def keras() -> None:
            for owner in having("fit"):
                made.replace(owner, "fit", fitting)

        trial.when_keras(keras)
        yield


def _longest(tensorflow: Any, dataset: Any) -> Callable[..., Any] | None:
    """What tells the length of an element by its longest part; None where no part has a length of its own."""
    specs = tensorflow.nest.flatten(dataset.element_spec)
    if not all(isinstance(spec, tensorflow.TensorSpec) and spec.shape.rank is not None for spec in specs):
        return None
    places = [number for number, spec in enumerate(specs) if spec.shape.rank and spec.shape[0] is None]
    if not places:
        return None

    def length(*parts: Any) -> Any:
        tensors = tensorflow.nest.flatten(parts)
        return tensorflow.reduce_max([tensorflow.shape(tensors[place])[0] for place in places])

    return length
