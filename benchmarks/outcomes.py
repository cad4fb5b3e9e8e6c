"""Write how predictions came out: ``python -m benchmarks.outcomes [--pairs RUNS] [--batch BATCH.json] [--check]``.

It writes ``tfperfkit/pricing/outcomes.py``, by which ranges of saved seconds are widened, from predictions without that
widening. ``--pairs``: a folder as ``benchmarks.residuals`` reads; ``--batch``: a file as ``benchmarks.batch_forecasts``
reads, of scripts timed under plain Python on a quiet machine. Scripts that are in the table and not in these stay as
they are. ``--check`` writes nothing. It always prints how many outcomes the widened ranges hold if the batch of each
script is left out of the table: scripts of a batch share their machine and the version of the prices.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.batch_forecasts import score_script
from benchmarks.finding_forecasts import name_remedy
from benchmarks.residuals import read_pairs
from tfperfkit import remedy
from tfperfkit.diagnosis import every_work
from tfperfkit.model import Finding
from tfperfkit.pricing import outcomes as table
from tfperfkit.pricing.outcomes import OUTCOMES, Outcome
from tfperfkit.pricing.spread import find_spread

_BEGIN = "OUTCOMES: tuple[Outcome, ...] = ("


def main() -> None:
    """Write the table, and print the coverage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outcomes", description=__doc__)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--batch", type=Path, action="append", default=[])
    parser.add_argument(
        "--without", action="append", default=[], metavar="SCRIPT", help="its finding names a wrong cause"
    )
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    every_work.widen_finding = lambda item: item  # type: ignore[attr-defined]
    every_work.find_quiet_share = lambda waited_share: 1.0  # type: ignore[attr-defined]
    found = {outcome.script: outcome for outcome in OUTCOMES}
    found |= {outcome.script: outcome for outcome in [*_of_pairs(given.pairs), *_of_batches(given.batch)]}
    rows = sorted(row for row in found.values() if row.script not in given.without)
    if not given.check:
        write_table(rows)
    print("\n".join(describe_coverage(rows)))


def _of_pairs(folder: Path | None) -> Iterator[Outcome]:
    for pair in read_pairs(folder)[0] if folder is not None else ():
        yield from _outcome(f"{pair.batch}.{pair.name}", pair.finding, pair.saved_s, quiet=False)


def _of_batches(batches: Sequence[Path]) -> Iterator[Outcome]:
    for batch in batches:
        for row in json.loads(batch.read_text(encoding="utf-8")):
            scored = score_script(row)
            if scored.finding is not None:
                yield from _outcome(f"{batch.stem}.{scored.script}", scored.finding, scored.saved_s, quiet=True)


def _outcome(script: str, finding: Finding, saved_s: float, *, quiet: bool) -> Iterator[Outcome]:
    """Yield the outcome of a finding, if it predicts seconds and the twin saves some."""
    if finding.saves_s is not None and saved_s > 0:
        low, high = (round(end, 2) for end in finding.saves_s)
        yield Outcome(script, name_remedy(finding.remedy), low, high, round(saved_s, 2), quiet)


def write_table(rows: Sequence[Outcome]) -> None:
    """Write the rows into the module that holds them."""
    path = Path(table.__file__)
    head = path.read_text(encoding="utf-8").partition(_BEGIN)[0]
    lines = [f'    Outcome("{row.script}", "{row.kind}", {", ".join(map(repr, row[2:]))}),\n' for row in rows]
    path.write_text(f"{head}{_BEGIN}\n{''.join(lines)})\n", encoding="utf-8")


def describe_coverage(rows: Sequence[Outcome]) -> list[str]:
    """Return a table: by kind of remedy how many ranges hold what was measured, as computed and as widened by the other
    batches, their median widths, upper over lower end, and the median of their centre over what was measured."""
    head = ["| remedy | n | bias | held as computed | width | held as widened | width |", "|---" * 7 + "|"]
    held = [(row, *_widen_by_others(row, rows)) for row in rows]
    groups = {kind: [each for each in held if each[0].kind == kind] for kind in sorted({row.kind for row in rows})}
    for batch in sorted({_name_batch(row) for row in rows}):
        groups[f"batch {batch}"] = [each for each in held if _name_batch(each[0]) == batch]
    groups["**quiet, plain Python**"] = [each for each in held if each[0].quiet]
    groups["**all**"] = held
    return [*head, *(_describe_group(name, group) for name, group in groups.items() if group)]


def _widen_by_others(row: Outcome, rows: Sequence[Outcome]) -> tuple[float, float]:
    kind = getattr(remedy, row.kind)
    spread = find_spread(kind, [other for other in rows if _name_batch(other) != _name_batch(row)])
    return row.low_s * spread.low, row.high_s * spread.high


def _name_batch(row: Outcome) -> str:
    return row.script.partition(".")[0]


def _describe_group(name: str, group: Sequence[tuple[Outcome, float, float]]) -> str:
    computed = sum(row.low_s <= row.saved_s <= row.high_s for row, _, _ in group)
    widened = sum(low <= row.saved_s <= high for row, low, high in group)
    widths = [statistics.median(high / max(low, 0.01) for low, high in each) for each in _list_ends(group)]
    bias = statistics.median((row.low_s + row.high_s) / 2 / row.saved_s for row, _, _ in group)
    cells = [name, len(group), f"{bias:.2f}", f"{computed} of {len(group)}", f"{widths[0]:.2f}"]
    cells.append(f"{widened} of {len(group)}")
    return f"| {' | '.join(map(str, cells))} | {widths[1]:.2f} |"


def _list_ends(group: Sequence[tuple[Outcome, float, float]]) -> list[list[tuple[float, float]]]:
    return [[(row.low_s, row.high_s) for row, _, _ in group], [(low, high) for _, low, high in group]]


if __name__ == "__main__":
    main()
