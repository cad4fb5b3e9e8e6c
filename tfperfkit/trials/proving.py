"""``tfperf fix RUN --prove``: measures each patch of a run, and offers those that gain and keep the results."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from tfperfkit.config import find_run
from tfperfkit.fixing.command import (
    Opened,
    apply_contents,
    choose_findings,
    make_drafts,
    open_run,
    refuse_files,
    require_libcst,
)
from tfperfkit.fixing.draft import Examples
from tfperfkit.records.plural import plural
from tfperfkit.records.trials import Baseline, Measured, TrialReport
from tfperfkit.report import numbers
from tfperfkit.report.proof import proof_words, shortfall
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.trials.command import stopped_by_signals
from tfperfkit.trials.findings import fits_whole, leave_out_long, run_variants, store
from tfperfkit.trials.ladder import Ladder
from tfperfkit.trials.patched import PREFIX, is_tried, make_patches, make_variant
from tfperfkit.trials.rounds import Budget

if TYPE_CHECKING:
    from tfperfkit.fixing.patches import Patch


def prove_run(run: str, only: str | None, limit_s: float, write: bool, examples: Examples) -> int:
    """Measure the patches of a run in pairs of trials, print them with the result, and with ``write`` write those that
    are proven. Returns the exit status; raises TfperfError."""
    require_libcst()
    from tfperfkit.fixing.patches import Patches
    from tfperfkit.fixing.render import show, tell

    folder = find_run(run)
    directory, manifest = RunDirectory.open(folder)
    opened = open_run(folder)
    chosen = choose_findings(opened.report, only)
    alone = [Patches(opened.files, opened.evidence).list_patches(name, finding) for name, finding in chosen]
    refuse_files(opened.files.changed, "changed since the run", write)
    proof = Proof(manifest, opened, Budget(limit_s))
    with stopped_by_signals() as struck:
        for number in range(max(map(len, alone), default=0)):
            proof.measure([patches[number] for patches in alone if number < len(patches)])
    if proof.result is not None:
        store(directory, msgspec.structs.replace(proof.result, measured=tuple(proof.measured.values())))
    measured = proof.measured
    together = Patches(opened.files, opened.evidence)

    def shown(patches: list[Patch]) -> Patch:
        proven = proof.proven.get(patches[0].identity)
        if proven is not None:
            return together.add(proven)
        return proof.last.get(patches[0].identity, patches[0])

    made = [shown(patches) for patches in alone]
    result = proof.result
    drafts = make_drafts(made, opened.evidence, examples)
    whole = result is not None and result.baseline is not None and result.baseline.unit == "run"
    wall_s = opened.report.run.wall_s if whole else None
    show(made, opened.files, opened.report, sys.stdout, drafts, measured, wall_s)
    for note in dict.fromkeys(proof.notes):
        tell(note)
    if proof.interrupted:
        tell("interrupted; nothing was written")
        return struck.status
    if not together.after:
        tell("no patch is proven; nothing was written")
    elif write:
        apply_contents(opened, together.after)
    else:
        tell(f"nothing was written; --apply writes {plural(len(together.after), 'file')}")
    return 0


class Proof:
    """Measures patches in pairs of trials. ``last``: by the ids of findings, the last patch that was measured;
    ``measured``: the result of its trials; ``proven``: the patch that is proven; ``result``: the first trials' report.
    """

    def __init__(self, manifest: Manifest, opened: Opened, budget: Budget) -> None:
        self._manifest, self._opened, self._budget = manifest, opened, budget
        self.measured: dict[str, Measured] = {}
        self.last: dict[str, Patch] = {}
        self.proven: dict[str, Patch] = {}
        self.result: TrialReport | None = None
        self.notes: list[str] = []
        self.interrupted = False

    def measure(self, patches: Sequence[Patch]) -> None:
        """Measure one patch of each finding, unless another one is proven already, or the time is over."""
        files, report, left_s = self._opened.files, self._opened.report, self._budget.left
        wanted = {item.identity: item for item in patches if item.identity not in self.proven and is_tried(item, files)}
        if self.interrupted or left_s <= 0 or not wanted:
            return
        whole = fits_whole(report, left_s)
        variants, notes = leave_out_long(report, [make_variant(item, files, whole) for item in wanted.values()], left_s)
        self.notes += notes
        if not variants:
            return
        result = run_variants(self._manifest, report, variants, left_s)
        self.result = self.result or result
        self.notes += result.notes
        self.interrupted = result.ended == "interrupted"
        for item in result.measured:
            identity = item.experiment.removeprefix(PREFIX)
            self.measured[identity], self.last[identity] = item, wanted[identity]
            if not shortfall(item):
                self.proven[identity] = wanted[identity]


def climb_run(run: str, limit_s: float, write: bool) -> int:
    """Take the patches of a run one after another, each on top of those before it, print the ladder and the patch of
    all rungs, and with ``write`` write it. Returns the exit status; raises TfperfError."""
    require_libcst()
    from tfperfkit.fixing.render import show_contents, tell

    folder = find_run(run)
    _, manifest = RunDirectory.open(folder)
    opened = open_run(folder)
    _, files = make_patches(opened.report, opened.evidence)
    refuse_files(files.changed if files else set(), "changed since the run", write)
    ladder = Ladder(manifest, Budget(limit_s), tell)
    with stopped_by_signals() as struck:
        try:
            ladder.climb(opened.report, opened.evidence)
        except KeyboardInterrupt:
            ladder.ended = "interrupted"
    names = {str(opened.files.path(file).resolve()): file for file in opened.evidence.files()}
    after = {names.get(path, path): content for path, content in ladder.contents.items()}
    opened.files.contents |= {names.get(path, path): content for path, content in ladder.originals.items()}
    show_contents(after, opened.files, sys.stdout, list(_ladder_lines(ladder)))
    if ladder.ended == "interrupted":
        tell("interrupted; nothing was written")
        return struck.status
    if not after:
        tell("no patch is proven; nothing was written")
    elif write:
        apply_contents(opened, after)
    else:
        tell(f"nothing was written; --apply writes {plural(len(after), 'file')}")
    return 0


def _ladder_lines(ladder: Ladder) -> Iterator[str]:
    """One line for the script as it is, for each rung, with the lines that it changes, and for all."""
    from tfperfkit.fixing.render import compare_gains

    if ladder.rungs:
        yield f"as it is  {_time(ladder.rungs[0].base)}"
    total = factor = 1.0
    for rung in ladder.rungs:
        factor = rung.measured.speedup or 1.0
        total *= factor
        does = rung.patch.fixer.does if rung.patch.fixer else ""
        yield f"{rung.patch.identity}  {_time(rung.base, factor)}  {numbers.speedup(factor)}  {does}"
        yield f"  gain: {compare_gains(rung.patch.finding, rung.measured, rung.wall_s)}"
        yield f"  proven: {proof_words(rung.measured)}"
        yield from (f"    {line}" for line in rung.lines)
    if len({rung.base.unit for rung in ladder.rungs if rung.base}) == 1:
        yield f"all  {_time(ladder.rungs[-1].base, factor)}  {numbers.speedup(total)}  measured, the rungs multiplied"
    yield from (f"not taken: {identity}, {reason}" for identity, reason in ladder.refused)
    yield f"ended: {ladder.ended}"


def _time(base: Baseline | None, factor: float = 1.0) -> str:
    if base is None:
        return "time unknown"
    return f"{numbers.alone(base.ms / factor, 'ms')} {'a step' if base.unit == 'step' else 'the whole run'}"
