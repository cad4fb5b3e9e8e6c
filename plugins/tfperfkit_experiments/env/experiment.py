"""``env:NAME=VALUE``: a variable of the environment. An empty value takes the variable away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class Env(Base):
    """Seen by the script from its start, and once more as it begins to import TensorFlow."""

    name = "env"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "env:NAME=VALUE"

    def problem(self, change: Change, /) -> str | None:
        """A name is needed."""
        return None if change.target else self.needs("a variable")

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """The variable."""
        return {change.target: change.value}

    @contextmanager
    def install(self, trial: Trial, change: Change, /) -> Iterator[None]:
        """It has been there from the start."""
        trial.applied()
        yield
