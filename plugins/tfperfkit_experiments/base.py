"""Shared parts of our experiments. Its use is optional: the contract is ``tfperfkit.experiment``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from tfperfkit.experiment import EXPERIMENTS_API, Candidate, Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import Remedy, Setting, is_one_of
from tfperfkit_experiments.seams import Seams


class Base:
    """An experiment without parameters that replaces functions of the libraries."""

    api: ClassVar[int] = EXPERIMENTS_API
    name: ClassVar[str]
    keeps: ClassVar[Keeps]
    #: How it is typed with its parameters, for messages.
    usage: ClassVar[str] = ""
    #: The remedies that it imitates, by value or by kind: the experiment tests the findings that ask for one of these.
    remedies: ClassVar[tuple[Remedy | type[Remedy], ...]] = ()
    #: How much it is worth a try without a finding: the highest first, 0 never.
    headroom: ClassVar[float] = 0.0
    #: Whether its gain shows outside of steps, for example in tracing, so that the whole run is timed.
    whole_run: ClassVar[bool] = False

    def problem(self, change: Change, /) -> str | None:
        """Refuse parameters."""
        if change.target or change.value:
            return f"{self.name} takes no parameters"
        return None

    def candidates(self, report: Report, /) -> Iterable[Candidate]:
        """The changes that test each finding with one of ``remedies``, and those that are worth a try without one."""
        for finding in (*report.findings, *report.headroom):
            if is_one_of(finding.remedy, self.remedies):
                for change in self.changes(report, finding):
                    yield Candidate(change=change, finding=finding, whole=self.whole_run or bool(finding.work))
        if self.headroom:
            for change in self.without_finding(report):
                yield Candidate(change=change, headroom=self.headroom, whole=self.whole_run)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The changes that test a finding."""
        yield Change(self.name)

    def without_finding(self, report: Report) -> Iterator[Change]:
        """The changes that are worth a try without a finding."""
        yield Change(self.name)

    def needs(self, what: str) -> str:
        """The message for missing or wrong parameters."""
        return f"{self.name} needs {what}: {self.usage}"

    def with_value(self, value: object) -> Change:
        """The change ``NAME=VALUE``."""
        return Change(self.name, value=str(value))

    @contextmanager
    def install(self, trial: Trial, change: Change, /) -> Iterator[None]:
        """Make the change until the context ends."""
        with Seams(trial) as seams:
            self.apply(seams, change)
            yield

    def apply(self, seams: Seams, change: Change) -> None:
        """Make the change in the process of the trial, where TensorFlow has been imported."""
        raise NotImplementedError


class WithChoice(Base):
    """``NAME=CHOICE``: an experiment whose parameter is one of a few words."""

    #: The first one is what a finding is tested with.
    choices: ClassVar[tuple[str, ...]]
    #: Name of the missing part, for messages.
    wanted: ClassVar[str]

    def problem(self, change: Change, /) -> str | None:
        """Accept one of the choices."""
        return None if change.value in self.choices and not change.target else self.needs(self.wanted)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The first choice."""
        yield self.with_value(self.choices[0])

    def without_finding(self, report: Report) -> Iterator[Change]:
        """The first choice."""
        yield self.with_value(self.choices[0])


class WithNumber(Base):
    """``NAME=N``: an experiment whose parameter is a number."""

    lowest: ClassVar[int] = 1
    highest: ClassVar[int] = 1_000_000_000
    #: Name of the missing part, for messages.
    wanted: ClassVar[str] = "a number"
    #: The number for a finding that names none.
    usual: ClassVar[int]

    def problem(self, change: Change, /) -> str | None:
        """Accept a number within the bounds."""
        fine = change.value.isdecimal() and self.lowest <= int(change.value) <= self.highest and not change.target
        return None if fine else self.needs(self.wanted)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The number that the finding advises, else the usual one."""
        yield self.with_value(self.advised(finding))

    def advised(self, finding: Finding) -> int:
        """The number of the finding's remedy, else the usual one."""
        value = finding.remedy.value if isinstance(finding.remedy, Setting) else None
        return value if isinstance(value, int) else self.usual


def is_function_name(text: str) -> bool:
    """Whether it may name a function: ``train_step``, ``Trainer.train_step``."""
    return all(part.isidentifier() for part in text.split("."))


def apply_on_gpus(seams: Seams) -> None:
    """Count a change that the environment has made already, or refuse it if there is no GPU. Devices are only listed,
    not initialised."""
    if seams.tensorflow.config.list_physical_devices("GPU"):
        seams.applied()
    else:
        seams.refuse("TensorFlow sees no GPU here")
