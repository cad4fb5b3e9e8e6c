"""``once:FUNCTION``: runs the function once for each set of arguments and keeps its result, for example a file that is
loaded in each step."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import Hoist
from tfperfkit.syntax.script import generators, parse_file
from tfperfkit_experiments.findings import functions
from tfperfkit_experiments.on_function import OnFunction, identity
from tfperfkit_experiments.seams import Seams


class Once(OnFunction):
    """Keeps the results if the function always returns the same."""

    name = "once"
    keeps = "results"
    usage = "once:FUNCTION"
    remedies = (Hoist("file"), Hoist("value"), Hoist("model"), Hoist("pipeline"), Hoist("reader"))

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The function that is called first on the way to the file: its caller may do more, such as draw a batch."""
        names = functions(finding)
        if finding.remedy == Hoist("reader"):  # what yields batches or examples yields others each time
            names = [name for name in names if not _yields_examples(finding, name)]
        for name in names[1:2] or names[:1]:
            yield Change(self.name, name)

    def wrap(self, seams: Seams, function: Any) -> Any:
        """Keep the first result for each set of arguments, as far as those can be told apart."""
        if inspect.isgeneratorfunction(function):
            seams.refuse("it is a generator, whose first result is used up")
            return function
        kept: dict[Any, tuple[Any, Any]] = {}

        @functools.wraps(function)
        def once(*arguments: Any, **named: Any) -> Any:
            values = (*arguments, *named.values())
            key = (*map(identity, values), *named)
            if key in kept:
                seams.applied()
            else:
                kept[key] = values, function(*arguments, **named)
            return kept[key][1]

        return once


def _yields_examples(finding: Finding, name: str) -> bool:
    """Whether it is a generator, or a method that Python calls by itself (``__getitem__``)."""
    own = name.rpartition(".")[2]
    if own.startswith("__") and own.endswith("__"):
        return True
    trees = (parse_file(span.file) for span in finding.where if span.function.endswith(own))
    return any(own in generators(tree) for tree in trees if tree is not None)
