"""Patches in a report: next to a finding's advice, its changes to the script's own lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tfperfkit.fixing import kept
from tfperfkit.fixing.lookup import is_mechanical
from tfperfkit.model import Finding, Report
from tfperfkit.report.paths import short_path
from tfperfkit.rule import Evidence

if TYPE_CHECKING:
    from tfperfkit.fixing.files import Files

#: A patch of more lines is for ``tfperf fix``, not for a page.
_LINES = 120
#: A run that is still going has other findings soon.
_GOING = ("running", "unknown")


def with_patches(report: Report, evidence: Evidence) -> Report:
    """Return the report with ``Finding.patch`` where one is known. Without LibCST, or where anything fails, as it was:
    the advice stands there all the same."""
    findings = [item for item in (*report.findings, *report.headroom) if is_mechanical(item.remedy)]
    if not findings:
        return report
    try:
        made = dict(zip(map(id, findings), _patches(findings, report, evidence), strict=True))
    except Exception:
        return report

    def patched(finding: Finding) -> Finding:
        patch = made.get(id(finding))
        return msgspec.structs.replace(finding, patch=patch) if patch else finding

    return msgspec.structs.replace(
        report,
        findings=tuple(map(patched, report.findings)),
        headroom=tuple(map(patched, report.headroom)),
    )


def _patches(findings: list[Finding], report: Report, evidence: Evidence) -> tuple[str, ...]:
    """Return the patches that are kept in the run directory, or make and keep them now."""
    folder, made_from = Path(report.run.directory), kept.digest(findings, evidence, report.run.folder)
    found = kept.read(folder, made_from)
    if found is not None and len(found) == len(findings):
        return found
    from tfperfkit.fixing.files import Files

    files = Files({file: evidence.source(file) for file in evidence.files()}, report.run.folder)
    made = tuple(_patch(finding, files, evidence) for finding in findings)
    if report.run.status not in _GOING:
        kept.write(folder, made_from, made)
    return made


def _patch(finding: Finding, files: Files, evidence: Evidence) -> str:
    """Each by itself, on the files as they are."""
    from tfperfkit.fixing.patches import Patches, unified

    made = Patches(files, evidence).make_patch("", finding)
    lines: list[str] = []
    for path, before, after in () if made.is_candidate else made.steps:
        lines += unified(short_path(path, files.folder), before, after, files.module(path).tree.encoding)
    return "\n".join(lines) if len(lines) <= _LINES else ""
