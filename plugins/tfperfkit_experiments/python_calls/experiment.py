"""``python-calls=last``: a function of the script's that TensorFlow calls from a graph (``tf.numpy_function``) runs
twice for inputs of the same shapes; then its last result stands. A ceiling, no fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base

_WHAT = "last"


class PythonCalls(Base):
    """``tf.py_function`` stays: gradients go through it."""

    name = "python-calls"
    keeps: ClassVar[Keeps] = "ceiling"
    usage = f"python-calls={_WHAT}"
    codes = ("OPS004", "INP005")

    def problem(self, change: Change, /) -> str | None:
        """There is one kind."""
        return None if change.value == _WHAT and not change.target else self.needs(_WHAT)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The same."""
        yield Change(self.name, value=_WHAT)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.python_calls.install import install

        return install(trial)
