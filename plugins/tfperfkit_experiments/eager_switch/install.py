"""Leaves the switches without effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import on_compile
from tfperfkit.instruments.changes.replaced import module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """In the public modules' names, where the person's code finds them."""
    tensorflow = module("tensorflow")
    places = (
        (tensorflow.config, "run_functions_eagerly"),
        (tensorflow.data.experimental, "enable_debug_mode"),
        (tensorflow.debugging, "enable_check_numerics"),
    )

    def ignored(original: Callable[..., Any]) -> Callable[..., Any]:
        def switch(*arguments: Any, **named: Any) -> None:
            trial.applied()

        return switch

    def compiled(arguments: dict[str, Any]) -> None:
        if arguments.pop("run_eagerly", False):
            trial.applied()

    with seams() as made:
        for owner, name in places:
            try:
                made.replace(owner, name, ignored)
            except Unavailable:
                continue
        trial.when_keras(lambda: on_compile(made, compiled))
        yield
