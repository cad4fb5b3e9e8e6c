"""``tfperf fix RUN --prove``: measures each patch of a run, and offers those that gain and keep the results."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tfperfkit.config import find_run
from tfperfkit.fixing.command import (
    apply_contents,
    choose_findings,
    make_drafts,
    open_run,
    refuse_files,
    require_libcst,
)
from tfperfkit.fixing.draft import Examples
from tfperfkit.records.plural import plural
from tfperfkit.records.trials import Baseline
from tfperfkit.report import numbers
from tfperfkit.report.proof import proof_words, shortfall
from tfperfkit.storage.run_directory import RunDirectory
from tfperfkit.trials.command import stopped_by_signals
from tfperfkit.trials.findings import leave_out_long, run_variants, store
from tfperfkit.trials.ladder import Ladder
from tfperfkit.trials.patched import PREFIX, make_patches, of_patches
from tfperfkit.trials.rounds import Budget


def prove_run(run: str, only: str | None, limit_s: float, write: bool, examples: Examples) -> int:
    """Measure the patches of a run in pairs of trials, print them with the result, and with ``write`` write those that
    are proven. Returns the exit status; raises TfperfError."""
    require_libcst()
    from tfperfkit.fixing.patches import Patch, Patches
    from tfperfkit.fixing.render import show, tell

    folder = find_run(run)
    directory, manifest = RunDirectory.open(folder)
    opened = open_run(folder)
    alone = [
        Patches(opened.files, opened.evidence).make_patch(name, finding)
        for name, finding in choose_findings(opened.report, only)
    ]
    refuse_files(opened.files.changed, "changed since the run", write)
    variants, notes = leave_out_long(opened.report, of_patches(alone, opened.files), limit_s)
    with stopped_by_signals() as struck:
        result = run_variants(manifest, opened.report, variants, limit_s) if variants else None
    if result is not None:
        store(directory, result)
    measured = {item.experiment.removeprefix(PREFIX): item for item in result.measured} if result else {}

    together = Patches(opened.files, opened.evidence)

    def shown(patch: Patch) -> Patch:
        if patch.fixer is None or shortfall(measured.get(patch.identity)):
            return patch
        return together.make_patch(patch.identity, patch.finding)

    made = [shown(patch) for patch in alone]
    drafts = make_drafts(made, opened.evidence, examples)
    whole = result is not None and result.baseline is not None and result.baseline.unit == "run"
    wall_s = opened.report.run.wall_s if whole else None
    show(made, opened.files, opened.report, sys.stdout, drafts, measured, wall_s)
    for note in (*notes, *(result.notes if result else ())):
        tell(note)
    if result is not None and result.ended == "interrupted":
        tell("interrupted; nothing was written")
        return struck.status
    if not together.after:
        tell("no patch is proven; nothing was written")
    elif write:
        apply_contents(opened, together.after)
    else:
        tell(f"nothing was written; --apply writes {plural(len(together.after), 'file')}")
    return 0


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
