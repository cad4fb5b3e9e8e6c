"""Sets Keras' dtype policy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module


@contextmanager
def install(trial: Trial, kind: str) -> Iterator[None]:
    """As soon as Keras is there; a script that sets its own overrules it."""

    def keras() -> None:
        module("keras").config.set_dtype_policy(f"mixed_{kind}")
        trial.applied()

    trial.when_keras(keras)
    yield
