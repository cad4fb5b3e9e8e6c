"""Seconds that ``tfperf run`` adds to an empty script, and that the report of a usual run takes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.programs import PROFILERS, command

_SCRIPTS = {"to the first line": "import time\nprint(time.monotonic())\n", "with the report": ""}


def _empty(rounds: int, text: str) -> tuple[float, float]:
    """(median seconds under tfperf less those under Python, the latter) until the line, or the end if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(text)
        environment = {**os.environ, "TFPERF_RUNS": str(Path(folder) / "runs")}
        taken: dict[str, list[float]] = {"python": [], "tfperf all": []}
        for _ in range(rounds):
            for name, results in taken.items():
                begin = time.monotonic()
                done = subprocess.run(
                    [*PROFILERS[name], str(script)], capture_output=True, text=True, env=environment, check=True
                )
                results.append((float(done.stdout) if done.stdout else time.monotonic()) - begin)
    plain = statistics.median(taken["python"])
    return statistics.median(taken["tfperf all"]) - plain, plain


def report(rounds: int) -> str:
    """Both as a list."""
    lines = []
    for name, text in _SCRIPTS.items():
        more, plain = _empty(rounds, text)
        lines.append(f"- start-up of an empty script, {name}: {more:+.3f} s over python's {plain:.3f} s")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        for workload in ("GAN graph", "Keras fit"):
            words = command("tfperf all", workload)
            subprocess.run(words, capture_output=True, cwd=folder, env=environment, check=True)
            taken = []
            for _ in range(rounds):
                begin = time.monotonic()
                subprocess.run(
                    [sys.executable, "-m", "tfperfkit", "report", "last"],
                    capture_output=True,
                    cwd=folder,  # "last" is of this folder's project
                    env=environment,
                    check=True,
                )
                taken.append(time.monotonic() - begin)
            lines.append(
                f"- report of {workload}, all probes: {statistics.median(taken):.2f} s, at most {max(taken):.2f} s"
            )
    return "\n".join(lines)
