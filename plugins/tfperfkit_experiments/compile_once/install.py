"""Leaves every call of a model's ``compile`` but the first without effect."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """For all models."""
    done: weakref.WeakSet[Any] = weakref.WeakSet()

    def compiling(original: Callable[..., Any]) -> Callable[..., Any]:
        def compile(model: Any, *arguments: Any, **named: Any) -> Any:
            if model in done:
                trial.applied()
                return None
            result = original(model, *arguments, **named)
            done.add(model)  # now only: a class may call its base's
            return result

        return compile

    trial.refuse("no model is compiled a second time")
    with seams() as made:

        def keras() -> None:
            for owner in having("compile"):
                made.replace(owner, "compile", compiling)

        trial.when_keras(keras)
        yield
