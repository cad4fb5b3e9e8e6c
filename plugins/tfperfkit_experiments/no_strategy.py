"""``no-strategy``: trains without a distribution strategy that has one replica only."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams

_LIBRARY = "tensorflow.python.distribute.distribute_lib"
#: Methods by the class that defines them; what other classes override calls these.
_METHODS = {
    "StrategyBase": (
        "run",
        "reduce",
        "experimental_distribute_dataset",
        "distribute_datasets_from_function",
        "experimental_local_results",
    ),
    "Strategy": ("gather",),
}


class NoStrategy(Base):
    """TensorFlow's default strategy serves what the strategy is asked for: it just calls functions and returns
    datasets."""

    name = "no-strategy"
    keeps = "mathematics"
    remedies = (Setting("strategy"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change strategies that have a single replica. One of several workers stays: without it each would train
        alone."""

        def default_for(strategy: Any) -> Any:
            """The default strategy, if it can stand for this one; else None."""
            default = seams.find(f"{_LIBRARY}:_get_default_strategy")()
            if strategy is default or strategy.num_replicas_in_sync != 1 or strategy.extended._in_multi_worker_mode():
                return None
            return default

        def method(name: str) -> Callable[..., Any]:
            def call(original: Any, strategy: Any, /, *arguments: Any, **named: Any) -> Any:
                default = default_for(strategy)
                if default is None:
                    return original(strategy, *arguments, **named)
                seams.applied()
                return getattr(default, name)(*arguments, **named)

            return call

        def scope(original: Any, strategy: Any) -> Any:
            if default_for(strategy) is None:
                return original(strategy)
            seams.applied()
            return contextlib.nullcontext(strategy)

        seams.replace(f"{_LIBRARY}:StrategyBase", "scope", scope)
        for owner, names in _METHODS.items():
            for name in names:
                seams.replace(f"{_LIBRARY}:{owner}", name, method(name))
