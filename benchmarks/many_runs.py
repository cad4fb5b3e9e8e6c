"""A folder of many runs, and what ``tfperf runs`` takes for it: ``python -m benchmarks.many_runs 10000``."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from tfperfkit.analysis.summary import FILE, SCHEMA, RunSummary
from tfperfkit.gain import Range
from tfperfkit.model import Finding, Measurement
from tfperfkit.records.source_span import SourceSpan
from tfperfkit.storage.run_directory import Manifest


def make(folder: Path, count: int) -> None:
    """Run directories with a manifest and a summary with three findings each."""
    finding = Finding(
        code="INP001",
        family="input",
        title="The data set is loaded again in every step",
        severity="high",
        share_of_step=0.9,
        gain=Range(10.0, 10.0, 10.0),
        where=(SourceSpan(file="train.py", line=57, function="fetch"),),
        evidence=(Measurement("loads a step", 2, "count", "lines"), Measurement("step", 512.0, "ms", "baseline")),
        advice="Load the data once, before the loop.",
    )
    for number in range(count):
        run = folder / f"train-{number:05}"
        run.mkdir(parents=True)
        started = 1_700_000_000.0 + number
        manifest = Manifest(
            tfperfkit_run=1, argv=["train.py"], cwd="/", python="python", probes=[], started_wall_s=started
        )
        summary = RunSummary(
            schema=SCHEMA,
            argv=("train.py", "--epochs", str(number)),
            cwd="/",
            started_wall_s=started,
            status="finished",
            exit_code=0,
            steps=100,
            step_ms=10.0 + number % 7,
            parts_ms={"input": 3.0, "python": 7.0},
            findings=(finding,) * 3,
        )
        (run / "run.json").write_bytes(msgspec.json.encode(manifest))
        (run / FILE).write_bytes(msgspec.json.encode(summary))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), count)
        for words in (
            ["runs"],
            ["runs", "--json", "-"],
            ["runs", "sql", "select code, count(*) from findings group by 1"],
        ):
            seconds, processor = [], []
            for _ in range(3):
                begin, before = time.perf_counter(), used()
                environment = {**os.environ, "TFPERF_RUNS": folder}
                command = [sys.executable, "-m", "tfperfkit", *words]
                subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
                seconds.append(time.perf_counter() - begin)
                processor.append(used() - before)
            print(
                f"{' '.join(words):60} {count} runs: {min(seconds):.2f} s (of three: {max(seconds):.2f} at most), "
                f"{min(processor):.2f} s of processors",
                flush=True,
            )


def used() -> float:
    """Seconds of processors that ended children have used."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
