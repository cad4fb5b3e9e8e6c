"""Sets TensorFlow's thread pools, and leaves what the script sets without effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module, seams


@contextmanager
def install(trial: Trial, intra: int, inter: int) -> Iterator[None]:
    """Raises Unavailable where this TensorFlow has other functions, and what it raises itself once it has begun."""
    config = module("tensorflow").config.threading
    config.set_intra_op_parallelism_threads(intra)
    config.set_inter_op_parallelism_threads(inter)
    trial.applied()

    def ignored(original: Callable[..., Any]) -> Callable[..., Any]:
        def set_threads(num_threads: int) -> None:
            """The trial has chosen."""

        return set_threads

    with seams() as made:
        # The person's calls go through the public module's own names.
        for owner in (config, module("tensorflow.python.framework.config")):
            for name in ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads"):
                made.replace(owner, name, ignored)
        yield
