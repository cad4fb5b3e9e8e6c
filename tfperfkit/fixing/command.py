"""``tfperf fix RUN [ID] [--apply]``."""

from __future__ import annotations

import sys

from tfperfkit.analysis.analyze import study
from tfperfkit.config import find_run
from tfperfkit.errors import UsageError
from tfperfkit.model import Finding, Report
from tfperfkit.records.plural import plural
from tfperfkit.report.agents import identified


def fix_run(run: str, identity: str | None, write: bool) -> None:
    """Print the patches, write them where that is asked for; raises TfperfError for what can't be done."""
    try:
        import libcst  # noqa: F401
    except ImportError as error:
        raise UsageError("tfperf fix needs LibCST: pip install 'tfperfkit[fix]'") from error
    from tfperfkit.fixing.files import Files, replace
    from tfperfkit.fixing.patches import Patches
    from tfperfkit.fixing.render import show, tell

    report, evidence = study(find_run(run))
    files = Files({file: evidence.source(file) for file in evidence.files()}, report.run.folder)
    patches = Patches(files, evidence)
    made = [patches.make_patch(name, finding) for name, finding in _chosen(report, identity)]
    show(made, files, report, sys.stdout)
    _refuse(files.changed, "changed since the run", write)
    if not patches.after:
        return
    if not write:
        tell(f"nothing was written; --apply writes {plural(len(patches.after), 'file')}")
        return
    _refuse(files.missing, "not there", write)
    for file, after in patches.after.items():
        replace(files.path(file), files.contents[file], after)
        tell(f"wrote {file}")


def _chosen(report: Report, identity: str | None) -> list[tuple[str, Finding]]:
    """All findings, what headroom there is behind them, or the one that is asked for."""
    every = identified((*report.findings, *report.headroom))
    if identity is None:
        return every
    found = [item for item in every if item[0].lower() == identity.lower()]
    if not found:
        names = ", ".join(name for name, _ in every)
        raise UsageError(f"this run has no finding {identity}; " + (f"it has {names}" if names else "it has none"))
    return found


def _refuse(files: set[str], why: str, write: bool) -> None:
    if files:
        names = ", ".join(sorted(files)[:5])
        verb = "have" if len(files) > 1 else "has"
        be = "are" if len(files) > 1 else "is"
        said = f"{names} {verb} {why}: record a new run" if why.startswith("changed") else f"{names} {be} {why}"
        raise UsageError(f"{said}{'; nothing was written' if write else ''}")
