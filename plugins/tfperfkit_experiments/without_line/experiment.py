"""``without-line:FILE:LINE``: a statement that is a call of its own is left out; an assignment that a loop repeats
is made twice, then its last result stands. A ceiling, no fix."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base, parsed


def stands_alone(file: str, line: int) -> bool:
    """Whether a statement that can be left out begins there."""
    tree = parsed(file)
    return tree is not None and any(_begins(node, line, False) for node in tree.body)


def _begins(node: ast.AST, line: int, repeated: bool) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno == line:
        return True
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        return repeated and node.lineno == line
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        repeated = False
    repeated = repeated or isinstance(node, (ast.For, ast.AsyncFor, ast.While))
    return any(_begins(child, line, repeated) for child in ast.iter_child_nodes(node))


class WithoutLine(Base):
    """What it does is missing."""

    name = "without-line"
    keeps: ClassVar[Keeps] = "ceiling"
    usage = "without-line:FILE:LINE"
    codes = (
        "STP001",
        "STP004",
        "STP005",
        "SYN001",
        "OPS006",
        "STP007",
        "STP012",
        "MEM001",
        "RET009",
        "EAG011",
        "EAG013",
        "MEM002",
        "DST008",
        "DST009",
    )

    def problem(self, change: Change, /) -> str | None:
        """A file and a line."""
        file, _, line = change.target.rpartition(":")
        return None if file and line.isdecimal() and not change.value else self.needs("a file and a line")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The first place where it can be done; where the source is not there, the first of all."""
        fits = [span for span in finding.where if stands_alone(span.file, span.line)]
        unseen = [span for span in finding.where if not os.path.isfile(span.file)]
        for span in (fits or unseen)[:1]:
            yield Change(self.name, f"{os.path.basename(span.file)}:{span.line}")

    def edits(self, change: Change, /) -> Iterable[str]:
        """The line."""
        return (change.target,)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.without_line.install import install

        return install(trial)
