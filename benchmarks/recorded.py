"""Pack recorded runs for the tests, so that analysis is tested on real recordings without running scripts.

    python -m benchmarks.recorded pack RUNS NAME...     packs RUNS/NAME into tests/recorded/faults/NAME.tar.xz
    python -m benchmarks.recorded again [NAME...]       records the packed runs' scripts again, and compares

``again`` replaces an archive if the new recording has the same first finding; ``--all`` replaces it in any case. Record
other runs with ``python -m benchmarks.oracle record RUNS``. Reports and other files that the analysis can make again
are left out. The first folder of absolute paths becomes ``/home``, so that no path of a machine is kept.
"""

from __future__ import annotations

import argparse
import io
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import oracle
from tfperfkit.analysis.analyze import study

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "recorded"
#: Files that the analysis keeps next to a run to be quicker the next time.
_MADE_AGAIN = ("summary.json", "tables.json")
#: First folders of this machine's paths; as long as ``/home``, for lengths are written in traces.
_FIRST_FOLDERS = (b"/work/", b"/root/")


def main() -> int:
    """Pack or record again. Return 1 if a new recording has another first finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="pack recorded runs")
    packing.add_argument("runs", type=Path)
    packing.add_argument("names", nargs="+", metavar="NAME")
    again = commands.add_parser("again", help="record the packed runs' scripts again")
    again.add_argument("names", nargs="*", metavar="NAME")
    again.add_argument("--all", action="store_true", help="replace also archives whose first finding differs")
    given = parser.parse_args()
    if given.command == "pack":
        for name in given.names:
            short = name.partition(".")[2] or name
            pack(given.runs / name, archives().get(short, FOLDER / "faults" / f"{short}.tar.xz"))
        return 0
    return int(record_again(given.names, given.all))


def archives() -> dict[str, Path]:
    """Return the archives of the recorded runs, by name."""
    return {path.name.removesuffix(".tar.xz"): path for path in sorted(FOLDER.rglob("*.tar.xz"))}


def pack(run: Path, packed: Path) -> None:
    """Write the archive of a run."""
    packed.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(packed, "w:xz") as archive:
        for path, content in read_run(run):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    print(f"{packed.relative_to(ROOT)}: {packed.stat().st_size:,} bytes", flush=True)


def record_again(names: Sequence[str], replace_all: bool) -> bool:
    """Record the scripts of packed runs again and replace the archives. Tell whether a first finding differs."""
    jobs = {job.name.partition(".")[2]: job for job in oracle.jobs(oracle.BATCHES.split(","))}
    differs = False
    for name, packed in archives().items():
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            print(oracle.record(jobs[name], folder), flush=True)
            before = folder / "before"
            with tarfile.open(packed) as archive:
                archive.extractall(before, filter="data")
            old, new = first_finding(before), first_finding(folder / jobs[name].name)
            print(f"{name}: {old}" + ("" if old == new else f" before, now {new}"), flush=True)
            differs |= old != new
            if replace_all or old == new:
                pack(folder / jobs[name].name, packed)
    return differs


def first_finding(run: Path) -> str:
    """Return the code and the line of a run's first finding; "none" if there is none."""
    for finding in study(run)[0].findings:
        return f"{finding.code} at line {finding.where[0].line}" if finding.where else finding.code
    return "none"


def read_run(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the run, content) of the files of a run that the analysis reads."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _MADE_AGAIN:
            content = path.read_bytes()
            for first in _FIRST_FOLDERS:
                content = content.replace(first, b"/home/")
            yield path.relative_to(folder).as_posix(), content


if __name__ == "__main__":
    sys.exit(main())
