"""Puts ``prefetch`` at the end of a pipeline as it is iterated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.iterated import on_iteration
from tfperfkit.instruments.changes.replaced import module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Where the pipeline does not end in one."""
    autotune = module("tensorflow").data.AUTOTUNE

    def change(dataset: Any, _: int | None) -> Any:
        if "Prefetch" in type(dataset).__name__:
            trial.refuse("the pipeline prefetches already")
            return dataset
        trial.applied()
        return dataset.prefetch(autotune)

    with seams() as made:
        on_iteration(made, trial, change)
        yield
