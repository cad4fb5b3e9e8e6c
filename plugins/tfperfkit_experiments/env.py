"""``env:NAME=VALUE``: sets a variable of the environment. An empty value removes the variable."""

from __future__ import annotations

from collections.abc import Mapping

from tfperfkit.experiment import Change
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class Env(Base):
    """The script sees it from its start; it is set again as the script begins to import TensorFlow."""

    name = "env"
    keeps = "mathematics"
    usage = "env:NAME=VALUE"

    def problem(self, change: Change, /) -> str | None:
        """Accept a name, with or without a value."""
        return None if change.target else self.needs("a variable")

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """The variable."""
        return {change.target: change.value}

    def apply(self, seams: Seams, change: Change) -> None:
        """Count it: it has been set from the start."""
        seams.applied()
