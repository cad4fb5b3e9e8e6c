"""``tf.convert_to_tensor`` in the person's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import called_from, module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Under any strategy: the update by rows is the cheaper one without replicas, too."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("no tf.convert_to_tensor of the script's was given rows of a table")

    def converting(original: Callable[..., Any]) -> Callable[..., Any]:
        def convert_to_tensor(value: Any, *arguments: Any, **named: Any) -> Any:
            rows = isinstance(value, tensorflow.IndexedSlices)
            if rows and called_from(trial.is_user_code):
                trial.applied()
                return value
            return original(value, *arguments, **named)

        return convert_to_tensor

    with seams() as made:
        made.replace(tensorflow, "convert_to_tensor", converting)
        yield
