"""How long after the script's end is the report there? ``python -m benchmarks.report_delay [--rounds 3]``.

From the moment at which tfperf has seen the script's end (``ended_ns`` in ``exit.json``) to the end of ``tfperf run``,
with the default probes. And ``tfperf report`` of a trace of 1.4 million events. For an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.programs import GAN, WORKLOADS
from benchmarks.reading import make, measure
from tfperfkit.clock import NS_PER_S, now_ns

EVENTS = 1_400_000
#: Runs and the goals for them, in seconds.
RUNS = {
    "usual run: Keras fit, 1000 steps": (WORKLOADS["Keras fit"], 0.5),
    "usual run: GAN graph, 120 steps": (WORKLOADS["GAN graph"], 0.5),
    "a minute's run: GAN naive, 40 steps": ((str(GAN), "--steps", "40"), 2.0),
    "a minute's run: GAN shared, 2000 steps": ((str(GAN), "--stage", "shared", "--steps", "2000"), 2.0),
}


def measure_delay(words: tuple[str, ...]) -> tuple[float, float]:
    """Return the seconds of the script, and those from its end to the end of ``tfperf run``."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tfperfkit", "run", "--run-dir", "r", *words]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        begun = now_ns()
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        done = now_ns()
        ended = json.loads(Path(folder, "r", "exit.json").read_text())["ended_ns"]
    return (ended - begun) / NS_PER_S, (done - ended) / NS_PER_S


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="[default: %(default)s]")
    given = parser.parse_args()
    print("| | script, s | report after it, median s | most | goal |\n|---|---|---|---|---|", flush=True)
    for name, (words, goal) in RUNS.items():
        rows = [measure_delay(tuple(words)) for _ in range(given.rounds)]
        script, delays = statistics.median(row[0] for row in rows), [row[1] for row in rows]
        verdict = "reached" if statistics.median(delays) <= goal else "**missed**"
        print(
            f"| {name} | {script:.0f} | {statistics.median(delays):.2f} | {max(delays):.2f} | {goal} s: {verdict} |",
            flush=True,
        )
    for kernels in (0.0, 0.3):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "big.xplane.pb"
            make(trace, EVENTS, kernels)
            found = measure(trace, given.rounds)
        size = found["beyond_imports_in_sizes_of_the_file"]
        verdict = "reached" if found["seconds"] <= 3 and size <= 3 else "**missed**"
        name = f"`tfperf report` of 1.4 million events, {kernels:.0%} of them kernels"
        told = f"{found['seconds']:.2f} (best), memory {size:.1f} times the file"
        print(f"| {name} | – | {told} | – | 3 s, 3 times: {verdict} |", flush=True)


if __name__ == "__main__":
    main()
