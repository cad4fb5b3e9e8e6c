"""Maps of the person's that wait for the batch, and are made behind it.

Each dataset from such a map on has a twin without the map; ``batch`` takes the twin, and maps what comes out: by
``tf.vectorized_map``, which gives each example what the function makes of it alone, or, where that can't be, by the
function itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, caller, module, seams
from tfperfkit.instruments.changes.tf_functions import named_so
from tfperfkit.instruments.steps.updates import own_code

#: What may stand between the map and the batch: it takes elements as they are.
_BETWEEN = ("shuffle", "repeat", "prefetch", "take", "skip")

#: What makes the maps: of a dataset, with what each function becomes.
Maps = Callable[[Any, Callable[[Any], Any]], Any]


@contextmanager
def install(trial: Trial, target: str) -> Iterator[None]:
    """For the maps of functions called ``target``, "" for all."""
    tensorflow: Any = module("tensorflow")
    #: A dataset's twin without its maps, and what makes these.
    twins: weakref.WeakKeyDictionary[Any, tuple[Any, Maps]] = weakref.WeakKeyDictionary()
    trial.refuse("no map over single examples comes before a batch" + (f", of a function {target}" if target else ""))

    def mapping(original: Callable[..., Any]) -> Callable[..., Any]:
        def map(dataset: Any, function: Any, *arguments: Any, **named: Any) -> Any:
            made = original(dataset, function, *arguments, **named)
            code = own_code(function)
            if code is not None and named_so(code, target) and trial.is_user_code(caller().f_code.co_filename):
                twin, before = twins.get(dataset, (dataset, lambda given, become: given))
                twins[made] = (
                    twin,
                    lambda given, become: original(before(given, become), become(function), *arguments, **named),
                )
            return made

        return map

    def passing(original: Callable[..., Any]) -> Callable[..., Any]:
        def stage(dataset: Any, *arguments: Any, **named: Any) -> Any:
            with _same_seeds() as again:
                made = original(dataset, *arguments, **named)
                if dataset in twins:
                    again()
                    twin, maps = twins[dataset]
                    twins[made] = original(twin, *arguments, **named), maps
            return made

        return stage

    def batching(original: Callable[..., Any]) -> Callable[..., Any]:
        def batch(dataset: Any, *arguments: Any, **named: Any) -> Any:
            plain = original(dataset, *arguments, **named)
            if dataset not in twins:
                return plain
            twin, maps = twins[dataset]
            for become in (lambda function: for_rows(tensorflow, function), lambda function: function):
                try:
                    made = maps(original(twin, *arguments, **named), become)
                except Exception as error:  # it can't be vectorised; the function can't take a batch
                    trial.refuse(f"the function takes no batch: {(str(error).split(chr(10)) or [repr(error)])[-1]}")
                    continue
                if _alike(tensorflow.nest, plain.element_spec, made.element_spec):
                    trial.applied()
                    return made
                trial.refuse("the function makes something else of a batch than of its examples")
            return plain

        return batch

    with seams() as replaced:
        dataset = attribute("tensorflow.python.data.ops.dataset_ops", "DatasetV2")
        replaced.replace(dataset, "map", mapping)
        replaced.replace(dataset, "batch", batching)
        for name in _BETWEEN:
            replaced.replace(dataset, name, passing)
        yield


def for_rows(tensorflow: Any, function: Any) -> Callable[..., Any]:
    """Makes of a batch what the function makes of its examples. Raises where one of its operations has no form for
    batches."""

    def of_batch(*batch: Any) -> Any:
        def of_row(row: Any) -> Any:
            return function(*row)

        return tensorflow.vectorized_map(of_row, batch, fallback_to_while_loop=False, warn=False)

    return of_batch


@contextmanager
def _same_seeds() -> Iterator[Callable[[], None]]:
    """The call makes TensorFlow's seeds of operations come again, so that both twins shuffle alike."""
    dice = getattr(attribute("tensorflow.python.eager.context", "context")(), "_rng", None)
    state = dice.getstate() if dice is not None else None

    def again() -> None:
        if dice is not None:
            dice.setstate(state)

    yield again


def _alike(nest: Any, one: Any, other: Any) -> bool:
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
    return all(type(a) is type(b) and a.dtype == b.dtype and a.shape.is_compatible_with(b.shape) for a, b in pairs)
