"""``relaxed-shapes:FUNCTION``: a compiled function with ``reduce_retracing``: after two sizes it takes any."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.on_function import OnFunction


class RelaxedShapes(OnFunction):
    """The same mathematics, in a graph that knows less of its sizes."""

    name = "relaxed-shapes"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "relaxed-shapes:FUNCTION"
    codes = ("RET002", "RET003")

    def edits(self, change: Change, /) -> tuple[str, ...]:
        """None: ``tf.function`` itself is changed."""
        return ()

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:  # type: ignore[override]
        """See ``install``."""
        from tfperfkit_experiments.relaxed_shapes.install import install

        return install(trial, change.target)
