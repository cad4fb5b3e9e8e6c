"""Hands ``jit_compile`` to ``tf.function`` and to Keras' ``compile``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import on_compile
from tfperfkit.instruments.changes.replaced import seams
from tfperfkit.instruments.changes.tf_functions import on_function


@contextmanager
def install(trial: Trial, target: str, on: bool) -> Iterator[None]:
    """For all of the person's functions, or the one that is called ``target``."""
    with seams() as made:

        def function(arguments: dict[str, Any]) -> None:
            arguments["jit_compile"] = on
            trial.applied()

        on_function(made, trial.is_user_code, target, function)
        if not target:

            def compiled(arguments: dict[str, Any]) -> None:
                arguments["jit_compile"] = on
                trial.applied()

            _keras(trial, made, compiled)
        yield


def _keras(trial: Trial, made: Any, compiled: Callable[[dict[str, Any]], None]) -> None:
    trial.when_keras(lambda: on_compile(made, compiled))
