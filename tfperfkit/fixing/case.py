"""Input of a fixer: a finding, the files as they were in the run, and the offers of the probes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import libcst as cst

from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module
from tfperfkit.model import Finding, Keeps, SourceSpan

_Kind = TypeVar("_Kind")


class Offers(Protocol):
    """Offers of the run's evidence: see ``tfperfkit.offers``."""

    def offer(self, kind: type[_Kind], /) -> _Kind | None: ...


class NoOffers:
    """Offers of a run without evidence."""

    def offer(self, kind: type[_Kind], /) -> _Kind | None:
        return None


@dataclass(frozen=True)
class Case:
    """``module`` parses a file of the run once; raises NoFix for a file whose source is not known. ``assumed``: facts
    that the edits need and the source does not prove, a sentence each. With one of them the edits are a candidate."""

    finding: Finding
    module: Callable[[str], Module]
    offers: Offers = NoOffers()
    assumed: list[str] = field(default_factory=list)

    @contextmanager
    def assuming(self, what: str) -> Iterator[None]:
        """Make checks whose NoFix is only a doubt, which running the script can settle: it is added to ``assumed``."""
        try:
            yield
        except NoFix as error:
            self.assumed.append(f"{what} ({error})")

    def places(self) -> Iterator[tuple[Module, SourceSpan]]:
        """Yield the finding's places whose source can be parsed, the one to change first."""
        reason = NoFix("it has no place in a source file")
        some = False
        for span in self.finding.where:
            try:
                module = self.module(span.file)
            except NoFix as error:
                reason = error
                continue
            some = True
            yield module, span
        if not some:
            raise reason

    def lone_calls(self) -> Iterator[tuple[Module, cst.SimpleStatementLine, cst.Call]]:
        """Yield the statements at these places that are just a call: (module, statement, call)."""
        for module, span in self.places():
            for node in module.lines_at(span.line):
                call = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], cst.Expr) else None
                if isinstance(call, cst.Call):
                    yield module, node, call


@dataclass(frozen=True)
class Fixer:
    """``does``: in a few words what it changes; ``note``: what to know before it is applied, "" for nothing.

    ``keeps``: as an experiment says it. ``tried``: whether ``tfperf try`` measures the patch itself; not where an
    experiment finds the number that it writes.
    """

    does: str
    fix: Callable[[Case], list[Edit]]
    note: str = ""
    keeps: Keeps = "results"
    tried: bool = True
