"""Which changed runs are tried: from what was typed, from the findings of a run, or all that the script allows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint

from tfperfkit import registry
from tfperfkit.errors import ProbeError, UsageError
from tfperfkit.experiment import Candidate, EditingExperiment, Experiment, ParentExperiment
from tfperfkit.model import Finding, Report
from tfperfkit.records.trials import Change, parse_change, place_of
from tfperfkit.trials.judging import ORDER, Variant

_VALUES = re.compile(r"\{([^{}]*)\}")


class Choice:
    """The installed experiments, each loaded once."""

    def __init__(self) -> None:
        self._points: dict[str, EntryPoint] = registry.experiments()
        self._loaded: dict[str, Experiment] = {}

    def experiment(self, name: str) -> Experiment:
        """Raises UsageError or ProbeError."""
        if name not in self._loaded:
            self._loaded[name] = registry.load_experiment(name, self._points)
        return self._loaded[name]

    def all(self) -> Iterable[Experiment]:
        """Those that can be loaded."""
        for name in self._points:
            try:
                yield self.experiment(name)
            except ProbeError:
                continue

    def typed(self, text: str) -> Change:
        """Parse the value of ``--with``; raises UsageError."""
        try:
            change = parse_change(text)
        except ValueError as error:
            raise UsageError(str(error)) from None
        problem = self.experiment(change.experiment).problem(change)
        if problem:
            raise UsageError(problem)
        return change

    def variant(self, changes: Sequence[Change], *, whole: bool = False, finding: Finding | None = None) -> Variant:
        """These changes together."""
        experiments = [self.experiment(change.experiment) for change in changes]
        environment: dict[str, str] = {}
        edited: list[str] = []
        for change, experiment in zip(changes, experiments, strict=True):
            if isinstance(experiment, ParentExperiment):
                environment |= experiment.environment(change)
            if isinstance(experiment, EditingExperiment):
                edited += experiment.edits(change)
        return Variant(
            text=" + ".join(change.text for change in changes),
            changes=tuple(changes),
            keeps=max((experiment.keeps for experiment in experiments), key=ORDER.index),
            whole=whole,
            finding=finding.code if finding else "",
            place=place_of(finding) if finding else "",
            environment=environment,
            edited=tuple(dict.fromkeys(edited)),
            changes_batch=any(change.experiment == "batch" for change in changes),
            multiple=max(_steps_in_a_call(change) for change in changes),
        )

    def of_findings(self, report: Report) -> list[Variant]:
        """Return variants that test the findings of a run and its headroom, the costliest first; each change once."""
        found: dict[str, Variant] = {}
        candidates = self._candidates(report)
        for finding in (*report.findings, *report.headroom):
            of_it = [item for item in candidates if item.finding is finding]
            made = [self.variant([item.change], whole=item.whole, finding=finding) for item in of_it]
            for variant in sorted(made, key=lambda item: item.keeps == "ceiling"):  # a fix tells more
                found.setdefault(variant.text, variant)
        return list(found.values())

    def headroom(self, report: Report) -> list[Variant]:
        """Return the experiments that are worth a try on this kind of script and machine."""
        candidates = [item for item in self._candidates(report) if item.finding is None]
        candidates.sort(key=lambda item: -item.headroom)
        found = {item.change.text: self.variant([item.change]) for item in candidates}
        return list(found.values())

    def _candidates(self, report: Report) -> list[Candidate]:
        found: list[Candidate] = []
        for experiment in self.all():
            try:
                for item in experiment.candidates(report):
                    if experiment.problem(item.change) is None:
                        found.append(item)
            except Exception:  # of somebody else's: it costs itself only
                continue
        return found


def _steps_in_a_call(change: Change) -> int:
    return int(change.value) if change.experiment == "steps-per-execution" else 1


def varied(text: str, arguments: Sequence[str]) -> list[Variant]:
    """Return ``--vary '--batch-size {32,128}'``: the script's own option with each of the values, instead of its own
    value.

    Raises UsageError.
    """
    values = _VALUES.search(text)
    if values is None or not values[1].strip():
        raise UsageError(f"--vary {text!r} names no values: --vary '--batch-size {{32,128}}'")
    found = []
    for value in (part.strip() for part in values[1].split(",")):
        words = shlex.split(text[: values.start()] + value + text[values.end() :])
        if not words:
            raise UsageError(f"--vary {text!r} names no option")
        found.append(
            Variant(
                text=" ".join(words),
                arguments=(*_without(words, arguments), *words),
                keeps="nothing",
                changes_batch="batch" in words[0],
            )
        )
    return found


def _without(words: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Return the script's arguments without the option that ``words`` give."""
    name = words[0].partition("=")[0]
    kept: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == name:
            del rest[: len(words) - 1 if "=" not in words[0] else 1]
        elif not word.startswith(f"{name}="):
            kept.append(word)
    return kept


def texts(variants: Iterable[Variant]) -> Mapping[str, Variant]:
    """Map the variants by their names."""
    return {variant.text: variant for variant in variants}
