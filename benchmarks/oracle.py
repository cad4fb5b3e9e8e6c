"""Does a change of the code change a report? Record runs once, report them with the code before and after, compare.

    python -m benchmarks.oracle record FOLDER [--jobs N] [--batches NAMES] [NAMES...]
    python -m benchmarks.oracle report RUNS OUT [--jobs N] [--missing] [NAMES...]
    python -m benchmarks.oracle compare BEFORE AFTER [--only KINDS] [--full] [NAMES...]
    python -m benchmarks.oracle judge REPORTS [NAMES...]

Analysis is a pure function of the run directory, so all that ``compare`` prints comes from the code. ``report`` uses
the code that Python imports: for another checkout, run this file with that checkout's Python. A name is that of a run
(``collection.batch_of_two``) or begins one (``sixteenth.``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parents[1]
BATCHES = "sixteenth,fifteenth"
#: Seconds that one script may take.
TIMEOUT = 400.0
#: Files that a report keeps in a run directory. It is left out when a run is reported again, so that nothing old is
#: read.
DERIVED = ("summary.json", "tables.json", "patches.json", "rank.json")


class Job(NamedTuple):
    """A script to record. ``ranks``: the number of workers that it is launched as."""

    name: str
    script: Path
    arguments: tuple[str, ...] = ()
    ranks: int = 1


def jobs(batches: Sequence[str]) -> list[Job]:
    """List the scripts of the fault collection and of these blind batches, in turn."""
    blind, collected = _blind_entries(batches), _collection()
    recorded = [Job(f"collection.{case.name}", case.script, case.arguments, case.ranks) for case in collected]
    unseen = [Job(name, entry["path"]) for name, entry in blind.items()]
    return [job for pair in zip_longest(recorded, unseen) for job in pair if job is not None]


def record(job: Job, folder: Path) -> str:
    """Record a run in ``folder`` unless that was done before. Return the line to print.

    ``NAME.done`` holds the exit status and the seconds, ``NAME.err`` what went to stderr.
    """
    run, done = folder / job.name, folder / f"{job.name}.done"
    if done.exists():
        return f"{job.name}: recorded before"
    shutil.rmtree(run, ignore_errors=True)
    how = ["launch", "-n", str(job.ranks)] if job.ranks > 1 else ["run"]
    command = [sys.executable, "-m", "tfperfkit", *how, "--run-dir", str(run), str(job.script), *job.arguments]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TFPERF_")}
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch, (folder / f"{job.name}.err").open("w") as errors:
        process = subprocess.Popen(
            command,
            cwd=scratch,
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path[:1])), **kept},
            start_new_session=True,  # a script that takes too long goes with its children
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        try:
            status = str(process.wait(TIMEOUT))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = "timeout"
    told = f"{status} {time.perf_counter() - begin:.1f}"
    done.write_text(f"{told}\n")
    return f"{job.name}: {told} s"


def report(name: str, runs: Path, out: Path) -> str:
    """Write the JSON report of a recorded run, by the code that is imported. Return the line to print.

    A report that fails is written as ``{"failed": traceback}``. The run directory is not changed.
    """
    begin = time.perf_counter()
    try:
        document = _document(runs / name)
        told = f"{time.perf_counter() - begin:.2f} s"
    except Exception as error:
        document = {"failed": traceback.format_exc()}
        told = f"failed: {type(error).__name__}: {error}"
    text = json.dumps(document, indent=1, sort_keys=True).replace(str(runs.resolve() / name), name)
    (out / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    return f"{name}: {told}"


def _document(run: Path) -> dict[str, Any]:
    """Make the report of a run as ``tfperf report --json`` writes it. Of several ranks it is the first rank's, with the
    findings of all ranks together before each one's own, and all that is said of all ranks under ``ranks``."""
    if not (run / "rank-0000").is_dir():
        return _own_document(run)
    from tfperfkit.ranks.command import Shown

    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / run.name
        shutil.copytree(run, copy, ignore=shutil.ignore_patterns(*DERIVED))
        whole: dict[str, Any] = json.loads(Shown(copy).json())
        own = [finding for part in whole["parts"] for finding in part["findings"]]
        document = {**_own_document(copy / "rank-0000"), "findings": [*whole["findings"], *own], "ranks": whole}
        moved: dict[str, Any] = json.loads(json.dumps(document).replace(str(copy), str(run.resolve())))
        return moved


def _own_document(run: Path) -> dict[str, Any]:
    from msgspec.structs import replace

    from tfperfkit.analysis.analyze import study
    from tfperfkit.fixing.shown import with_patches
    from tfperfkit.report.json import encode

    made, evidence = study(run)
    with tempfile.TemporaryDirectory() as elsewhere:  # patches that were kept next to the run are not read
        made = with_patches(replace(made, run=replace(made.run, directory=elsewhere)), evidence)
    document: dict[str, Any] = json.loads(encode(replace(made, run=replace(made.run, directory="", handle=""))))
    return document


def complete(runs: Path, names: Sequence[str] = ()) -> list[str]:
    """List the runs of a folder that are complete and were asked for, by name."""
    found = sorted(path.name.removesuffix(".done") for path in runs.glob("*.done"))
    return [name for name in found if (runs / name).is_dir() and is_asked_for(name, names)]


def is_asked_for(name: str, names: Sequence[str]) -> bool:
    """Tell whether a run was asked for: by its name, by how it begins, or by no name at all."""
    return not names or any(name == each or (each.endswith(".") and name.startswith(each)) for each in names)


def read(folder: Path, names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Read the reports of a folder that were asked for, by the name of their run."""
    found = {path.stem: path for path in sorted(folder.glob("*.json")) if is_asked_for(path.stem, names)}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in found.items()}


def judged(reports: dict[str, dict[str, Any]]) -> list[str]:
    """Count the first findings that are right and the healthy scripts that are left in peace, and name the others.

    In the collection a first finding is right by ``fault_collection.judge``. The authors of blind batches know no
    codes: there the first finding above "info" counts if it points within two lines of the author's place.
    """
    collection = _collection()
    from fault_collection import judge

    right: dict[str, list[tuple[str, bool]]] = {}
    for case in collection:
        if (made := reports.get(f"collection.{case.name}")) is not None:
            kind = "collection, healthy in peace" if case.healthy else "collection, first finding right"
            passes = "failed" not in made and judge(case, made["findings"]).passes(case)
            right.setdefault(kind, []).append((case.name, passes))
    batches = sorted({name.partition(".")[0] for name in reports} - {"collection"})
    for name, entry in _blind_entries(batches).items():
        if name in reports:
            batch, _, script = name.partition(".")
            kind = f"{batch}, " + ("first finding at the place" if "cause" in entry else "healthy in peace")
            right.setdefault(kind, []).append((script, _is_right(entry, reports[name])))
    lines = []
    for kind, each in right.items():
        count, misses = sum(passes for _, passes in each), [name for name, passes in each if not passes]
        lines.append(f"{kind}: {count} of {len(each)}" + (f"; not: {' '.join(misses)}" if misses else ""))
    return lines


def _is_right(entry: dict[str, Any], made: dict[str, Any]) -> bool:
    """Judge the report of a script of a blind batch."""
    from fault_collection import NEAR

    from benchmarks.blind import anchored

    if "failed" in made:
        return False
    loud = [finding for finding in made["findings"] if finding["severity"] != "info"]
    if "cause" not in entry:
        return not loud
    places = [place["line"] for place in loud[0]["where"] if place["file"].endswith(entry["path"].name)] if loud else []
    return any(abs(line - planted) <= NEAR for line in places for planted in anchored(entry))


def _collection() -> list[Any]:
    sys.path.append(str(REPOSITORY / "tests" / "faults"))  # next to its own tests, in no package
    from fault_collection import cases

    return list(cases())


def _blind_entries(batches: Sequence[str]) -> dict[str, dict[str, Any]]:
    sys.path.append(str(REPOSITORY))
    from benchmarks.blind import entries

    return {f"{batch}.{entry['name']}": entry for batch in batches for entry in entries(batch)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.oracle", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="record each script once")
    recording.add_argument("folder", type=Path, help="a folder outside of the repository")
    recording.add_argument("--jobs", type=int, default=2, help="scripts at a time [default: %(default)s]")
    recording.add_argument("--batches", default=BATCHES, help="blind batches, with commas [default: %(default)s]")
    reporting = commands.add_parser("report", help="write the report of each recorded run")
    reporting.add_argument("runs", type=Path)
    reporting.add_argument("out", type=Path)
    reporting.add_argument("--jobs", type=int, default=1, help="processes [default: %(default)s]")
    reporting.add_argument("--missing", action="store_true", help="only of runs that OUT has no report of")
    comparing = commands.add_parser("compare", help="print the differences between two folders of reports")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--only", default="", metavar="KINDS", help="kinds of differences, with commas")
    comparing.add_argument("--full", action="store_true", help="print every difference, with whole texts")
    judging = commands.add_parser("judge", help="count first findings that are right, and healthy scripts in peace")
    judging.add_argument("reports", type=Path)
    for each in (recording, reporting, comparing, judging):
        each.add_argument("names", nargs="*", metavar="NAME")
    options, rest = parser.parse_known_args()
    if any(word.startswith("-") for word in rest):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.names += rest  # names may follow options too
    return options


def main() -> int:
    """Carry out the command. Return the exit status: 1 if ``compare`` found a difference or no run to compare."""
    options = _options()
    if options.command == "compare":
        sys.path.append(str(REPOSITORY))
        from benchmarks.oracle_differences import compare, lines

        only = [kind for kind in options.only.split(",") if kind]
        found = compare(read(options.before, options.names), read(options.after, options.names), only)
        print("\n".join(lines(found, full=options.full)))
        return int(bool(found.differences) or not found.runs)
    if options.command == "judge":
        print("\n".join(judged(read(options.reports, options.names))))
        return 0
    begin = time.perf_counter()
    if options.command == "record":
        options.folder.mkdir(parents=True, exist_ok=True)
        chosen = [job for job in jobs(options.batches.split(",")) if is_asked_for(job.name, options.names)]
        with ThreadPoolExecutor(options.jobs) as threads:
            for line in threads.map(partial(record, folder=options.folder), chosen):
                print(line, flush=True)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    names = complete(options.runs, options.names)
    names = [name for name in names if not (options.missing and (options.out / f"{name}.json").exists())]
    with ProcessPoolExecutor(options.jobs) as processes:
        for line in processes.map(partial(report, runs=options.runs, out=options.out), names):
            print(line, flush=True)
    print(f"{len(names)} reports in {time.perf_counter() - begin:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
