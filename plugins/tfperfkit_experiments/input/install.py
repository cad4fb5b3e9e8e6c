"""Datasets that give their first batch for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.iterated import on_iteration
from tfperfkit.instruments.changes.replaced import seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Iteration in the person's code, and ``fit``'s own."""
    made: list[Any] = []  # so that a loop that begins anew gets the same batch, without reading it again

    def first(dataset: Any, length: int | None) -> Any:
        trial.applied()
        for known, given in made:
            if known is dataset:
                return given
        given = dataset.take(1).cache().repeat(length)
        made.append((dataset, given))
        return given

    with seams() as replaced:
        on_iteration(replaced, trial, first)
        yield
