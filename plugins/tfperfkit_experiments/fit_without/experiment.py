"""``fit-without=validation`` or ``fit-without=callbacks``: ``fit`` without its validation, or without the callbacks
that the script hands it (checkpoints, logs). A ceiling, no fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base

_WHAT = ("validation", "callbacks")


class FitWithout(Base):
    """What they do is missing."""

    name = "fit-without"
    keeps: ClassVar[Keeps] = "ceiling"
    usage = "fit-without=validation, fit-without=callbacks"
    codes = ("STP001", "STP006", "STP011")

    def problem(self, change: Change, /) -> str | None:
        """One of two."""
        return None if change.value in _WHAT and not change.target else self.needs("what goes")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """Where steps are ``fit``'s: validation is judged per epoch, callbacks in the step too."""
        if report.steps.source == "keras":
            for value in _WHAT if finding.code == "STP006" else _WHAT[1:]:
                yield Change(self.name, value=value)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.fit_without.install import install

        return install(trial, change.value)
