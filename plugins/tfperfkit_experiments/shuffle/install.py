"""Limits ``buffer_size`` of ``shuffle`` in the person's code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, caller, seams


@contextmanager
def install(trial: Trial, size: int) -> Iterator[None]:
    """A smaller one stays."""

    def limiting(original: Callable[..., Any]) -> Callable[..., Any]:
        def shuffle(dataset: Any, buffer_size: Any, *arguments: Any, **named: Any) -> Any:
            user = trial.is_user_code(caller().f_code.co_filename)
            if user and isinstance(buffer_size, int) and buffer_size > size:
                trial.applied()
                buffer_size = size
            return original(dataset, buffer_size, *arguments, **named)

        return shuffle

    with seams() as made:
        made.replace(attribute("tensorflow.python.data.ops.dataset_ops", "DatasetV2"), "shuffle", limiting)
        yield
