"""How much slower steps are within each probe's window, on every stage of the GAN and in the other loops.

It compares the figures that each report has of its own run: steps in the window against clean ones.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.programs import PROFILERS, WORKLOADS

#: Those with windows; what the others cost is outside of windows.
_PROBES = ("lines", "tfprof", "devices")


def _once(workload: str) -> dict[str, float]:
    """Ratio by probe of one run, and by "outside" tfperf's own share of the clean steps (1 + share)."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        report = Path(folder) / "report.json"
        subprocess.run(
            [*PROFILERS["tfperf all"], "--json", str(report), *WORKLOADS[workload]],
            capture_output=True,
            cwd=folder,
            env=environment,
            check=False,
            timeout=900,
        )
        overhead = json.loads(report.read_text())["overhead"]
    found: dict[str, float] = dict(overhead["per_probe"])
    if overhead["baseline_ratio"] is not None:
        found["outside"] = overhead["baseline_ratio"]
    return found


def _words(ratios: Sequence[float]) -> str:
    if not ratios:
        return "–"
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def report(rounds: int, names: Sequence[str]) -> str:
    """Median, least and most of the rounds, as Markdown."""
    columns = (*_PROBES, "outside")
    lines = [f"| loop | {' | '.join(_PROBES)} | outside of windows, by its own clock |", "|---|---|---|---|---|"]
    for name in names:
        found: defaultdict[str, list[float]] = defaultdict(list)
        for _ in range(rounds):
            for probe, ratio in _once(name).items():
                found[probe].append(ratio)
        lines.append(f"| {name} | {' | '.join(_words(found[column]) for column in columns)} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)
