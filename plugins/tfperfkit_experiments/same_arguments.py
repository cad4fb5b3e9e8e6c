"""``same-arguments:FUNCTION``: always passes a compiled function the arguments of its first call."""

from __future__ import annotations

from typing import Any

from tfperfkit.remedy import KeepTrace
from tfperfkit_experiments.on_function import OnFunction, WithArguments
from tfperfkit_experiments.seams import Seams


class SameArguments(OnFunction):
    """It trains on one batch, and nothing that it is called with makes it trace again."""

    name = "same-arguments"
    keeps = "ceiling"
    usage = "same-arguments:FUNCTION"
    remedies = (KeepTrace("rank"), KeepTrace("dtype"), KeepTrace("structure"))
    compiled = True

    def wrap(self, seams: Seams, function: Any) -> Any:
        """Keep the first arguments of each form of call: how many there are, and their names."""
        first: dict[Any, Any] = {}

        def kept(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
            form = len(arguments), frozenset(named)
            if form in first:
                seams.applied()
            return first.setdefault(form, (arguments, named))

        return WithArguments(function, kept)
