"""Hands ``steps_per_execution`` to Keras' ``compile``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import on_compile
from tfperfkit.instruments.changes.replaced import seams


@contextmanager
def install(trial: Trial, steps: int) -> Iterator[None]:
    """For all models."""
    with seams() as made:

        def compiled(arguments: dict[str, Any]) -> None:
            arguments["steps_per_execution"] = steps
            trial.applied()

        trial.when_keras(lambda: on_compile(made, compiled))
        yield
