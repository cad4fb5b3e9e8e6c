"""Patches of findings as changed runs: each on its own, with the patched files instead of the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tfperfkit.model import Report
from tfperfkit.records.trials import place_of
from tfperfkit.report.agents import identified
from tfperfkit.rule import Evidence
from tfperfkit.trials.judging import Variant

if TYPE_CHECKING:
    from tfperfkit.fixing.files import Files
    from tfperfkit.fixing.patches import Patch

#: Stands before a finding's id, where other changes have the name of an experiment.
PREFIX = "patch:"


def make_patches(
    report: Report, evidence: Evidence, contents: Mapping[str, bytes] | None = None
) -> tuple[list[Patch], Files | None]:
    """Return the patches of each finding, each on its own, candidates after those that the source proves, and the
    files; nothing without LibCST. ``contents``: of files, by path, that are others in that run than they are now."""
    try:
        from tfperfkit.fixing.files import Files
        from tfperfkit.fixing.patches import Patches
    except ImportError:
        return [], None
    files = Files({file: evidence.source(file) for file in evidence.files()}, report.run.folder, contents or {})
    known = identified((*report.findings, *report.headroom))
    made = [patch for identity, finding in known for patch in Patches(files, evidence).list_patches(identity, finding)]
    return made, files


def of_patches(patches: Sequence[Patch], files: Files | None) -> list[Variant]:
    """Return a variant for each finding's first patch, if the source proves it and it can be tried."""
    first = {patch.identity: patch for patch in reversed(patches) if not patch.is_candidate}.values()
    return [make_variant(patch, files) for patch in reversed(first) if files is not None and is_tried(patch, files)]


def is_tried(patch: Patch, files: Files) -> bool:
    """Whether trials measure the patch itself, and have its files."""
    here = not any(file in files.missing for file, _, _ in patch.steps)
    return patch.fixer is not None and patch.fixer.tried and here


def make_variant(patch: Patch, files: Files, whole: bool = False) -> Variant:
    """Return the changed run of a patch. ``whole``: a candidate is measured in whole runs, so that all of its outputs
    are compared."""
    finding = patch.finding
    return Variant(
        text=f"{PREFIX}{patch.identity}",
        keeps=patch.fixer.keeps if patch.fixer is not None else "nothing",
        whole=bool(finding.work) or finding.basis == "run" or (whole and patch.is_candidate),
        doubtful=patch.is_candidate,
        finding=finding.code,
        place=place_of(finding),
        contents={str(files.path(file).resolve()): after for file, _, after in patch.steps},
    )
