"""Messages about a place in the code, for programs that show it there: SARIF, annotations of GitHub, Markdown."""

from __future__ import annotations

import math
import os
from typing import Literal

import msgspec

from tfperfkit.model import Finding, Severity, SourceSpan
from tfperfkit.records.gains import finite
from tfperfkit.report import numbers
from tfperfkit.report.replacements import Replacement, replacements

Level = Literal["error", "warning", "note"]
_LEVELS: dict[Severity, Level] = {"high": "warning", "medium": "warning", "low": "note", "info": "note"}


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is said.

    ``code`` names its rule, ``rule`` says in a few words what that is about; ``text`` is the whole message. ``where``:
    the first place counts, the others belong to it. ``fix``: the change that fixes the fault, if it is known.
    """

    code: str
    rule: str
    level: Level
    title: str
    text: str
    where: tuple[SourceSpan, ...] = ()
    fix: tuple[Replacement, ...] = ()


def of_finding(finding: Finding, folder: str = "") -> Annotation:
    """Return a finding as it is shown at its line: what it is, what it costs and gains, what to do. ``folder``: the one
    that the names in its patch start from; without it there is no ``fix``."""
    parts = [finding.title.rstrip(".") + "."]
    share, gain = finding.share_of_step, finite(finding.gain)
    if math.isfinite(share) and share > 0 and finding.basis != "risk":
        of = "the run" if finding.basis == "run" else "a step"
        parts.append(f"It costs {numbers.alone(share, 'share')} of {of}.")
    if gain.likely is not None and gain.likely >= 1.05:
        parts.append(f"Fixed, that gets {numbers.speedup(gain.likely)} faster.")
    elif gain.likely is None and gain.low is not None:
        parts.append(f"Fixed, that gets at least {numbers.speedup(gain.low)} faster.")
    parts.append(finding.advice)
    return Annotation(
        code=finding.code,
        rule=finding.family,
        level=_LEVELS.get(finding.severity, "note"),
        title=finding.title,
        text=" ".join(part for part in parts if part),
        where=finding.where,
        fix=replacements(finding.patch, folder) if finding.patch and folder else (),
    )


def below(file: str, root: str) -> str:
    """Return a file as its path from ``root``, with slashes; unchanged if it does not lie below."""
    if root and os.path.isabs(file):
        try:
            relative = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
        except (OSError, ValueError):
            return file
        if relative.split(os.sep, 1)[0] != os.pardir:
            return relative.replace(os.sep, "/")
    return file
