"""``fit``, or another method of Keras' models, handed other arguments, for the experiments that change these alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import seams


@contextmanager
def fit_handed(trial: Trial, change: Callable[[dict[str, Any]], bool], method: str = "fit") -> Iterator[None]:
    """``change`` gets the arguments of each call by name, ``self`` among them, and says whether it changed them."""

    def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def fit(*arguments: Any, **named: Any) -> Any:
            given = signature.bind(*arguments, **named)
            if change(given.arguments):
                trial.applied()
            return original(*given.args, **given.kwargs)

        return fit

    with seams() as made:

        def keras() -> None:
            for owner in having(method):
                made.replace(owner, method, fitting)

        trial.when_keras(keras)
        yield
