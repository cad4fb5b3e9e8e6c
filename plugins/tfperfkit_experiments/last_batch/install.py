"""Hands ``drop_remainder`` to ``batch`` and ``padded_batch``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, caller, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """In the person's code."""

    def dropping(original: Callable[..., Any]) -> Callable[..., Any]:
        def batch(dataset: Any, batch_size: Any, *arguments: Any, **named: Any) -> Any:
            if trial.is_user_code(caller().f_code.co_filename) and not arguments:
                trial.applied()
                named["drop_remainder"] = True
            return original(dataset, batch_size, *arguments, **named)

        return batch

    with seams() as made:
        dataset = attribute("tensorflow.python.data.ops.dataset_ops", "DatasetV2")
        for name in ("batch", "padded_batch"):
            made.replace(dataset, name, dropping)
        yield
