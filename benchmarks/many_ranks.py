"""A training of many ranks, multiplied from two that were recorded, and what ``tfperf report`` takes for it.

    python -m benchmarks.many_ranks --ranks 1000 [--recorded FOLDER] [--keep FOLDER]

Two real workers are recorded, one of which sleeps in each step (or FOLDER is the folder of such a pair). Each further
rank is a copy of the part of the one that waits, one is a copy of the late one. In each copy time is bent: stretched by
up to a hundredth and by noise each 50 ms, in all its records alike; its clock is hours off. Two parts are left out, and
three were killed: their records end at seven tenths.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

SCRIPT = Path(__file__).with_name("workloads") / "two_workers.py"
WAITS, LATE = "rank-0000", "rank-0001"
KNOT_NS = 50_000_000


def record(folder: Path, steps: int) -> None:
    words = [sys.executable, "-m", "tfperfkit", "launch", "-n", "2", "--run-dir", str(folder)]
    subprocess.run([*words, str(SCRIPT), "sleep", "1", str(steps)], check=True, stderr=subprocess.DEVNULL)


def bent(begin: int, end: int, rng: np.random.Generator) -> Callable[[Any], Any]:
    """Moments between ``begin`` and ``end``, in whatever record they stand, moved with noise and never out of order."""
    knots = np.arange(begin - KNOT_NS, end + 2 * KNOT_NS, KNOT_NS)
    lengths = KNOT_NS * (1 + rng.uniform(-0.01, 0.01)) * np.clip(rng.normal(1, 0.05, len(knots) - 1), 0.5, 1.5)
    moved = np.concatenate(([0.0], np.cumsum(lengths)))

    def bend(value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return begin + int(np.interp(value - begin, knots - begin, moved)) if begin <= value <= end else value
        if isinstance(value, list):
            return [bend(item) for item in value]
        return {key: bend(item) for key, item in value.items()} if isinstance(value, dict) else value

    return bend


def part(source: Path, target: Path, number: int, size: int, *, ended: bool) -> float:
    """Make a part of its own, and its report, as the rank makes it when it has ended; seconds of the processor for
    that."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("rank.json", "summary.json", "*.jsonl"))
    manifest = json.loads((source / "run.json").read_text())
    rng = np.random.default_rng(number)
    begin, end = manifest["started_ns"], json.loads((source / "exit.json").read_text())["ended_ns"]
    bend = bent(begin, end, rng)
    for name in ("agent.json", "exit.json"):
        (target / name).write_text(json.dumps(bend(json.loads((source / name).read_text()))))
    for stream in source.rglob("*.jsonl"):
        with stream.open("rb") as lines, (target / stream.relative_to(source)).open("wb") as out:
            whole = lines.readlines()
            for line in whole if ended else whole[: len(whole) * 7 // 10]:
                out.write(msgspec.json.encode(bend(msgspec.json.decode(line))) + b"\n")
    manifest["rank"] |= {"rank": number, "size": size}
    manifest["started_wall_s"] += float(rng.uniform(-7200, 7200))
    (target / "run.json").write_text(json.dumps(manifest))
    if not ended:
        for name in ("exit.json", "end.json"):
            (target / name).unlink()
        return 0.0
    from tfperfkit.analysis.analyze import study
    from tfperfkit.ranks.kept import keep

    took = time.process_time()
    keep(target, *study(target))
    return time.process_time() - took


def multiply(recorded: Path, folder: Path, count: int, below: int) -> tuple[str, float]:
    """(the late rank, seconds that the own report of a rank takes). The slow ranks are those below ``below``."""
    late, *others = random.Random(1).sample(range(below), 6)
    missing, killed = others[:2], others[2:]
    jobs = [
        (
            recorded / (LATE if number == late else WAITS),
            folder / f"rank-{number:04}",
            number,
            count,
            number not in killed,
        )
        for number in range(count)
        if number not in missing
    ]
    with multiprocessing.get_context("spawn").Pool(len(os.sched_getaffinity(0))) as pool:
        took = [seconds for seconds in pool.starmap(_part, jobs, chunksize=10) if seconds]
    return f"rank {late}", sum(took) / len(took)


def _part(source: Path, target: Path, number: int, size: int, ended: bool) -> float:
    return part(source, target, number, size, ended=ended)


def report(folder: Path) -> tuple[float, float, float, dict[str, Any]]:
    """(seconds, seconds of processors, MB of the largest process, what it says)."""
    command = [sys.executable, "-c", _PROGRAM, sys.executable, "-m", "tfperfkit", "report", str(folder), "--json", "-"]
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as file:
        done = subprocess.run(command, check=True, stdout=file, stderr=subprocess.PIPE, text=True)
        seconds = time.perf_counter() - begin
        file.seek(0)
        whole = json.load(file)
    used, peak = (float(word) for word in done.stderr.split()[-2:])
    return seconds, used, peak, whole


#: Time and memory of one command and its children, alone.
_PROGRAM = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[250, 500, 1000])
    parser.add_argument("--recorded", type=Path, help="of a pair of which rank 1 is late; default: recorded now")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--keep", type=Path, help="leave the parts here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        recorded = given.recorded or Path(name) / "recorded"
        if given.recorded is None:
            record(recorded, given.steps)
        counts = sorted(given.ranks, reverse=True)
        folder = (given.keep or Path(name)) / "ranks"
        late, own = multiply(recorded, folder, counts[0], counts[-1])
        print(f"{counts[0]} ranks; the own report of one: {own:.2f} s of a processor", flush=True)
        for count in counts:
            for _ in range(2):
                with_first(folder, count, partial(told, late=late, count=count, words="as the ranks left them"))
        for kept in folder.glob("*/rank.json"):
            kept.unlink()
        with_first(folder, counts[-1], partial(told, late=late, count=counts[-1], words="from the records alone"))


def with_first(folder: Path, count: int, call: Callable[[Path], None]) -> None:
    """Call with a folder of the parts of the first ``count`` ranks, then put them back."""
    some = folder.with_name(f"{folder.name}-{count}")
    some.mkdir()
    parts = [part for part in folder.iterdir() if int(part.name.rpartition("-")[2]) < count]
    for part in parts:
        part.rename(some / part.name)
    try:
        call(some)
    finally:
        for part in parts:
            (some / part.name).rename(part)
        some.rmdir()


def told(folder: Path, late: str, count: int, words: str) -> None:
    seconds, used, peak, whole = report(folder)
    said = "right" if whole["late"] == late and whole["cause"]["code"] == "STP004" else "WRONG"
    print(
        f"  {words:24} {count:5} ranks {seconds:6.2f} s, {used:6.2f} s of processors, {peak:5.0f} MB in the largest "
        f"process; late rank and cause {said}; {len(whole['died'])} without an end",
        flush=True,
    )


if __name__ == "__main__":
    main()
