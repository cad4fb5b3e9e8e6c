"""``relaxed-shapes:FUNCTION``: compiles a function with ``reduce_retracing``, so that after two sizes it takes any."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import KeepTrace
from tfperfkit_experiments.on_function import OnFunction
from tfperfkit_experiments.seams import Seams


class RelaxedShapes(OnFunction):
    """Keeps the mathematics, in a graph that knows less of its sizes."""

    name = "relaxed-shapes"
    keeps = "mathematics"
    usage = "relaxed-shapes:FUNCTION"
    remedies = (KeepTrace("batch"), KeepTrace("length"))

    def edits(self, change: Change, /) -> tuple[str, ...]:
        """Nothing: ``tf.function`` itself is changed."""
        return ()

    def apply(self, seams: Seams, change: Change) -> None:
        """Pass ``reduce_retracing`` to ``tf.function`` of this function."""

        def relax(arguments: dict[str, Any]) -> None:
            arguments["reduce_retracing"] = True
            seams.applied()

        seams.on_tf_function(change.target, relax)
