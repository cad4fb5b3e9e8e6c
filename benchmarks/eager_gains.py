"""Eager loops against the same under ``@tf.function``: ``python -m benchmarks.eager_gains SET [NAMES] [--keep DIR]``.

Each script of ``benchmarks/eager_loops/SET`` has ``step`` and ``batches``. One ``tfperf run`` of it gives the
prediction; then another process takes its steps, eager and compiled, in turn, in plain Python. It prints the figures of
``results/gains.md``: the predicted factor with its range, and the measured one, of mean steps over six blocks.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOOPS = Path(__file__).parent / "eager_loops"
BLOCKS, EAGER_S, COMPILED_S, MIN_STEPS = 6, 0.7, 0.3, 5
CODES = ("EAG001", "EAG003", "EAG008")


def measured(script: Path) -> dict[str, float]:
    """The factor by mean steps (the middle of the blocks, the lowest, the highest) and by median steps."""
    import tensorflow as tf

    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    batches = module.batches

    def block(step: Callable[..., Any], seconds: float) -> list[float]:
        took: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(took) < MIN_STEPS:
            begin = time.perf_counter()
            float(step(*batches[len(took) % len(batches)]))
            took.append(time.perf_counter() - begin)
        return took

    compiled = tf.function(module.step)
    block(module.step, 0)
    block(compiled, 0)
    pairs = [(block(module.step, EAGER_S), block(compiled, COMPILED_S)) for _ in range(BLOCKS)]
    ratios = [statistics.mean(eager) / statistics.mean(graph) for eager, graph in pairs]
    every = [[took for pair in pairs for took in pair[side]] for side in (0, 1)]
    medians = statistics.median(every[0]) / statistics.median(every[1])
    return {"mean": statistics.median(ratios), "low": min(ratios), "high": max(ratios), "median": medians}


def predicted(script: Path, run: Path) -> dict[str, Any] | None:
    """The first finding of eager steps of one profiled run."""
    tfperf = [sys.executable, "-m", "tfperfkit"]
    if not run.exists():
        subprocess.run([*tfperf, "run", "--run-dir", str(run), str(script)], capture_output=True, check=True)
    out = run.with_suffix(".json")
    subprocess.run([*tfperf, "report", str(run), "--json", str(out)], capture_output=True, check=True)
    findings = json.loads(out.read_text(encoding="utf-8"))["findings"]
    return next((dict(finding) for finding in findings if finding["code"] in CODES), None)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eager_gains", description=__doc__)
    parser.add_argument("set", choices=sorted(each.name for each in LOOPS.iterdir() if each.is_dir()))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--keep", type=Path, help="keep the runs here, and report those that are there again")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure)))
        return
    for script in sorted((LOOPS / options.set).glob("*.py")):
        if options.names and script.stem not in options.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            finding = predicted(script, (options.keep or Path(folder)) / script.stem)
        command = [sys.executable, "-m", "benchmarks.eager_gains", options.set, "--measure", str(script)]
        quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=quiet)
        print(line(script.stem, finding, json.loads(done.stdout.splitlines()[-1])), flush=True)


def line(name: str, finding: dict[str, Any] | None, found: dict[str, float]) -> str:
    """One row for the terminal."""
    told = "no finding of eager steps"
    if finding is not None and finding["predicted_range"]:
        low, high = finding["predicted_range"]
        told = f"{finding['code']} {finding['predicted_speedup']:.1f} ({low:.1f} to {high:.1f})"
    elif finding is not None:
        told = f"{finding['code']} at least {finding.get('at_least') or 1:.1f}"
    means = f"{found['mean']:.1f} ({found['low']:.1f} to {found['high']:.1f})"
    return f"{name:18s} {told:32s} measured {means}, medians {found['median']:.1f}"


if __name__ == "__main__":
    main()
