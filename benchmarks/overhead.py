"""Time of a loop under each profiler over its time under plain Python, in turn (A B C A B C …)."""

from __future__ import annotations

import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
GAN = HERE.parent / "examples" / "gan" / "train.py"
#: Steps so that the loop takes some seconds here, and tfperf's windows are over before its last two fifths.
WORKLOADS: dict[str, Sequence[str]] = {
    "empty tf.function": [str(HERE / "workloads" / "empty_function.py"), "20000"],
    "tiny compiled step": [str(HERE / "workloads" / "train_function.py"), "8000"],
    "eager Keras step": [str(HERE / "workloads" / "eager_loop.py"), "500"],
    "plain Python loop": [str(HERE / "workloads" / "python_loop.py"), "1200"],
    "GAN, naive": [str(GAN), "--stage", "naive", "--steps", "24"],
    "GAN, cached": [str(GAN), "--stage", "cached", "--steps", "40"],
    "GAN, graph": [str(GAN), "--stage", "graph", "--steps", "120"],
}
PROFILERS: dict[str, Sequence[str]] = {
    "python": [sys.executable],
    "tfperf none": [sys.executable, "-m", "tfperfkit", "run", "--probes", "none"],
    "tfperf retrace": [sys.executable, "-m", "tfperfkit", "run", "--probes", "retrace"],
    "tfperf lines,retrace,tfprof": [sys.executable, "-m", "tfperfkit", "run", "--probes", "lines,retrace,tfprof"],
    "tfperf, all probes": [sys.executable, "-m", "tfperfkit", "run"],
    "tfperf ops,devices": [sys.executable, "-m", "tfperfkit", "run", "--probes", "ops,devices"],
    "cProfile": [sys.executable, "-m", "cProfile", "-o", os.devnull],
    "kernprof -l -p": [sys.executable, "-m", "kernprof", "-l", "-o", os.devnull],
    "pyinstrument": [sys.executable, "-m", "pyinstrument", "-o", os.devnull],
    "Scalene": [sys.executable, "-m", "scalene", "run", "--cpu-only", "-o", "scalene.json"],
}
_LINE = re.compile(r"BENCH whole ([\d.]+) tail ([\d.]+)")
_STEP = re.compile(r"step_time ([\d.]+) s")  # what the GAN logs


def seconds(profiler: str, workload: str) -> tuple[float, float] | None:
    """(whole, tail) seconds of one run; None when the profiler is not installed or fails."""
    command = list(PROFILERS[profiler])
    script = list(WORKLOADS[workload])
    if profiler.startswith("kernprof"):
        command += ["-p", script[0]]
    if profiler == "Scalene":
        script.insert(1, "---")  # what follows is the script's
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(
            [*command, *script], capture_output=True, text=True, cwd=folder, env=environment, check=False, timeout=600
        )
    if steps := [float(value) for value in _STEP.findall(done.stdout)]:
        return sum(steps[2:]), sum(steps[len(steps) * 3 // 5 :])
    found = _LINE.search(done.stdout)
    return (float(found[1]), float(found[2])) if found else None


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median, by bootstrap (2000 resamplings, fixed seed)."""
    generator = random.Random(0)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def measure(rounds: int, chosen: str = "", only: str = "") -> list[tuple[str, str, list[float], list[float]]]:
    """Ratios of each round, (workload, profiler, whole, tail); of profilers whose name holds ``only``."""
    rows = []
    profilers = [name for name in PROFILERS if name == "python" or only in name]
    for workload in (name for name in WORKLOADS if chosen in name):
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in profilers}
        for number in range(rounds):
            for profiler in profilers:
                result = seconds(profiler, workload)
                if result:
                    taken[profiler].append(result)
            print(f"{workload}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        base = taken["python"]
        for profiler, results in taken.items():
            if profiler != "python" and len(results) == len(base):
                whole = [a[0] / b[0] for a, b in zip(results, base, strict=True)]
                tail = [a[1] / b[1] for a, b in zip(results, base, strict=True)]
                rows.append((workload, profiler, whole, tail))
    return rows


def table(rows: list[tuple[str, str, list[float], list[float]]]) -> str:
    """The result as Markdown."""
    lines = ["| loop | profiler | whole loop | outside of windows |", "|---|---|---|---|"]
    for workload, profiler, whole, tail in rows:
        cells = []
        for ratios in (whole, tail):
            low, high = interval(ratios)
            cells.append(f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})")
        outside = cells[1] if profiler.startswith("tfperf") else "–"
        lines.append(f"| {workload} | {profiler} | {cells[0]} | {outside} |")
    return "\n".join(lines)


def startup(rounds: int) -> str:
    """Wall time of an empty script under ``tfperf run``, less its time under ``python``, in seconds."""
    import time

    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text("")
        environment = {**os.environ, "TFPERF_RUNS": str(Path(folder) / "runs")}
        taken: dict[str, list[float]] = {"python": [], "tfperf none": [], "tfperf lines,retrace,tfprof": []}
        for _ in range(rounds):
            for name, results in taken.items():
                begin = time.perf_counter()
                subprocess.run([*PROFILERS[name], str(script)], capture_output=True, env=environment, check=True)
                results.append(time.perf_counter() - begin)
    plain = statistics.median(taken["python"])
    return "\n".join(
        f"- {name}: {statistics.median(results) - plain:+.3f} s over python's {plain:.3f} s, report included"
        for name, results in taken.items() if name != "python"
    )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    if shutil.which("nproc"):
        print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}, {rounds} rounds\n")
    print(startup(max(rounds, 7)))
    print()
    print(table(measure(rounds, *sys.argv[2:4])))


if __name__ == "__main__":
    main()
