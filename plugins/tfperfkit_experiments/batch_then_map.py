"""``batch-then-map`` or ``batch-then-map:FUNCTION``: moves maps over single examples from before ``batch`` to after
it, where they work on whole batches."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ChangeStage
from tfperfkit_experiments.base import Base, is_function_name
from tfperfkit_experiments.seams import DATASET, Seams

#: Stages that may stand between the map and the batch: they take elements as they are.
_BETWEEN = ("shuffle", "repeat", "prefetch", "take", "skip")

#: Makes the maps of a dataset, each of a function that ``become`` has changed: ``maps(dataset, become)``.
Maps = Callable[[Any, Callable[[Any], Any]], Any]


class BatchThenMap(Base):
    """Keeps the values if the function treats each number alone; the comparison of results says whether it does.

    Each dataset from such a map on has a twin without the map. ``batch`` takes the twin and maps what comes out: by
    ``tf.vectorized_map``, which gives each example what the function makes of it alone, else by the function itself.
    """

    name = "batch-then-map"
    keeps = "mathematics"
    usage = "batch-then-map, batch-then-map:FUNCTION"
    remedies = (ChangeStage("batch_first"),)

    def problem(self, change: Change, /) -> str | None:
        """Accept a function or nothing."""
        fine = not change.value and (not change.target or is_function_name(change.target))
        return None if fine else self.needs("a function or nothing")

    def apply(self, seams: Seams, change: Change) -> None:
        """Change the maps of functions that are called ``change.target``, "" for all."""
        tensorflow, target = seams.tensorflow, change.target
        #: A dataset's twin without its maps, and what makes these.
        twins: weakref.WeakKeyDictionary[Any, tuple[Any, Maps]] = weakref.WeakKeyDictionary()
        seams.refuse(
            "no map over single examples comes before a batch" + (f", of a function {target}" if target else "")
        )

        def map(original: Any, dataset: Any, map_func: Any, *arguments: Any, **named: Any) -> Any:
            made = original(dataset, map_func, *arguments, **named)
            if seams.code_of(map_func, target) is not None and seams.called_by_user():
                twin, before = twins.get(dataset, (dataset, lambda given, become: given))
                twins[made] = (
                    twin,
                    lambda given, become: original(before(given, become), become(map_func), *arguments, **named),
                )
            return made

        def between(original: Any, dataset: Any, /, *arguments: Any, **named: Any) -> Any:
            with _same_seeds(seams) as again:
                made = original(dataset, *arguments, **named)
                if dataset in twins:
                    again()
                    twin, maps = twins[dataset]
                    twins[made] = original(twin, *arguments, **named), maps
            return made

        def batch(original: Any, dataset: Any, /, *arguments: Any, **named: Any) -> Any:
            plain = original(dataset, *arguments, **named)
            if dataset not in twins:
                return plain
            twin, maps = twins[dataset]
            for become in (lambda function: _for_rows(tensorflow, function), lambda function: function):
                try:
                    made = maps(original(twin, *arguments, **named), become)
                except Exception as error:  # it can't be vectorised; the function can't take a batch
                    seams.refuse(f"the function takes no batch: {(str(error).split(chr(10)) or [repr(error)])[-1]}")
                    continue
                if _alike(tensorflow.nest, plain.element_spec, made.element_spec):
                    seams.applied()
                    return made
                seams.refuse("the function makes something else of a batch than of its examples")
            return plain

        seams.replace(DATASET, "map", map)
        seams.replace(DATASET, "batch", batch)
        for name in _BETWEEN:
            seams.replace(DATASET, name, between)


def _for_rows(tensorflow: Any, function: Any) -> Callable[..., Any]:
    """Make of a batch what the function makes of its examples. Raises if one of its operations has no form for
    batches."""

    def of_batch(*batch: Any) -> Any:
        def of_row(row: Any) -> Any:
            return function(*row)

        return tensorflow.vectorized_map(of_row, batch, fallback_to_while_loop=False, warn=False)

    return of_batch


@contextmanager
def _same_seeds(seams: Seams) -> Iterator[Callable[[], None]]:
    """Yield a call after which TensorFlow's operations get the same seeds again, so that both twins shuffle alike."""
    random = getattr(seams.find("tensorflow.python.eager.context:context")(), "_rng", None)
    state = random.getstate() if random is not None else None

    def again() -> None:
        if random is not None:
            random.setstate(state)

    yield again


def _alike(nest: Any, one: Any, other: Any) -> bool:
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
    return all(type(a) is type(b) and a.dtype == b.dtype and a.shape.is_compatible_with(b.shape) for a, b in pairs)
