"""Drafts: where no patch is mechanical, the user's own lines, what to change, and what the user has to decide."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfperfkit.fixing.sketch import make_sketch
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.remedy import (
    BatchLoop,
    BatchSize,
    CallDirectly,
    ChangeStage,
    Compile,
    Every,
    Hoist,
    KeepTrace,
    Remedy,
    Remove,
    ReplaceOps,
    Setting,
)

#: More lines than these are not shown of the user's code, and of the example.
_LINES, _EXAMPLE_LINES = 12, 16
#: Gives (language, code) of each block under "Use instead" on the page of a code.
Examples = Callable[[str], tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Draft:
    """``before``: the user's lines at ``place``; ``after``: these lines with the change; ``example``: other code that
    has the change made, if ``after`` is empty."""

    place: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    example: tuple[str, ...]
    decide: str


def make_draft(finding: Finding, source: Callable[[str], Sequence[str]], examples: Examples) -> Draft | None:
    """Return the draft for a finding's first place with source (``source``: file to lines); None if no place has."""
    for span in finding.where:
        lines = [str(line).rstrip("\n") for line in source(span.file)]
        if 0 < span.line <= len(lines):
            begin, end = _enclosing(lines, span)
            after = _dedent(make_sketch(finding.remedy, lines, span.line, (begin, end)))
            return Draft(
                f"{span.file}:{begin}",
                _dedent(lines[begin - 1 : end])[:_LINES],
                after,
                () if after else _example(finding.code, examples),
                decide(finding.remedy),
            )
    return None


def _dedent(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(textwrap.dedent("\n".join(lines)).split("\n")) if lines else ()


def _enclosing(lines: Sequence[str], span: SourceSpan) -> tuple[int, int]:
    """Return the first and last line of the largest statement around the place that is short enough to show, or of
    the smallest one."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return span.line, span.line
    around = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= span.line <= (node.end_lineno or node.lineno)
    ]
    if not around:
        return span.line, span.line
    around.sort(key=lambda ends: ends[1] - ends[0])
    return next((ends for ends in reversed(around) if ends[1] - ends[0] < _LINES), (span.line, around[0][1]))


def _example(code: str, examples: Examples) -> tuple[str, ...]:
    """Return the first block of Python of the page, without its imports."""
    try:
        blocks = examples(code)
    except OSError:
        return ()
    for language, block in blocks:
        if language in ("python", "py"):
            kept = [line for line in block.rstrip().split("\n") if not line.startswith(("import ", "from "))]
            kept = [line for line, last in zip(kept, ["", *kept], strict=False) if line or last]
            more = [f"...  (all of it: tfperf explain {code})"] if len(kept) > _EXAMPLE_LINES else []
            return (*kept[:_EXAMPLE_LINES], *more)
    return ()


def decide(remedy: Remedy) -> str:
    """Return the question that only the user can decide about a change of this kind."""
    match remedy:
        case Remove():
            return "whether anything needs the result of these lines"
        case Every():
            return "how often this is needed"
        case Hoist():
            return "whether the value is the same in every iteration, and where it is kept"
        case BatchLoop():
            return "whether the iterations are independent, and how many fit in memory at once"
        case Compile() | CallDirectly():
            return "whether the lines read values, print or change Python objects: a graph does so only while traced"
        case KeepTrace():
            return "which shape and dtype the uses of the argument allow"
        case ChangeStage():
            return "whether the order of the elements and their random numbers may change"
        case ReplaceOps():
            return "whether the other operations give results that are close enough"
        case Setting():
            return "whether results may round differently"
        case BatchSize():
            return "whether the training may use another batch size, and with which learning rate"
    return "whether the new code does the same as the old"
