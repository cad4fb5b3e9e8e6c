"""``tfperf fix RUN [ID]`` with ``--apply`` and ``--undo``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tfperfkit.analysis.analyze import study
from tfperfkit.config import find_run
from tfperfkit.errors import UsageError
from tfperfkit.fixing.draft import Draft, Examples, make_draft
from tfperfkit.model import Finding, Report
from tfperfkit.records.plural import plural
from tfperfkit.report.agents import identified
from tfperfkit.rule import Evidence

if TYPE_CHECKING:
    from tfperfkit.fixing.files import Files
    from tfperfkit.fixing.patches import Patch


@dataclass(frozen=True)
class Opened:
    """A run, with its report, its evidence and the files that its patches are of."""

    folder: Path
    report: Report
    evidence: Evidence
    files: Files


def open_run(folder: Path) -> Opened:
    """Raises TfperfError."""
    from tfperfkit.fixing.files import Files

    report, evidence = study(folder)
    files = Files({file: evidence.source(file) for file in evidence.files()}, report.run.folder)
    return Opened(folder, report, evidence, files)


def require_libcst() -> None:
    """Raises UsageError without LibCST."""
    try:
        import libcst  # noqa: F401
    except ImportError as error:
        raise UsageError("tfperf fix needs LibCST: pip install 'tfperfkit[fix]'") from error


def fix_run(run: str, identity: str | None, write: bool, examples: Examples) -> None:
    """Print the patches and drafts; with ``write`` write the patches. Raises TfperfError for what can't be done."""
    require_libcst()
    from tfperfkit.fixing.patches import Patches
    from tfperfkit.fixing.render import show, tell

    opened = open_run(find_run(run))
    patches = Patches(opened.files, opened.evidence)
    made = [patches.make_patch(name, finding) for name, finding in choose_findings(opened.report, identity)]
    show(made, opened.files, opened.report, sys.stdout, make_drafts(made, opened.evidence, examples))
    refuse_files(opened.files.changed, "changed since the run", write)
    candidates = sum(patch.is_candidate for patch in made)
    if candidates:
        tell(f"{plural(candidates, 'candidate')} left out: tfperf fix {run} --prove runs the script with each")
    if not patches.after:
        return
    if not write:
        files = plural(len(patches.after), "file")
        tell(f"nothing was written; --apply writes {files}, --prove --apply measures first and writes what gains")
        return
    if any(patch.steps and patch.finding.measured is None for patch in made):
        tell(f"nothing was measured: tfperf fix {run} --prove --apply writes only what gains")
    apply_contents(opened, patches.after)


def make_drafts(patches: Sequence[Patch], evidence: Evidence, examples: Examples) -> dict[str, Draft]:
    """Return the drafts, by the ids of patches that could not be made."""
    from tfperfkit.fixing.patches import DONE

    wanted = [item for item in patches if item.fixer is None and DONE not in item.reason]
    made = {item.identity: make_draft(item.finding, evidence.source, examples) for item in wanted}
    return {identity: draft for identity, draft in made.items() if draft is not None}


def apply_contents(opened: Opened, after: dict[str, bytes]) -> None:
    """Write files (file: content) and say so; the originals stay in the run directory. Raises UsageError."""
    from tfperfkit.fixing.originals import write_patched
    from tfperfkit.fixing.render import tell

    refuse_files(opened.files.missing & set(after), "not there", True)
    for line in write_patched(opened.folder, opened.files, after):
        tell(line)
    for file in after:
        tell(f"wrote {file}")
    tell(f"tfperf fix {opened.folder} --undo brings the originals back")


def undo_run(run: str) -> None:
    """Bring back the files that a run's patches changed; raises TfperfError."""
    require_libcst()
    from tfperfkit.fixing.originals import undo_patches
    from tfperfkit.fixing.render import tell

    for path in undo_patches(find_run(run)):
        tell(f"restored {path}")


def choose_findings(report: Report, identity: str | None) -> list[tuple[str, Finding]]:
    """Return all findings and the headroom, or the one that is asked for, by their ids; raises UsageError."""
    every = identified((*report.findings, *report.headroom))
    if identity is None:
        return every
    found = [item for item in every if item[0].lower() == identity.lower()]
    if not found:
        names = ", ".join(name for name, _ in every)
        raise UsageError(f"this run has no finding {identity}; " + (f"it has {names}" if names else "it has none"))
    return found


def refuse_files(files: set[str], why: str, write: bool) -> None:
    """Raises UsageError if there are such files."""
    if files:
        names = ", ".join(sorted(files)[:5])
        verb = "have" if len(files) > 1 else "has"
        be = "are" if len(files) > 1 else "is"
        said = f"{names} {verb} {why}: record a new run" if why.startswith("changed") else f"{names} {be} {why}"
        raise UsageError(f"{said}{'; nothing was written' if write else ''}")
