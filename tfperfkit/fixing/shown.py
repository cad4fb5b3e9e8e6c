"""Patches in a report: beside a finding's advice what it changes in the script's own lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tfperfkit.fixing.codes import MECHANICAL
from tfperfkit.model import Finding, Report
from tfperfkit.report.paths import short_path
from tfperfkit.rule import Evidence

if TYPE_CHECKING:
    from tfperfkit.fixing.files import Files

#: A patch of more lines is for ``tfperf fix``, not for a page.
_LINES = 60


def with_patches(report: Report, evidence: Evidence) -> Report:
    """The report with ``Finding.patch`` where one is known. Without LibCST, or where anything fails, as it was: the
    advice stands there all the same."""
    if not any(finding.code in MECHANICAL for finding in (*report.findings, *report.headroom)):
        return report  # LibCST, whose import takes longer than all else here, comes only where something is to change
    try:
        from tfperfkit.fixing.files import Files

        files = Files({file: evidence.source(file) for file in evidence.files()}, report.run.folder)
        return msgspec.structs.replace(
            report,
            findings=tuple(_patched(finding, files, evidence) for finding in report.findings),
            headroom=tuple(_patched(finding, files, evidence) for finding in report.headroom),
        )
    except Exception:
        return report


def _patched(finding: Finding, files: Files, evidence: Evidence) -> Finding:
    """Each patch by itself, on the files as they are."""
    from tfperfkit.fixing.patches import Patches, unified

    made = Patches(files, evidence).of("", finding)
    lines: list[str] = []
    for path, before, after in made.steps:
        lines += unified(short_path(path, files.folder), before, after, files.module(path).tree.encoding)
    return msgspec.structs.replace(finding, patch="\n".join(lines)) if 0 < len(lines) <= _LINES else finding
