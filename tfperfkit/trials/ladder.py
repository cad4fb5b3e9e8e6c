"""``tfperf fix RUN --all --prove``: one proven patch after another, each on top of those before it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tfperfkit.analysis.analyze import study
from tfperfkit.errors import TfperfError
from tfperfkit.launch import supervisor
from tfperfkit.model import Report
from tfperfkit.records.trials import Baseline, Measured
from tfperfkit.report.proof import shortfall
from tfperfkit.rule import Evidence
from tfperfkit.storage.run_directory import Manifest
from tfperfkit.trials.findings import fits_whole, leave_out_long, run_variants, split_of
from tfperfkit.trials.patched import is_tried, make_patches, make_variant
from tfperfkit.trials.process import quiet_environment
from tfperfkit.trials.rounds import Budget
from tfperfkit.trials.scratch import Scratch, end_group
from tfperfkit.trials.workspace import Workspace, workspace

if TYPE_CHECKING:
    from tfperfkit.fixing.patches import Patch

OVER = "the time was over; try a longer --time-limit"
#: Share of the remaining time that the trials of one patch may take: they end as soon as they are sure, so only those
#: that a busy machine blurs take it all. Less time than ``_LEAST_S`` is not enough for any.
_SHARE, _LEAST_S = 0.8, 10.0
#: Recording takes longer than the trials of a step do: the imports, the whole run and its windows.
_RECORDING = 1.5


@dataclass(frozen=True)
class Rung:
    """A patch that was taken. ``base``: the runs without it; ``lines``: those that it removes and adds;
    ``wall_s``: of the run without it, if the trials timed whole runs."""

    patch: Patch
    measured: Measured
    base: Baseline | None
    lines: tuple[str, ...]
    wall_s: float | None


class Ladder:
    """Climbs. ``rungs``: the patches that were taken; ``refused``: those that were not, with the reason; ``contents``:
    the files after all rungs, by path; ``originals``: the same files before; ``ended``: why it ended where it did."""

    def __init__(self, manifest: Manifest, budget: Budget, tell: Callable[[str], None]) -> None:
        self._manifest, self._budget, self._tell = manifest, budget, tell
        self._seen: set[tuple[str, ...]] = set()
        self.rungs: list[Rung] = []
        self.refused: list[tuple[str, str]] = []
        self.contents: dict[str, bytes] = {}
        self.originals: dict[str, bytes] = {}
        self.ended = ""

    def climb(self, report: Report, evidence: Evidence) -> None:
        """Take one patch after another, the costliest finding's first, from the report of a run without patches. Raises
        UsageError if the script can't be run as it is."""
        cwd = Path(self._manifest.cwd)
        parts = split_of(self._manifest)
        script = None if parts.is_module else cwd / parts.target
        with Scratch(cwd) as scratch:
            place = workspace(cwd, script, scratch.path)
            while self._take(report, evidence):
                try:
                    report, evidence = self._record(scratch, place, report)
                except TfperfError as error:
                    self.ended = str(error)
                    return
        self.ended = self.ended or "no other patch gains"

    def _take(self, report: Report, evidence: Evidence) -> bool:
        """Try patches until one is proven; whether one was."""
        patches, files = make_patches(report, evidence, self.contents)
        for patch in patches:
            if files is None or not is_tried(patch, files):
                continue
            variant = make_variant(patch, files, whole=fits_whole(report, self._budget.left))
            lines = changed_lines(patch)
            if lines in self._seen:
                continue
            left_s = self._budget.left
            limit_s = left_s if variant.whole else max(left_s * _SHARE, min(left_s, 60.0))
            _, too_long = leave_out_long(report, [variant], limit_s)
            if too_long or left_s < _LEAST_S:
                self.ended = " ".join(too_long) or OVER
                continue
            self._seen.add(lines)
            self._tell(f"{patch.identity}: measuring")
            result = run_variants(self._manifest, report, [variant], limit_s, contents=self.contents, brief=True)
            if result.ended == "interrupted":
                raise KeyboardInterrupt
            item = result.measured[0]
            missing = shortfall(item)
            if missing:
                self.refused.append((patch.identity, missing))
                self._tell(f"{patch.identity}: not taken, {missing}")
                continue
            whole = result.baseline is not None and result.baseline.unit == "run"
            self.rungs.append(Rung(patch, item, result.baseline, lines, report.run.wall_s if whole else None))
            for path, before in zip(variant.contents, (before for _, before, _ in patch.steps), strict=True):
                self.originals.setdefault(path, before)
            self.contents.update(variant.contents)
            self._tell(f"{patch.identity}: taken, {item.speedup or 1:.2g}x")
            self.ended = ""
            return True
        return False

    def _record(self, scratch: Scratch, place: Workspace, before: Report) -> tuple[Report, Evidence]:
        """Record the patched script; raises TfperfError."""
        if self._budget.left < _RECORDING * before.run.wall_s / (self.rungs[-1].measured.speedup or 1.0):
            raise TfperfError(OVER)
        self._tell("recording the patched script")
        parts = split_of(self._manifest)
        own = scratch.new()
        words = ["run", "--run-dir", str(own / "run"), "--quiet"]
        if self._manifest.steps_from:
            words += ["--steps-from", self._manifest.steps_from]
        words += [*(["-m"] if parts.is_module else []), parts.target, *parts.script_arguments]
        prepared = place.prepare(own, [*supervisor.interpreter(), "-m", "tfperfkit", *words], self.contents)
        (own / "tmp").mkdir()
        process = subprocess.Popen(
            prepared.command,
            cwd=prepared.folder,
            env=quiet_environment(own),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            scratch.running(process.pid)
            status = process.wait(self._budget.left)
        except subprocess.TimeoutExpired as error:
            raise TfperfError(OVER) from error
        finally:
            end_group(process.pid)
            process.wait()
            scratch.running(0)
        if status != 0:
            raise TfperfError(f"the patched script ended with exit status {status} under tfperf run")
        report, evidence = study(own / "run")
        # In a copy of the folder it ran elsewhere; patches are of the user's files.
        run = msgspec.structs.replace(report.run, folder=before.run.folder)
        return msgspec.structs.replace(report, run=run), evidence


def changed_lines(patch: Patch) -> tuple[str, ...]:
    """The lines that a patch removes and adds, with their signs."""
    from tfperfkit.fixing.patches import unified

    diff = [line for _, before, after in patch.steps for line in unified("", before, after)]
    return tuple(line for line in diff if line[:1] in ("+", "-") and not line.startswith(("+++ ", "--- ")))
