"""``once:FUNCTION``: the function is run once, and its first result kept: a file that is loaded at each step, a value
that is computed anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import functions, generators
from tfperfkit_experiments.on_function import OnFunction


class Once(OnFunction):
    """The results are the same where the function always gives the same."""

    name = "once"
    keeps: ClassVar[Keeps] = "results"
    usage = "once:FUNCTION"
    codes = ("INP002", "INP011", "EAG009", "RET012", "INP014")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """What is called first on the way to the file: who calls it may do more, such as drawing a batch."""
        names = list(functions(finding))
        if finding.code == "INP014":  # who hands out batches or examples gives others each time
            names = [name for name in names if not _hands_out(finding, name)]
        for name in names[1:2] or names[:1]:
            yield Change(self.name, name)

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """See ``install``."""
        from tfperfkit_experiments.once.install import first_kept

        return first_kept(trial, function)


def _hands_out(finding: Finding, name: str) -> bool:
    """A generator, or a method that Python calls by itself (``__getitem__``)."""
    own = name.rpartition(".")[2]
    if own.startswith("__") and own.endswith("__"):
        return True
    return any(own in generators(span.file) for span in finding.where if span.function.endswith(own))
