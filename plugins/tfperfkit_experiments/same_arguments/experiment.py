"""``same-arguments:FUNCTION``: a compiled function is given what it was given first, always. A ceiling, no fix."""

from __future__ import annotations

from typing import Any, ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.on_function import OnFunction


class SameArguments(OnFunction):
    """It trains on one batch; nothing that it is called with makes it trace again."""

    name = "same-arguments"
    keeps: ClassVar[Keeps] = "ceiling"
    usage = "same-arguments:FUNCTION"
    codes = ("RET004", "RET005", "RET006")

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """See ``install``."""
        from tfperfkit_experiments.same_arguments.install import with_the_first

        return with_the_first(trial, function)
