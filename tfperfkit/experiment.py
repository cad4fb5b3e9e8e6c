"""The contract for an experiment, version 1: a change that is made to a run from outside, to measure what it gains.

``install`` runs in the process of a trial, once TensorFlow has been imported there; everything else runs in the parent
and must not need TensorFlow. Entry point group ``tfperfkit.experiments``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol, runtime_checkable

import msgspec

from tfperfkit.model import Finding, Report
from tfperfkit.records.trials import Change as Change
from tfperfkit.records.trials import Keeps as Keeps

#: The version of this contract. An experiment states the one that it was written for in ``api``.
EXPERIMENTS_API = 1


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A change that belongs to a ``finding`` (of ``report.findings`` or ``report.headroom``), or to none.

    ``whole``: it shows in the whole run only, not in training steps. ``headroom``: not a finding's, but worth a try
    where nothing was found; the highest first.
    """

    change: Change
    finding: Finding | None = None
    whole: bool = False
    headroom: float = 0.0


class Trial(Protocol):
    """Argument of ``install``. No method raises."""

    def when_keras(self, callback: Callable[[], object]) -> None:
        """Call it once Keras has been imported; at once if it has."""

    def is_user_code(self, filename: str) -> bool:
        """Return whether a file is the user's own."""

    def applied(self) -> None:
        """The change took effect, once more. One that never did is reported as not applicable."""

    def refuse(self, reason: str) -> None:
        """Why it does not; the last reason counts."""


@runtime_checkable
class Experiment(Protocol):
    """An experiment. One instance is made in the parent, and one in each process of a trial.

    ``keeps``: "results": the same to the bit where TensorFlow is deterministic; "mathematics": rounding differs;
    "nothing": other results; "ceiling": not a fix, but what would be gained if the cost were gone.
    """

    api: ClassVar[int]
    name: ClassVar[str]
    keeps: ClassVar[Keeps]

    def problem(self, change: Change, /) -> str | None:
        """Return the mistake in its parameters, in words that say how it is written; None when nothing is."""

    def candidates(self, report: Report, /) -> Iterable[Candidate]:
        """Return the changes of this kind that a run's report asks for."""

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """Make the change while the context is open. Raises ``Unavailable`` when it can't be made here."""


@runtime_checkable
class ParentExperiment(Experiment, Protocol):
    """An experiment that changes what the process is started with."""

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """Variables of the environment."""


@runtime_checkable
class EditingExperiment(Experiment, Protocol):
    """An experiment on functions or statements of the user's, as their files are compiled: the files stay."""

    def edits(self, change: Change, /) -> Iterable[str]:
        """Names of functions (``step``, ``Model.call``), or statements that are left out (``train.py:31``)."""


@runtime_checkable
class FunctionExperiment(EditingExperiment, Protocol):
    """Each function of ``edits``, as it is defined, is handed to ``decorate``, outside of its own decorators."""

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """Return the function's replacement."""


def experiment_problems(experiment: object, name: str) -> list[str]:
    """List the ways in which an experiment breaks the contract, in words; empty when all is well."""
    problems = []
    api = getattr(experiment, "api", None)
    if api != EXPERIMENTS_API:
        problems.append(f"is written for experiment API {api!r}; this tfperfkit has {EXPERIMENTS_API}")
    if getattr(experiment, "name", None) != name:
        problems.append(f"calls itself {getattr(experiment, 'name', None)!r} but is installed as {name!r}")
    if getattr(experiment, "keeps", None) not in ("results", "mathematics", "nothing", "ceiling"):
        problems.append("does not say what it keeps")
    verbs = ("problem", "candidates", "install")
    problems += [f"has no method {verb}" for verb in verbs if not callable(getattr(experiment, verb, None))]
    return problems
