"""Counts how often a statement was not run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.edited import when_left_out


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """The launcher leaves it out."""
    trial.refuse("no call of its own and no assignment in a loop begins there, or it was not reached")
    when_left_out(trial.applied)
    yield
