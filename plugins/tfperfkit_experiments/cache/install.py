"""Puts ``cache`` behind the maps of the person's code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, caller, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Not behind one over an endless dataset."""

    def caching(original: Callable[..., Any]) -> Callable[..., Any]:
        def map(*arguments: Any, **named: Any) -> Any:
            made = original(*arguments, **named)
            if not trial.is_user_code(caller().f_code.co_filename):
                return made
            if int(made.cardinality()) == -1:
                trial.refuse("the data set is endless")
                return made
            trial.applied()
            return made.cache()

        return map

    with seams() as made:
        made.replace(attribute("tensorflow.python.data.ops.dataset_ops", "DatasetV2"), "map", caching)
        yield
