"""100 000 steps: memory and files that all probes add, and whether the steps become slower."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.programs import PROFILERS, WORKLOADS_FOLDER
from benchmarks.ratios import words

STEPS = 100_000
_LINE = re.compile(r"BENCH memory ([\d.]+) early ([\d.]+) second ([\d.]+) last ([\d.]+)")
_WAYS = {"call": "a compiled step in a loop", "dataset": "a loop over a tf.data pipeline"}


def _once(profiler: str, way: str) -> tuple[float, float, float, float, float]:
    """(memory at the end, after a fifth, seconds of the second and of the last tenth, files) of one run; in MB."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(
            [*PROFILERS[profiler], str(WORKLOADS_FOLDER / "long_run.py"), str(STEPS), way],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            check=True,
        )
        files = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6
    found = _LINE.search(done.stdout)
    if found is None:
        raise SystemExit(f"no result in {done.stdout!r}")
    memory, early, second, last = (float(value) for value in found.groups())
    return memory, early, second, last, files


def report(rounds: int) -> str:
    """One row per way of looping, as Markdown."""
    lines = [
        f"| {STEPS} steps | memory added | growth after a fifth, with and without | time of the last tenth over the "
        "second, with and without | time of the last tenth, with over without | files |",
        "|---|---|---|---|---|---|",
    ]
    for way, name in _WAYS.items():
        pairs = []
        for number in range(rounds):
            pairs.append((_once("tfperf all", way), _once("python", way)))
            print(f"{name}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        added = [ours[0] - plain[0] for ours, plain in pairs]
        grown = [[run[0] - run[1] for run in side] for side in zip(*pairs, strict=True)]
        slowed = [words([run[3] / run[2] for run in side]) for side in zip(*pairs, strict=True)]
        last = words([ours[3] / plain[3] for ours, plain in pairs])
        files = max(ours[4] for ours, _ in pairs)
        lines.append(
            f"| {name} | {max(added):+.1f} MB at most | {max(grown[0]):+.1f} and {max(grown[1]):+.1f} MB at most | "
            f"{slowed[0]} and {slowed[1]} | {last} | {files:.1f} MB |"
        )
    return "\n".join(lines)
