"""``same-objects:FUNCTION``: an object that a compiled function is called with is replaced by an earlier one that is
equal to it: a new object of the same content is no new trace."""

from __future__ import annotations

from typing import Any, ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.on_function import OnFunction


class SameObjects(OnFunction):
    """Objects of the person's classes that hold numbers and texts only."""

    name = "same-objects"
    keeps: ClassVar[Keeps] = "results"
    usage = "same-objects:FUNCTION"
    codes = ("RET007",)

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """See ``install``."""
        from tfperfkit_experiments.same_objects.install import with_same_objects

        return with_same_objects(trial, function)
