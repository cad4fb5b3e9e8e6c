"""``without-line:FILE:LINE``: a statement that is a call of its own is left out. A ceiling, no fix."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base


class WithoutLine(Base):
    """What it does is missing."""

    name = "without-line"
    keeps: ClassVar[Keeps] = "ceiling"
    usage = "without-line:FILE:LINE"
    codes = ("STP001", "STP004", "STP005", "SYN001", "OPS006")

    def problem(self, change: Change, /) -> str | None:
        """A file and a line."""
        file, _, line = change.target.rpartition(":")
        return None if file and line.isdecimal() and not change.value else self.needs("a file and a line")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The first place."""
        for span in finding.where[:1]:
            yield Change(self.name, f"{os.path.basename(span.file)}:{span.line}")

    def edits(self, change: Change, /) -> Iterable[str]:
        """The line."""
        return (change.target,)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.without_line.install import install

        return install(trial)
