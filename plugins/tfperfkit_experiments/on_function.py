"""Experiments on a function of the person's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tfperfkit.experiment import Change, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base, functions


class OnFunction(Base):
    """``NAME:FUNCTION``; the function is decorated as it is defined."""

    #: At most so many of the functions that a finding names are tried.
    limit: ClassVar[int] = 1

    def problem(self, change: Change, /) -> str | None:
        """A function is needed."""
        fine = change.target and not change.value and all(part.isidentifier() for part in change.target.split("."))
        return None if fine else self.needs("a function")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The first functions that it names."""
        for name in list(functions(finding))[: self.limit]:
            yield Change(self.name, name)

    def edits(self, change: Change, /) -> Iterable[str]:
        """The function."""
        return (change.target,)

    @contextmanager
    def install(self, trial: Trial, change: Change, /) -> Iterator[None]:
        """All is done by ``decorate``."""
        trial.refuse(f"no function {change.target} of the script's was called in the steps that ran")
        yield

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """What stands in the place of the function."""
        raise NotImplementedError
