"""``jit[:FUNCTION]``: XLA for compiled functions and for ``fit``; ``jit[:FUNCTION]=off`` takes it away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base

_OFF = ("CMP001", "CMP003")


class Jit(Base):
    """Rounding differs: XLA fuses operations."""

    name = "jit"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "jit, jit:FUNCTION, jit=off"
    codes = ("CMP001", "CMP002", "CMP003", "CMP005", "CMP006")
    headroom = 0.7

    def problem(self, change: Change, /) -> str | None:
        """On or off."""
        return None if change.value in ("", "on", "off") else self.needs("on or off")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """Off where XLA itself is the cause."""
        value = "off" if finding.code in _OFF else ""
        yield Change(self.name, value=value)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.jit.install import install

        return install(trial, change.target, change.value != "off")
