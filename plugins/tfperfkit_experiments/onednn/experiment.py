"""``onednn=on|off``: TensorFlow's oneDNN kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base

_VARIABLE = "TF_ENABLE_ONEDNN_OPTS"


class Onednn(Base):
    """A script that sets the variable itself, before it imports TensorFlow, is overruled."""

    name = "onednn"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "onednn=on or onednn=off"
    codes = ("DEV005",)

    def problem(self, change: Change, /) -> str | None:
        """On or off."""
        return None if change.value in ("on", "off") and not change.target else self.needs("on or off")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """On, where it was found off."""
        yield Change(self.name, value="on")

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """The variable that TensorFlow reads as it is imported."""
        return {_VARIABLE: "1" if change.value == "on" else "0"}

    @contextmanager
    def install(self, trial: Trial, change: Change, /) -> Iterator[None]:
        """TensorFlow has read it."""
        trial.applied()
        yield
