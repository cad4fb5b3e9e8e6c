"""Changes that the environment has made already, and that need a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module


@contextmanager
def on_gpus(trial: Trial) -> Iterator[None]:
    """Applied, or refused for want of a GPU. Devices are listed only, not started."""
    if module("tensorflow").config.list_physical_devices("GPU"):
        trial.applied()
    else:
        trial.refuse("TensorFlow sees no GPU here")
    yield
