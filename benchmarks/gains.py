"""Do predicted gains come true? ``python -m benchmarks.gains [NAMES...] [--no-run] [--out FILE --picture FILE]``.

For each faulty script of ``tests/faults`` and its fixed twin: one ``tfperf run`` of the faulty one, whose run
directory is kept, and both under plain python, in turn. The right finding's prediction is then set against what was
measured. With ``--no-run`` the kept runs are reported again by the code as it stands: a change of the rules is scored
on the same runs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import platformdirs

from benchmarks.blind import entries
from benchmarks.gains_page import Score, page, picture
from benchmarks.script_gain import of_script
from tfperfkit.analysis.stored_run import open_run

ROOT = Path(__file__).parents[1]
FAULTS = ROOT / "tests" / "faults"
sys.path.insert(0, str(FAULTS))

from fault_collection import MARK, Case, cases, environment, judge, plain, profiled  # noqa: E402

CLOCK = Path(__file__).parent / "after_imports.py"
KEEP = Path(platformdirs.user_cache_dir("tfperfkit")) / "gains"
FRESH = Path(__file__).parent / "fresh_gains"
NEAR = 2  # lines
#: The rest of the page from here on is written by hand, and kept.
BY_HAND = "\n## Eager loops"
BATCHES = ("first", "second", "third")


class Fault(NamedTuple):
    """A script and its twin. ``gain``: what its author measured, where it was (blind batches)."""

    case: Case
    batch: str
    script: Path
    fixed: Path
    anchors: tuple[str, ...] = ()
    gain: float | None = None

    @property
    def name(self) -> str:
        return self.case.name


def faults() -> list[Fault]:
    """List the faults of the collection, then those of the blind batches."""
    found = [Fault(case, "collection", case.script, case.fixed) for case in cases() if not case.healthy]
    found = [fault for fault in found if fault.case.kind == "time"]
    for batch in BATCHES:
        for row in entries(batch):
            if "cause" not in row or "void" in row:
                continue
            case = Case(row["name"], row["style"], False, cause=row["cause"])
            script, fixed = row["path"], row["path"].with_name(f"{case.name}_fixed.py")
            found.append(Fault(case, batch, script, fixed, tuple(row["anchors"]), row["gain"]))
    return [*found, *fresh()]


def fresh() -> list[Fault]:
    """Scripts that were written to be measured once; the planted cause is at the marked line."""
    found = []
    for fixed in sorted(FRESH.glob("*_fixed.py")):
        name = fixed.stem.removesuffix("_fixed")
        script = FRESH / f"{name}.py"
        marked = [line.strip() for line in script.read_text(encoding="utf-8").splitlines() if line.endswith(MARK)]
        found.append(Fault(Case(name, "fresh", False), "fresh", script, fixed, tuple(marked)))
    return found


def profile(fault: Fault, folder: Path) -> None:
    """Keep one run in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    profiled(fault.case, folder, script=fault.script)


def profile_twin(fault: Fault, folder: Path) -> None:
    """Profile the steps of the fixed twin, if the faulty script has steps: almost nothing else is recorded."""
    if (steps_of(folder / "report.json") or {}).get("count"):
        command = [sys.executable, "-m", "tfperfkit", "run", "--probes", "retrace", "--run-dir", str(folder / "twin")]
        command += ["--json", str(folder / "twin.json"), str(fault.fixed), "--", *fault.case.arguments]
        subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=True, timeout=300)


def steps_of(report: Path) -> dict[str, Any] | None:
    """The summary of a run's training steps; None without a report."""
    return dict(json.loads(report.read_text(encoding="utf-8"))["steps"]) if report.exists() else None


def gain_of_steps(folder: Path, basis: str) -> float | None:
    """How much shorter the mean clean step of the twin is, or its turn (from step to step); None where steps are not
    the same in both."""
    faulty, fixed = steps_of(folder / "report.json"), steps_of(folder / "twin.json")
    if not faulty or not fixed or not faulty["clean"] or not fixed["clean"] or faulty["count"] != fixed["count"]:
        return None
    if basis == "turn":
        turns = [turn_ns(folder / name) for name in ("run", "twin")]
        return turns[0] / turns[1] if turns[0] and turns[1] else None
    return float(faulty["mean_ms"] / fixed["mean_ms"])


def turn_ns(folder: Path) -> float:
    """From the beginning of a clean step to that of the next, on the average; 0 without two in a row."""
    clean = open_run(folder).steps.clean
    pairs = [(one, two) for one, two in pairwise(clean) if two.number == one.number + one.count]
    return statistics.mean(two.begin_ns - one.begin_ns for one, two in pairs) if pairs else 0.0


def timed(fault: Fault, rounds: int) -> dict[str, list[float]]:
    """Seconds of the faulty script and its twin after their imports, in turn."""
    seconds: dict[str, list[float]] = {"faulty": [], "fixed": []}
    for _ in range(rounds):
        for name, script in (("faulty", fault.script), ("fixed", fault.fixed)):
            with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as beside:
                noted = Path(beside) / "imports"
                whole = plain(CLOCK, (str(noted), str(script), *fault.case.arguments), Path(own))
                seconds[name].append(round(whole - float(noted.read_text(encoding="utf-8")), 3))
    return seconds


def measured(seconds: dict[str, list[float]] | None, authors: float | None) -> tuple[float, tuple[float, float]] | None:
    """The gain of the whole script after imports (the quickest rounds: what else runs on the machine only adds), and
    the lowest and highest of the rounds."""
    if seconds is None or not seconds["fixed"]:
        return (authors, (authors, authors)) if authors else None
    ratios = [faulty / fixed for faulty, fixed in zip(seconds["faulty"], seconds["fixed"], strict=True)]
    return min(seconds["faulty"]) / min(seconds["fixed"]), (min(ratios), max(ratios))


def report_of(folder: Path) -> dict[str, Any] | None:
    """Make the report of a kept run again."""
    if not (folder / "run").exists():
        return None
    out = folder / "again.json"
    command = [sys.executable, "-m", "tfperfkit", "report", str(folder / "run"), "--json", str(out)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        print(f"{folder.name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return dict(json.loads(out.read_text(encoding="utf-8")))


def right_finding(fault: Fault, report: dict[str, Any]) -> dict[str, Any] | None:
    """The first that names what was planted; of the blind batches, whose authors know no codes, by its place alone."""
    findings = report["findings"]
    if not fault.anchors:
        rank = judge(fault.case, findings).rank
        return findings[rank - 1] if rank else None
    lines = fault.script.read_text(encoding="utf-8").splitlines()
    anchors = [anchor.splitlines()[0].strip() for anchor in fault.anchors]
    planted = [number for number, line in enumerate(lines, 1) if any(anchor in line for anchor in anchors)]
    for finding in findings:
        at = [place["line"] for place in finding["where"] if Path(place["file"]).name == fault.script.name]
        if finding["severity"] != "info" and any(abs(line - mine) <= NEAR for line in at for mine in planted):
            return dict(finding)
    return None


def score(fault: Fault, seconds: dict[str, list[float]] | None, folder: Path) -> Score | None:
    """None without a kept run or a measured gain."""
    report, gain = report_of(folder), measured(seconds, fault.gain)
    if report is None or gain is None:
        return None
    finding = right_finding(fault, report)
    made = Score(name=fault.name, batch=fault.batch, measured=gain[0], spread=gain[1])
    if finding is None:
        return made
    basis = finding["basis"] if not finding["work"] else ""
    predicted, bounds = finding["predicted_speedup"], finding["predicted_range"]
    lowest = finding.get("at_least")
    return msgspec.structs.replace(
        made,
        code=finding["code"],
        predicted=predicted,
        bounds=tuple(bounds) if bounds else None,
        at_least=lowest,
        of_script_at_least=of_script(lowest, finding, report) if lowest else None,
        of_steps=gain_of_steps(folder, basis) if basis in ("step", "turn") else None,
        of_script=of_script(predicted, finding, report) if predicted else None,
        of_script_bounds=tuple(of_script(value, finding, report) for value in bounds) if bounds else None,
    )


def chosen(everything: Iterable[Fault], names: Sequence[str]) -> list[Fault]:
    everything = list(everything)
    unknown = set(names) - {fault.name for fault in everything} - {"collection", "fresh", *BATCHES}
    if unknown:
        raise SystemExit(f"not in the collection: {' '.join(sorted(unknown))}")
    return [fault for fault in everything if not names or {fault.name, fault.batch} & set(names)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gains", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scripts, or collection, first, second, third, fresh")
    parser.add_argument("--no-run", action="store_true", help="report the kept runs again")
    parser.add_argument("--rounds", type=int, default=2, help="of plain python, 0: the authors' figures")
    parser.add_argument("--keep", type=Path, default=KEEP, help="where runs are kept (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="write the page, e.g. benchmarks/results/gains.md")
    parser.add_argument("--picture", type=Path, help="write the picture, e.g. benchmarks/results/gains.svg")
    parser.add_argument("--json", type=Path, help="write the scores as JSON")
    options = parser.parse_args()

    scores = []
    for fault in chosen(faults(), options.names):
        folder = options.keep / fault.name
        times = folder / "seconds.json"
        if not options.no_run:
            try:
                if not (folder / "run").exists():
                    profile(fault, folder)
                if not (folder / "twin").exists():
                    profile_twin(fault, folder)
                if options.rounds and not times.exists():
                    seconds = timed(fault, options.rounds)
                    times.write_text(json.dumps({**seconds, "load": os.getloadavg()[0]}), encoding="utf-8")
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(f"{fault.name}: {error}", file=sys.stderr)
                continue
        known = json.loads(times.read_text(encoding="utf-8")) if times.exists() else None
        found = score(fault, known, folder)
        if found is not None:
            scores.append(found)
            print(line(found), flush=True)
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(scores)))
    if options.out:
        before = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
        _, heading, by_hand = before.partition(BY_HAND)
        options.out.write_text(page(scores, len(faults())) + heading + by_hand, encoding="utf-8")
    if options.picture:
        options.picture.write_text(picture(scores), encoding="utf-8")


def line(found: Score) -> str:
    """One row for the terminal."""
    low, high = found.bounds or (math.nan, math.nan)
    told = f"{found.predicted or math.nan:7.2f} ({low:.2f} to {high:.2f})"
    whole = f"{found.of_script or math.nan:7.2f}"
    steps = f" steps {found.of_steps:.2f}" if found.of_steps else ""
    return f"{found.name:28s} {found.code or '-':7s} {told:28s} script {whole} measured {found.measured:7.2f}{steps}"


if __name__ == "__main__":
    main()
