"""Takes ``metrics`` and ``weighted_metrics`` out of ``compile``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import on_compile
from tfperfkit.instruments.changes.replaced import seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Of all models."""

    def compiled(arguments: dict[str, Any]) -> None:
        given = [arguments.pop(name, None) for name in ("metrics", "weighted_metrics")]
        if any(given):
            trial.applied()

    with seams() as made:
        trial.when_keras(lambda: on_compile(made, compiled))
        yield
