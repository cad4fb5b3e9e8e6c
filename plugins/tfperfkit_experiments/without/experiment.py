"""``without:FUNCTION``: the function is run twice, then no more: its last result stands. A ceiling, no fix."""

from __future__ import annotations

from typing import Any, ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.on_function import OnFunction

#: So often it runs, so that what it makes at first is made.
_RUNS = 2


class Without(OnFunction):
    """What it does is missing."""

    name = "without"
    keeps: ClassVar[Keeps] = "ceiling"
    usage = "without:FUNCTION"
    codes = ("STP006", "STP008", "LIN001")

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """See ``install``."""
        from tfperfkit_experiments.without.install import no_more

        return no_more(trial, function, _RUNS)
