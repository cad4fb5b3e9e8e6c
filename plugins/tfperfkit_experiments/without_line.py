"""``without-line:FILE:LINE``: leaves out a statement that is just a call. Runs an assignment in a loop twice, then
reuses its last result."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report, SourceSpan
from tfperfkit.remedy import BatchLoop, Every, KeepTrace, Remove, Setting
from tfperfkit.syntax.script import can_be_left_out, parse_file
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class WithoutLine(Base):
    """The statement's work is missing."""

    name = "without-line"
    keeps = "ceiling"
    usage = "without-line:FILE:LINE"
    remedies = (
        Remove("statement"),
        BatchLoop,
        KeepTrace("instance"),
        Setting("check_numerics"),
        Every("save"),
        Every("collect"),
        Every("read"),
        Every("print"),
    )

    def problem(self, change: Change, /) -> str | None:
        """Accept a file and a line."""
        file, _, line = change.target.rpartition(":")
        return None if file and line.isdecimal() and not change.value else self.needs("a file and a line")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The first place where it can be done; if none of the sources is there, the first of all."""
        fits = [span for span in finding.where if _fits(span)]
        unseen = [span for span in finding.where if not os.path.isfile(span.file)]
        for span in (fits or unseen)[:1]:
            yield Change(self.name, f"{os.path.basename(span.file)}:{span.line}")

    def edits(self, change: Change, /) -> Iterable[str]:
        """The line: the script is compiled without its statement."""
        return (change.target,)

    def apply(self, seams: Seams, change: Change) -> None:
        """Count how often the statement is left out."""
        seams.refuse("no call of its own and no assignment in a loop begins there, or it was not reached")
        seams.when_left_out(seams.applied)


def _fits(span: SourceSpan) -> bool:
    tree = parse_file(span.file)
    return tree is not None and can_be_left_out(tree, span.line)
