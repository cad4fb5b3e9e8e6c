"""``mixed=bfloat16`` or ``mixed=float16``: Keras computes in 16 bits and keeps its weights in 32."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base


class Mixed(Base):
    """Results differ as the precision does."""

    name = "mixed"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "mixed=bfloat16 or mixed=float16"
    codes = ("PRC002",)

    def problem(self, change: Change, /) -> str | None:
        """One of two."""
        return None if change.value in ("bfloat16", "float16") and not change.target else self.needs("a type")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The one that the finding speaks of: it is of GPUs, on which float16 is the faster one."""
        yield Change(self.name, value="float16")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.mixed.install import install

        return install(trial, change.value)
