"""Methods of ``tf.distribute.Strategy``: those of one with a single replica are handed to the default strategy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, seams

#: Methods by the class that has them; those that other classes have of their own call these.
_METHODS = {
    "StrategyBase": (
        "scope",
        "run",
        "reduce",
        "experimental_distribute_dataset",
        "distribute_datasets_from_function",
        "experimental_local_results",
    ),
    "Strategy": ("gather",),
}


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Not a strategy of several workers: without it each would train alone."""
    library = "tensorflow.python.distribute.distribute_lib"

    def alone(strategy: Any) -> Any:
        """The default strategy, which has one replica, in the place of one that also has; None for any other."""
        default = attribute(library, "_get_default_strategy")()
        if strategy is default or strategy.num_replicas_in_sync != 1 or strategy.extended._in_multi_worker_mode():
            return None
        return default

    def handed(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def replace(original: Callable[..., Any]) -> Callable[..., Any]:
            def method(strategy: Any, *arguments: Any, **named: Any) -> Any:
                default = alone(strategy)
                if default is None:
                    return original(strategy, *arguments, **named)
                trial.applied()
                return getattr(default, name)(*arguments, **named)

            return method

        return replace

    def scope(original: Callable[..., Any]) -> Callable[..., Any]:
        def method(strategy: Any) -> Any:
            if alone(strategy) is None:
                return original(strategy)
            trial.applied()
            return contextlib.nullcontext(strategy)

        return method

    with seams() as made:
        for owner, names in _METHODS.items():
            for name in names:
                made.replace(attribute(library, owner), name, scope if name == "scope" else handed(name))
        yield
