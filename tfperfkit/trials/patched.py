"""The patches of a run's findings as changes that trials can measure: the remedy itself, in the script's own lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfperfkit.model import Finding, Report
from tfperfkit.records.trials import place_of
from tfperfkit.report.agents import identified
from tfperfkit.rule import Evidence
from tfperfkit.trials.judging import Variant

if TYPE_CHECKING:
    from tfperfkit.fixing.files import Files
    from tfperfkit.fixing.patches import Patch

#: Before a finding's id, where other changes have the name of an experiment.
PREFIX = "patch:"


def of_patches(report: Report, evidence: Evidence) -> list[Variant]:
    """One for each finding that has a mechanical fix, each by itself; none without LibCST."""
    try:
        from tfperfkit.fixing.files import Files
        from tfperfkit.fixing.patches import Patches
    except ImportError:
        return []
    files = Files({file: evidence.source(file) for file in evidence.files()}, report.run.folder)
    known = identified((*report.findings, *report.headroom))
    made = [(finding, Patches(files, evidence).of(identity, finding)) for identity, finding in known]
    return [_variant(finding, patch, files) for finding, patch in made if _is_tried(patch, files)]


def _is_tried(patch: Patch, files: Files) -> bool:
    here = not any(file in files.missing for file, _, _ in patch.steps)
    return patch.fixer is not None and patch.fixer.tried and here


def _variant(finding: Finding, patch: Patch, files: Files) -> Variant:
    return Variant(
        text=f"{PREFIX}{patch.identity}",
        keeps=patch.fixer.keeps if patch.fixer is not None else "nothing",
        whole=bool(finding.work) or finding.basis == "run",
        finding=finding.code,
        place=place_of(finding),
        contents={str(files.path(file).resolve()): after for file, _, after in patch.steps},
    )


def rather_than_experiments(
    patched: Sequence[Variant], experiments: Sequence[Variant], findings: Sequence[Finding]
) -> list[Variant]:
    """Both, in the order of the findings. A patch is the remedy itself: where a finding has one, its experiments that
    are a fix are left out, and those that tell a ceiling come after it."""
    found: list[Variant] = []
    for key in dict.fromkeys((finding.code, place_of(finding)) for finding in findings):
        mine = [item for item in patched if (item.finding, item.place) == key]
        others = [item for item in experiments if (item.finding, item.place) == key]
        found += [*mine, *(item for item in others if not mine or item.keeps == "ceiling")]
    return found
