"""``without:FUNCTION``: runs the function twice, then reuses its last result."""

from __future__ import annotations

import functools
from typing import Any

from tfperfkit.remedy import Every, Rewrite
from tfperfkit_experiments.on_function import OnFunction, last_results
from tfperfkit_experiments.seams import Seams


class Without(OnFunction):
    """The function's work is missing. While a graph is built it runs: its result belongs to that graph."""

    name = "without"
    keeps = "ceiling"
    usage = "without:FUNCTION"
    remedies = (Every("validate"), Every("work"), Rewrite("python"))

    def wrap(self, seams: Seams, function: Any) -> Any:
        """Skip later calls in eager code."""
        executing_eagerly = seams.tensorflow.executing_eagerly
        answer = last_results(seams, function, lambda *arguments, **named: None)

        @functools.wraps(function)
        def skipped(*arguments: Any, **named: Any) -> Any:
            return (answer if executing_eagerly() else function)(*arguments, **named)

        return skipped
