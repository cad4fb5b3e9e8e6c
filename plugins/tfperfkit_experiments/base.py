"""What our experiments have in common. Nobody must use it: the contract is ``tfperfkit.experiment``."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from typing import ClassVar

from tfperfkit.experiment import EXPERIMENTS_API, Candidate, Change
from tfperfkit.model import Finding, Report


class Base:
    """Candidates by the codes of findings, as data."""

    api: ClassVar[int] = EXPERIMENTS_API
    name: ClassVar[str]
    #: How its parameters are written, for a message.
    usage: ClassVar[str] = ""
    #: The findings that it tests, each by its code.
    codes: ClassVar[tuple[str, ...]] = ()
    #: Where nothing was found it is worth a try: the highest first, 0 never.
    headroom: ClassVar[float] = 0.0
    #: What it changes is paid outside of steps, while functions are traced or models set up: the whole run is timed.
    whole_run: ClassVar[bool] = False

    def problem(self, change: Change, /) -> str | None:
        """Nothing may follow the name, unless the class says otherwise."""
        if change.target or change.value:
            return f"{self.name} takes no parameters"
        return None

    def candidates(self, report: Report, /) -> Iterable[Candidate]:
        """One for each finding of ``codes``, and one for headroom."""
        for finding in (*report.findings, *report.headroom):
            if finding.code in self.codes:
                for change in self.changes(report, finding):
                    yield Candidate(change=change, finding=finding, whole=self.whole_run or bool(finding.work))
        if self.headroom:
            for change in self.without_finding(report):
                yield Candidate(change=change, headroom=self.headroom, whole=self.whole_run)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """What tests a finding."""
        yield Change(self.name)

    def without_finding(self, report: Report) -> Iterator[Change]:
        """What is worth a try without a finding."""
        yield Change(self.name)

    def needs(self, what: str) -> str:
        """The words for missing or wrong parameters."""
        return f"{self.name} needs {what}: {self.usage}"


def advised(finding: Finding, name: str) -> int | None:
    """The figure that its advice names, by the name of its measurement; None where it names none."""
    return next((int(item.value) for item in finding.evidence if item.name == name and item.value > 0), None)


def functions(finding: Finding) -> Iterator[str]:
    """The functions that a finding names, each once, the first first."""
    seen = set()
    for span in finding.where:
        name = span.function.rpartition(".<locals>.")[2]
        if name and name not in seen and not name.startswith("<"):
            seen.add(name)
            yield name


def parsed(file: str) -> ast.Module | None:
    """The script that a finding names, as it stands now; None where that can't be read, or is no file."""
    try:
        if not os.path.isfile(file):
            return None
        with open(file, "rb") as stream:
            return ast.parse(stream.read())
    except (OSError, ValueError, SyntaxError, RecursionError):
        return None


def generators(file: str) -> frozenset[str]:
    """The names of the functions in a script that yield; none where its source can't be read."""
    tree = parsed(file)
    return frozenset(
        node.name
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _yields(node)
    )


def _yields(node: ast.AST) -> bool:
    """By itself, not by a function within."""
    inner = (
        child
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    )
    return any(isinstance(child, (ast.Yield, ast.YieldFrom)) or _yields(child) for child in inner)
