"""``host-reads-late``: what the script's own ``.numpy()`` gives is read when it is used, not when it is asked for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class HostReadsLate(Base):
    """The same values. ``float(t)`` and ``if t:`` need theirs at once, so they stay."""

    name = "host-reads-late"
    keeps: ClassVar[Keeps] = "results"
    codes = ("SYN001",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.host_reads_late.install import install

        return install(trial)
