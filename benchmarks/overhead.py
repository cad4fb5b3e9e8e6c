"""Time of a loop under each profiler over its time under plain Python, in turn (A B C A B C …)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from benchmarks.programs import PROFILERS, WORKLOADS, command
from benchmarks.ratios import words

_LINE = re.compile(r"BENCH whole ([\d.]+) tail ([\d.]+)")
_STEP = re.compile(r"step_time ([\d.]+) s")  # what the GAN logs
_TIMEOUT_S = 900

#: (whole, tail) seconds of one run.
Times = tuple[float, float]
#: Workload, profiler, ratios of the whole loop and of its tail, one per round.
Row = tuple[str, str, list[float], list[float]]


def seconds(profiler: str, workload: str) -> Times | None:
    """Times of one run; None when the profiler is not installed, fails, or takes longer than a quarter of an hour."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        try:
            done = subprocess.run(
                command(profiler, workload), capture_output=True, text=True, cwd=folder, env=environment, check=False,
                timeout=_TIMEOUT_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
    if steps := [float(value) for value in _STEP.findall(done.stdout)]:
        return sum(steps[2:]), sum(steps[len(steps) * 3 // 5 :])
    found = _LINE.search(done.stdout)
    return (float(found[1]), float(found[2])) if found else None


def measure(rounds: int, workloads: Sequence[str], profilers: Sequence[str]) -> list[Row]:
    """Ratios to plain Python; a profiler that failed in any round has no row."""
    rows: list[Row] = []
    for workload in workloads:
        taken: dict[str, list[Times | None]] = {name: [] for name in ("python", *profilers)}
        for number in range(rounds):
            for profiler, results in taken.items():
                results.append(seconds(profiler, workload))
            print(f"{workload}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        base = taken.pop("python")
        for profiler, results in taken.items():
            pairs = [(a, b) for a, b in zip(results, base, strict=True) if a and b]
            if len(pairs) == rounds:
                rows.append((workload, profiler, [a[0] / b[0] for a, b in pairs], [a[1] / b[1] for a, b in pairs]))
                print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
            else:
                print(f"{workload}: {profiler} failed", file=sys.stderr, flush=True)
    return rows


def table(rows: Sequence[Row]) -> str:
    """The result as Markdown."""
    lines = ["| loop | profiler | whole loop | outside of windows |", "|---|---|---|---|"]
    for workload, profiler, whole, tail in rows:
        outside = words(tail) if profiler.startswith("tfperf") else "–"
        lines.append(f"| {workload} | {profiler} | {words(whole)} | {outside} |")
    return "\n".join(lines)


def chosen(names: dict[str, Sequence[str]], part: str) -> list[str]:
    """The names that hold one of the parts, which are separated by commas; all without a part."""
    parts = [item.strip() for item in part.split(",")]
    return [name for name in names if name != "python" and any(item in name for item in parts)]


def report(rounds: int, workload: str, profiler: str) -> str:
    """Measure and make the table; ``workload`` and ``profiler`` choose by parts of names."""
    return table(measure(rounds, chosen(WORKLOADS, workload), chosen(PROFILERS, profiler)))
