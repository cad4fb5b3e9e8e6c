"""The experiments that belong to the findings of a run; their measurements are kept in the run directory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tfperfkit.analysis.analyze import study
from tfperfkit.errors import UsageError
from tfperfkit.launch import target
from tfperfkit.launch.arguments import Split
from tfperfkit.model import Finding, Report
from tfperfkit.records.trials import PROOF, TrialReport, place_of
from tfperfkit.report.agents import identified
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.trials.choice import Choice
from tfperfkit.trials.judging import Variant
from tfperfkit.trials.patched import make_patches, of_patches
from tfperfkit.trials.session import Wishes, run_trials, terminal

#: The id of a finding.
_CODE = re.compile(r"[A-Z]{2,5}\d{3}(-\d+)?")
#: A pair of whole runs, and as much again for a second one.
_RUNS = 4
#: Steps that take this long are few in a trial: else one pair of runs would take all of the time.
_SLOW_MS = 1000.0


def try_findings(
    folder: Path,
    seconds: float,
    *,
    only: str = "",
    in_place: bool = False,
    seed: int | None = None,
) -> TrialReport:
    """Measure and store; raises UsageError or RunDirectoryError. ``only`` is the id of a finding, or an experiment."""
    run, manifest = RunDirectory.open(folder)
    split_of(manifest)
    cwd = Path(manifest.cwd)
    if not cwd.is_dir():
        raise UsageError(f"the folder of that run is gone: {cwd}")
    report, evidence = study(folder)
    choice = Choice()
    # In place there is nothing to patch but the script.
    patched = [] if in_place else of_patches(*make_patches(report, evidence))
    variants = of_one(choice, report, only, patched) if only else _of_findings(choice, report, patched)
    notes = _changed(run, cwd)
    if not only:
        notes += untested(report, variants)
    variants, too_long = leave_out_long(report, variants, seconds)
    notes += too_long
    if not variants:
        if only:
            raise UsageError(" ".join(notes))
        variants = choice.headroom(report)
        reason = "The run has no finding"
        if report.findings:
            reason = "No finding of the run could be tried" if too_long else "No finding of the run has an experiment"
        notes.append(f"{reason}: tried was what may give headroom.")
    result = run_variants(manifest, report, variants, seconds, in_place=in_place, seed=seed)
    result = msgspec.structs.replace(result, notes=(*result.notes, *notes))
    store(run, result)
    return result


def leave_out_long(report: Report, variants: Sequence[Variant], seconds: float) -> tuple[list[Variant], list[str]]:
    """The variants that the time is enough for, and a note about those that need the whole of a long run."""
    long = [item for item in variants if item.whole and not fits_whole(report, seconds)]
    if not long:
        return list(variants), []
    note = (
        f"Not tried, since it shows in the whole run only, which takes {report.run.wall_s:.0f} s: "
        f"{', '.join(item.text for item in long)}. Give it a longer --time-limit."
    )
    return [item for item in variants if item not in long], [note]


def fits_whole(report: Report, seconds: float) -> bool:
    """Whether whole runs can be compared in this time."""
    return report.run.wall_s * _RUNS <= seconds


def run_variants(
    manifest: Manifest,
    report: Report,
    variants: Sequence[Variant],
    seconds: float,
    *,
    in_place: bool = False,
    seed: int | None = None,
    contents: Mapping[str, bytes] | None = None,
    brief: bool = False,
) -> TrialReport:
    """Measure variants of the script of a run, in the run's folder. ``contents``: of files, by path, that are others in
    the script as it is, too. ``brief``: see ``judging.decided``. Raises UsageError."""
    cwd, before = Path(manifest.cwd), Path.cwd()
    parts = split_of(manifest)
    try:
        os.chdir(cwd)
        target.check(parts)
        wishes = Wishes(
            variants=tuple(variants),
            seconds=seconds,
            in_place=in_place,
            seed=seed,
            steps_from=manifest.steps_from,
            folder=cwd,
            # If all findings are outside of steps, or no step was seen, the whole run counts.
            whole=report.steps.count == 0 or all(item.whole for item in variants),
            slow=(report.steps.median_ms or 0.0) >= _SLOW_MS,
            contents=dict(contents or {}),
            brief=brief,
        )
        return run_trials(parts, wishes, Choice(), terminal())
    except OSError as error:
        raise UsageError(f"can't enter the folder of that run: {cwd} ({error.strerror})") from error
    finally:
        with suppress(OSError):
            os.chdir(before)


def _of_findings(choice: Choice, report: Report, patched: list[Variant]) -> list[Variant]:
    return rather_than_experiments(patched, choice.of_findings(report), (*report.findings, *report.headroom))


def untested(report: Report, variants: list[Variant]) -> list[str]:
    """Return the findings that no change which can be tried belongs to: without a word they would seem to be tested
    too."""
    tested = {(item.finding, item.place) for item in variants}
    known = identified((*report.findings, *report.headroom))
    left = [
        f"{identity} ({where[0].file.rpartition('/')[2]}:{where[0].line})" if (where := finding.where) else identity
        for identity, finding in known
        if finding.severity != "info" and not finding.headroom and (finding.code, place_of(finding)) not in tested
    ]
    if not left:
        return []
    return [
        f"No experiment tests {', '.join(left)}: make the change by hand and run again, then tfperf compare tells "
        "what it gained."
    ]


def of_one(choice: Choice, report: Report, only: str, patched: list[Variant] | None = None) -> list[Variant]:
    """Return the variants that test one finding, or the experiment that ``only`` is; raises UsageError."""
    found = dict(identified((*report.findings, *report.headroom)))
    finding = found.get(only.strip().upper())
    if finding is None:
        if _CODE.fullmatch(only.strip().upper()):
            raise UsageError(f"that run has no finding {only!r:.80}; it has {', '.join(found) or 'none'}")
        return [choice.variant([choice.typed(only)])]
    mine = [item for item in patched or [] if (item.finding, item.place) == (finding.code, place_of(finding))]
    variants = _of_findings(choice, msgspec.structs.replace(report, findings=(finding,), headroom=()), mine)
    variants = [item for item in variants if item.finding == finding.code]
    if not variants:
        raise UsageError(f"no experiment tests {only}: make the change and compare runs (tfperf list experiments)")
    return variants


def split_of(manifest: Manifest) -> Split:
    """Return the command that was run; raises UsageError for what can't be run again."""
    if manifest.in_process or not manifest.argv:
        raise UsageError(
            "that run was recorded from inside of a program (tfperfkit.watch): use tfperf try on its script"
        )
    name, *words = manifest.argv
    module = manifest.module
    if module is None:
        module = not os.path.exists(os.path.join(manifest.cwd, name))
    return Split((), name, module, tuple(words), ())


def store(run: RunDirectory, result: TrialReport) -> None:
    """Beside the run, with what was measured before of other changes."""
    texts = {item.experiment for item in result.measured}
    kept = [item for item in (load(run) or result).measured if item.experiment not in texts]
    with suppress(OSError):
        run.write_json(PROOF, msgspec.structs.replace(result, measured=(*result.measured, *kept)))


def load(run: RunDirectory) -> TrialReport | None:
    """Return the earlier measurements."""
    try:
        return msgspec.convert(run.read_json(PROOF), TrialReport)
    except msgspec.ValidationError:
        return None


def _changed(run: RunDirectory, cwd: Path) -> list[str]:
    """Files of the user's that are others now than they were in the run."""
    changed = []
    for row in run.records("sources.jsonl"):
        if not (isinstance(row, list) and len(row) == 2 and isinstance(row[1], list)):
            continue
        try:
            now = (cwd / str(row[0])).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            now = []
        if now != [str(line).rstrip("\n") for line in row[1]]:
            changed.append(os.path.basename(str(row[0])))
    if not changed:
        return []
    names = ", ".join(sorted(set(changed))[:5])
    return [f"Changed since that run: {names}. The measurement is of the files as they are now."]


def rather_than_experiments(
    patched: Sequence[Variant], experiments: Sequence[Variant], findings: Sequence[Finding]
) -> list[Variant]:
    """Merge both in the order of the findings. A patch is the remedy itself, so if a finding has one, its experiments
    that are fixes are left out, and its ceilings come after the patch."""
    found: list[Variant] = []
    for key in dict.fromkeys((finding.code, place_of(finding)) for finding in findings):
        mine = [item for item in patched if (item.finding, item.place) == key]
        others = [item for item in experiments if (item.finding, item.place) == key]
        found += [*mine, *(item for item in others if not mine or item.keeps == "ceiling")]
    return found
