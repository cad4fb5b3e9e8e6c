"""``graph:FUNCTION``: the function in ``tf.function``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.on_function import OnFunction


class Graph(OnFunction):
    """Rounding may differ: a graph is optimised as a whole."""

    name = "graph"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "graph:FUNCTION"
    codes = ("EAG001", "EAG005", "EAG008", "EAG010")
    limit = 2

    @contextmanager
    def install(self, trial: Trial, change: Change, /) -> Iterator[None]:
        """All else is done by ``decorate``."""
        from tfperfkit_experiments.graph.install import constants_of_tensors

        with super().install(trial, change), constants_of_tensors(trial):
            yield

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """See ``install``."""
        from tfperfkit_experiments.graph.install import in_graph

        return in_graph(trial, function)
