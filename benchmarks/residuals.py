"""Take the errors of predicted gains apart: ``python -m benchmarks.residuals RUNS [NAMES...] [--out FILE] [--nodes]``.

``RUNS`` holds run directories of faulty scripts and of their fixed twins, ``BATCH.NAME`` and ``BATCH.NAME_fixed``,
recorded one right after the other. For each pair the ledger as predicted after the right finding's remedy stands next
to the ledger of the twin, in seconds of the run and in ms of the step. It runs no scripts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from benchmarks.blind import anchored, batches, entries
from benchmarks.finding_forecasts import forecast_factor, forecast_seconds, name_remedy, table_of_scores
from benchmarks.forecast_scores import Forecast
from benchmarks.gains import NEAR, faults
from benchmarks.residual_nodes import Lines, Node, Residual, compare_ledgers
from tfperfkit.analysis.analyze import study
from tfperfkit.errors import RunDirectoryError
from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.ledger.explained_parts import explained_parts
from tfperfkit.ledger.ownership import find_owned
from tfperfkit.ledger.step_ledger import part_of_stack
from tfperfkit.model import Finding, Report
from tfperfkit.pricing.plain_time import added_by_windows_s
from tfperfkit.records.parts import PAID_ONCE
from tfperfkit.rule import Evidence

#: The rest of the page from here on is written by hand, and kept.
_BY_HAND = "\n## What was found"
_MAX_NODES = 8


class Side(NamedTuple):
    """A run with its report. ``load``: what the recording noted of the machine; "" if it noted nothing."""

    report: Report
    evidence: Evidence
    load: str

    @property
    def spent_s(self) -> float:
        """Seconds of the run without imports, the interpreter's end, tfperf's own pauses, and what its windows added to
        training steps."""
        account = self.report.run_account
        if account is None:
            return 0.0
        return account.total_s - account.seconds_of(*PAID_ONCE) - added_by_windows_s(self.evidence.steps)


class Pair(NamedTuple):
    """A faulty run with its right finding, and the run of its fixed twin. ``rank``: the finding's, from 1."""

    batch: str
    name: str
    faulty: Side
    twin: Side
    finding: Finding
    rank: int
    run: Residual
    step: Residual | None

    @property
    def saved_s(self) -> float:
        """Seconds that the twin takes less."""
        return self.faulty.spent_s - self.twin.spent_s

    @property
    def forecast(self) -> Forecast | None:
        """The saved seconds of the run, as predicted and as measured; None if one is not known or negligible."""
        return forecast_seconds(self.finding, self.saved_s)

    @property
    def step_forecast(self) -> Forecast | None:
        """The factor of the mean clean step, if the finding predicts one of training steps and both runs have as
        many."""
        if self.faulty.report.steps.count != self.twin.report.steps.count:
            return None
        return forecast_factor(self.finding, self.faulty.evidence.account, self.twin.evidence.account)


def main() -> None:
    """Write the page, and the nodes of each pair if they are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.residuals", description=__doc__)
    parser.add_argument("runs", type=Path, help="folder with the run directories")
    parser.add_argument("names", nargs="*", help="pairs, such as sixteenth.bird_calls [default: all]")
    parser.add_argument("--out", type=Path, help="write the page, e.g. benchmarks/results/residuals.md")
    parser.add_argument("--first-sight", action="append", default=[], metavar="BATCH", help="no rule was changed since")
    parser.add_argument("--nodes", action="store_true", help="print all nodes of each pair")
    given = parser.parse_args()
    pairs, left_out = read_pairs(given.runs, given.names)
    if given.nodes:
        for pair in pairs:
            print("\n".join(describe_pair(pair, 40)), flush=True)
    page = write_page(pairs, left_out, given.first_sight)
    if given.out:
        before = given.out.read_text(encoding="utf-8") if given.out.exists() else ""
        given.out.write_text(page + keep_by_hand(before), encoding="utf-8")
    else:
        print(page)


def keep_by_hand(before: str) -> str:
    """Return what is written by hand in a page; "" if nothing is."""
    _, heading, by_hand = before.partition(_BY_HAND)
    return heading + by_hand


def read_pairs(runs: Path, names: Sequence[str] = ()) -> tuple[list[Pair], list[str]]:
    """Read all pairs of which both runs are finished; and a sentence for each that has no residual."""
    pairs, left_out = [], []
    for folder in sorted(runs.iterdir()):
        twin = folder.with_name(f"{folder.name}_fixed")
        if not folder.is_dir() or not twin.is_dir() or (names and folder.name not in names):
            continue
        if not (folder / "exit.json").exists() or not (twin / "exit.json").exists():
            continue
        try:
            pairs.append(read_pair(folder, twin))
        except (LookupError, RunDirectoryError) as error:
            left_out.append(f"{folder.name}: {error}")
    return pairs, left_out


def read_pair(folder: Path, twin_folder: Path) -> Pair:
    """Read a pair. Raises ``LookupError`` if no finding is at the planted place, ``RunDirectoryError`` as ``study``."""
    batch, _, name = folder.name.partition(".")
    faulty, twin = read_side(folder), read_side(twin_folder)
    rank, finding = find_right(faulty.report, find_planted(batch, name))
    return compare(batch, name, faulty, twin, rank, finding)


def read_side(folder: Path) -> Side:
    """Read a run; its recording's notes on the load are next to it in ``NAME.done``."""
    report, evidence = study(folder)
    noted = folder.with_name(f"{folder.name}.done")
    load = noted.read_text(encoding="utf-8").rpartition("load ")[2].strip() if noted.exists() else ""
    return Side(report, evidence, load)


def find_planted(batch: str, name: str) -> list[int]:
    """Return the lines at which the fault was planted. Raises ``LookupError`` for a script that nobody knows."""
    if batch in batches():
        entry = next((entry for entry in entries(batch) if entry["name"] == name), None)
        if entry is None:
            raise LookupError("not in the manifest")
        return anchored(entry)
    fault = next((fault for fault in faults() if fault.name == name and not fault.anchors), None)
    if fault is None:
        raise LookupError("not in the collection")
    return list(fault.case.marked)


def find_right(report: Report, planted: Sequence[int]) -> tuple[int, Finding]:
    """Return the first finding at a planted line that predicts something, with its rank among those above "info".

    A finding about the whole script has no such line; it counts if it comes first. Raises ``LookupError``.
    """
    loud = [finding for finding in report.findings if finding.severity != "info"]
    for rank, finding in enumerate(loud, 1):
        lines = [span.line for span in finding.where]
        near = any(abs(line - mine) <= NEAR for line in lines for mine in planted)
        if (near or (rank == 1 and finding.basis == "step")) and finding.saves_s is not None:
            return rank, finding
    raise LookupError("no finding at the planted place predicts seconds")


def compare(batch: str, name: str, faulty: Side, twin: Side, rank: int, finding: Finding) -> Pair:
    """Compare the ledgers of run and step."""
    lines = match_lines(faulty.evidence, twin.evidence)
    ledgers = [_without_paid_once(side.evidence.run_ledger) for side in (faulty, twin)]
    low, high = finding.saves_s or (0.0, 0.0)
    saved = (low + (high if high is not None else max(finding.costs_s or low, low))) / 2
    owned = find_owned(finding, ledgers[0], find_scope(faulty.evidence, ledgers[0]), finding.costs_s or 0.0)
    parts = explained_parts(finding)
    run = compare_ledgers(ledgers[0], ledgers[1], owned, saved, lines, kind_in_run, parts)
    step = None
    before, after = faulty.evidence.ledger, twin.evidence.ledger
    if finding.basis == "step" and not finding.work and before.total and after.total:
        claim = finding.share_of_step * before.total
        owned = find_owned(finding, before, frozenset(range(len(before.entries))), claim)
        centre = finding.gain.saved * before.total
        step = compare_ledgers(before, after, owned, centre, lines, lambda entry: entry.part, parts)
    return Pair(batch, name, faulty, twin, finding, rank, run, step)


def _without_paid_once(ledger: Ledger) -> Ledger:
    unplaced = {part: value for part, value in ledger.unplaced.items() if part not in PAID_ONCE}
    return Ledger((entry for entry in ledger.entries if entry.part not in PAID_ONCE), unplaced)


def find_scope(evidence: Evidence, ledger: Ledger) -> frozenset[int]:
    """Return the numbers of the entries that were sampled in training steps; all of them if there are no steps."""
    steps = [(step.begin_ns, step.end_ns) for step in evidence.steps.steps]
    seen = {id(stack) for _, stack in evidence.log.inside(steps)}
    return ledger.select(lambda entry: not steps or id(entry.stack) in seen)


def kind_in_run(entry: Entry) -> str:
    """Return the part of the run; within training steps the kind of work that was sampled."""
    return part_of_stack(entry.stack) if entry.part == "training" else entry.part


def match_lines(faulty: Evidence, twin: Evidence) -> dict[str, Lines]:
    """Match the lines of the twin's files with those of the faulty script's, by the files' names."""
    known = {PurePath(file).name: faulty.source(file) for file in faulty.files()}
    found = {}
    for file in twin.files():
        name = PurePath(file).name
        before = known.get(name.replace("_fixed.py", ".py"))
        if before is not None:
            found[name] = Lines.match(before, twin.source(file))
    return found


def write_page(pairs: Sequence[Pair], left_out: Sequence[str], first_sight: Collection[str] = ()) -> str:
    """Write the page: scores by kind of remedy, each pair's parts, the largest nodes.

    ``first_sight``: the batches whose scripts were unknown when rules were last changed.
    """
    lines = [_HEAD]
    seen = [pair for pair in pairs if pair.batch not in first_sight]
    first = [pair for pair in pairs if pair.batch in first_sight]
    for title, chosen in (("At first sight", first), ("Seen before", seen)):
        for unit, forecast_of in _UNITS.items():
            forecasts = [(name_remedy(pair.finding.remedy), forecast_of(pair)) for pair in chosen]
            lines += [f"## {title}: {unit}", "", *table_of_scores(forecasts), ""]
    lines += ["## What was wrong: seconds of the run", "", _PARTS, ""]
    lines += [*_table_of_parts(pairs, lambda pair: pair.run), "", "## What was wrong: ms of the mean clean step", ""]
    lines += [*_table_of_parts(pairs, lambda pair: pair.step), ""]
    if left_out:
        lines += ["## Without a residual", "", *(f"- {reason}" for reason in left_out), ""]
    lines += ["## The largest differences, node by node", ""]
    for pair in pairs:
        lines += [*describe_pair(pair, _MAX_NODES), ""]
    return "\n".join(lines).rstrip() + "\n"


_HEAD = """\
# Predicted gains taken apart

Written by `python -m benchmarks.residuals` from runs of faulty scripts and of their fixed twins, recorded one right
after the other. Seconds of the run are without imports, the interpreter's end and tfperf's own pauses (window: the
whole run). Ms of the step are of the mean clean step (window: clean steps). Load: the machine's one-minute average
when a run ended, of script and twin.

A range counts as the central 80 % of a forecast. Score: the continuous ranked probability score over what was
measured (less is better), next to the scores of two naive forecasts, "all of the finding's share goes" and "half of
it goes". Bias: the median of predicted over measured. Rules were written or changed with these scripts at hand,
except under "At first sight".
"""
_PARTS = """\
Removed: what the finding owns before the change. Left: the remaining time, predicted and in the twin. Rest: all else
at lines that both scripts have. New: lines that only the twin has. The largest error is what the twin takes beyond
what was predicted.\
"""
_UNITS: dict[str, Callable[[Pair], Forecast | None]] = {
    "saved seconds of the run": lambda pair: pair.forecast,
    "factor of the step": lambda pair: pair.step_forecast,
}


def _table_of_parts(pairs: Iterable[Pair], residual_of: Callable[[Pair], Residual | None]) -> list[str]:
    head = ["script", "code", "load", "saved, predicted", "measured", "removed", "left, predicted", "left"]
    head += ["rest before", "rest, predicted", "rest after", "new", "largest error"]
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for pair in pairs:
        found = residual_of(pair)
        if found is None:
            continue
        values = [found.predicted, found.measured, found.removed, found.left_predicted, found.left]
        values += [found.rest_before, found.rest_predicted, found.rest_after, found.new]
        cells = [f"{pair.batch}.{pair.name}", pair.finding.code, f"{pair.faulty.load}, {pair.twin.load}"]
        cells += [*(f"{value:.2f}" for value in values), name_largest(found.errors)]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def name_largest(errors: Mapping[str, float]) -> str:
    """Name the largest error with its size: what the twin takes beyond what was predicted."""
    name = max(errors, key=lambda each: abs(errors[each]))
    return f"{name} ({errors[name]:+.2f})"


def describe_pair(pair: Pair, most: int) -> list[str]:
    """Describe the nodes of a pair with the largest time, before or in the twin."""
    lines = [f"### {pair.batch}.{pair.name}: {pair.finding.code}, {pair.finding.title}", ""]
    for unit, residual in (("s of the run", pair.run), ("ms of the step", pair.step)):
        if residual is not None:
            lines += [f"| {unit} | kind | group | before | predicted | twin |", "|---|---|---|---|---|---|"]
            lines += [*_rows_of_nodes(residual.nodes, most), ""]
    return lines[:-1]


def _rows_of_nodes(nodes: Sequence[Node], most: int) -> Iterator[str]:
    for node in nodes[:most]:
        values = " | ".join(f"{value:.2f}" for value in (node.before, node.predicted, node.twin))
        yield f"| {node.site} | {node.kind} | {node.group} | {values} |"
    if nodes[most:]:
        values = " | ".join(f"{sum(column):.2f}" for column in zip(*(node[3:] for node in nodes[most:]), strict=True))
        yield f"| {len(nodes) - most} more | | | {values} |"


if __name__ == "__main__":
    main()
