"""Hands ``reduce_retracing`` to ``tf.function``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import seams
from tfperfkit.instruments.changes.tf_functions import on_function


@contextmanager
def install(trial: Trial, target: str) -> Iterator[None]:
    """For the functions that are called ``target``."""
    with seams() as made:

        def relax(arguments: dict[str, Any]) -> None:
            arguments["reduce_retracing"] = True
            trial.applied()

        on_function(made, trial.is_user_code, target, relax)
        yield
