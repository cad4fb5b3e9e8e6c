"""Hands ``num_parallel_calls`` to maps and interleaves that the person's code makes without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, caller, module, seams

#: Where it stands among the positional arguments, the dataset included.
_PLACE = {"map": 2, "interleave": 4}


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """TensorFlow tunes how many."""
    autotune = module("tensorflow").data.AUTOTUNE
    dataset = attribute("tensorflow.python.data.ops.dataset_ops", "DatasetV2")

    def parallel(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def stage(*arguments: Any, **named: Any) -> Any:
                given = named.get("num_parallel_calls") or len(arguments) > _PLACE[name]
                if not given and trial.is_user_code(caller().f_code.co_filename):
                    trial.applied()
                    named["num_parallel_calls"] = autotune
                return original(*arguments, **named)

            return stage

        return make

    with seams() as made:
        for name in _PLACE:
            made.replace(dataset, name, parallel(name))
        yield
