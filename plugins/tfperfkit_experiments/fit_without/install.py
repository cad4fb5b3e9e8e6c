"""Takes arguments of ``fit`` away."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import seams


@contextmanager
def install(trial: Trial, what: str) -> Iterator[None]:
    """Examples that ``validation_split`` keeps from training stay kept."""

    def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def fit(*arguments: Any, **named: Any) -> Any:
            given = signature.bind(*arguments, **named)
            held = given.arguments
            if what == "callbacks" and held.get("callbacks"):
                held["callbacks"] = None
                trial.applied()
            elif what == "validation" and (held.get("validation_data") is not None or held.get("validation_split")):
                held["validation_freq"] = [0]  # after none of the epochs: they count from 1
                trial.applied()
            return original(*given.args, **given.kwargs)

        return fit

    trial.refuse(f"fit is handed no {what}")
    with seams() as made:

        def keras() -> None:
            for owner in having("fit"):
                made.replace(owner, "fit", fitting)

        trial.when_keras(keras)
        yield
