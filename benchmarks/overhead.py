"""Time of a loop under each profiler over its time under plain Python, in turn (A B C A B C …)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.programs import PROFILERS, WORKLOADS, command
from benchmarks.ratios import words
from tfperfkit.storage.run_directory import RunDirectory

_LINE = re.compile(r"BENCH whole ([\d.]+) tail ([\d.]+)")
_STEP = re.compile(r"step_time ([\d.]+) s")  # what the GAN logs
_TIMEOUT_S = 900

#: (whole, tail) seconds of one run, and whether tfperf's windows were over before the tail.
Times = tuple[float, float, bool]
#: Workload, profiler, ratios of the whole loop and of its tail, one per round; no ratios of a tail with a window in it.
Row = tuple[str, str, list[float], list[float]]


def seconds(profiler: str, workload: str) -> Times | None:
    """Times of one run; None when the profiler is not installed, fails, or takes longer than a quarter of an hour."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        try:
            done = subprocess.run(
                command(profiler, workload),
                capture_output=True,
                text=True,
                cwd=folder,
                env=environment,
                check=False,
                timeout=_TIMEOUT_S,
            )
        except (subprocess.TimeoutExpired, FileNotFoundError):  # py-spy and Austin are programs of their own
            return None
        over = windows_over(Path(folder), int(WORKLOADS[workload][-1]) * 3 // 5)
    if steps := [float(value) for value in _STEP.findall(done.stdout)]:
        return sum(steps[2:]), sum(steps[len(steps) * 3 // 5 :]), over
    found = _LINE.search(done.stdout)
    return (float(found[1]), float(found[2]), over) if found else None


def windows_over(runs: Path, step: int) -> bool:
    """Whether every window of the run in this folder had ended before this step."""
    events = [event for run in runs.iterdir() for event in RunDirectory(run).records("session/events.jsonl")]
    begun = sum(event["kind"] == "window" for event in events)
    ended = [event["step"] for event in events if event["kind"] == "window_end"]
    return len(ended) == begun and all(end <= step for end in ended)


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
                tails = [a[1] / b[1] for a, b in pairs] if all(a[2] for a, _ in pairs) else []
                rows.append((workload, profiler, [a[0] / b[0] for a, b in pairs], tails))
                print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
            else:
                print(f"{workload}: {profiler} failed", file=sys.stderr, flush=True)
    return rows


def table(rows: Sequence[Row]) -> str:
    """The result as Markdown."""
    lines = ["| loop | profiler | whole loop | outside of windows |", "|---|---|---|---|"]
    for workload, profiler, whole, tail in rows:
        outside = words(tail) if tail and profiler.startswith("tfperf") else "–"
        lines.append(f"| {workload} | {profiler} | {words(whole)} | {outside} |")
    return "\n".join(lines)


def chosen(names: Iterable[str], part: str) -> list[str]:
    """The names that hold one of the parts, which are separated by commas; all without a part."""
    parts = [item.strip() for item in part.split(",")]
    return [name for name in names if name != "python" and any(item in name for item in parts)]


def report(rounds: int, workload: str, profiler: str) -> str:
    """Measure and make the table; ``workload`` and ``profiler`` choose by parts of names."""
    return table(measure(rounds, chosen(WORKLOADS, workload), chosen(PROFILERS, profiler)))
