"""A day in watch mode: memory and files after each tenth of the day, and the cost of a step.

``python -m benchmarks.day``: 10 million steps in simulated time. Markers, samples and ticks as a session makes them in
a day go through watch mode's own code, at a clock that runs as fast as that code; each hour a window is asked for.
``python -m benchmarks.day --real STEPS``: so many steps of a tiny compiled function under ``tfperf run --long-run``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.programs import WORKLOADS_FOLDER
from tfperfkit.instruments.stacks.sampler import Sampler
from tfperfkit.recording import long_run, window_run
from tfperfkit.recording.long_run import LongRun
from tfperfkit.records.history import WatchPlan
from tfperfkit.records.steps import Definition, Loop, Marker, Site
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.storage.stream_set import Streams
from tfperfkit.user_code import Origin
from tfperfkit.watching.asking import ask
from tfperfkit.watching.monitor import BlockReader
from tfperfkit.watching.triggers import Triggers

STEPS, DAY_NS = 10_000_000, 86_400 * 10**9
_SITE = Site(id=1, kind="call", target=1, file=__file__, line=1, loops=(Loop(__file__, 1),))
_TICK_NS, _SAMPLE_NS, _HOUR_NS = 2 * 10**9, 10**9, 3600 * 10**9


class _Session:
    """The view of a session for its long run, without a script."""

    definition = Definition(source="custom", ends=frozenset({1}), unit="iteration", place=_SITE.loops[0])
    traces, ours_ns, step = (1, 10**8), 0, 1
    facts: dict[str, Any] = {}

    def __init__(self, folder: Path) -> None:
        self.manifest = Manifest(tfperfkit_run=1, argv=["day.py"], cwd="/", python="", probes=[], watch=WatchPlan())
        self.run = RunDirectory.create(folder, self.manifest)
        self.streams = Streams(self.run, long_run.MAX_STREAM_BYTES)
        self.origin = Origin([])
        self.long = LongRun(self, WatchPlan(), self.streams)
        self.sampler = Sampler(self.long.sampled, self.is_user, max_stacks=long_run.MAX_STACKS)

    def is_user(self, name: str) -> bool:
        return name == __file__

    def is_fetch(self, site: int) -> bool:
        return False

    def all_sites(self) -> list[Site]:
        return [_SITE]

    def window_probes(self) -> list[str]:
        return []

    def window_begins(self) -> None:
        return None

    def event(self, kind: Any, **fields: Any) -> None:
        self.streams.event(kind, **fields)

    def __getattr__(self, name: str) -> Any:  # what a window without probes does not ask for
        return lambda *_, **__: None


class _Clock:
    """Simulated time, for the modules that read it."""

    def __init__(self) -> None:
        self.now = time.monotonic_ns()
        long_run.now_ns = window_run.now_ns = lambda: self.now  # type: ignore[assignment]


def _resident_mb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _files_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def simulate(steps: int) -> list[tuple[float, float, float, float]]:
    """Return for each tenth of the day: memory, files (both MB, at its end), own processor time in it (s), steps it
    counted.
    """
    clock = _Clock()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        session = _Session(Path(folder) / "run")
        long, reader, triggers = session.long, BlockReader(Path(folder) / "run"), Triggers(5.0)
        thread = threading.get_ident()
        session.sampler.take(clock.now, thread)
        between = DAY_NS // steps
        next_tick = next_sample = clock.now
        next_hour = clock.now + _HOUR_NS
        for _ in range(10):
            begun, before = time.process_time(), long.steps
            for _ in range(steps // 10):
                begin = clock.now
                clock.now = now = begin + between
                long.append(Marker(1, begin, now - between // 2))
                if now >= next_sample:
                    next_sample = now + _SAMPLE_NS
                    session.sampler.take(now, thread)
                    if now >= next_tick:
                        next_tick = now + _TICK_NS
                        session.streams.flush()
                        long.tick(now)
                        for row in reader.new():
                            for _change in triggers.add(row):
                                pass
                        if now >= next_hour:
                            next_hour = now + _HOUR_NS
                            ask(session.run.path, "poke", "an hour has passed")
            own = time.process_time() - begun
            found.append((_resident_mb(), _files_mb(Path(folder)), own, float(long.steps - before)))
            print(
                f"{len(found)} of 10: {found[-1][0]:.1f} MB of memory, {found[-1][1]:.1f} MB of files", file=sys.stderr
            )
        long.finish()
        session.streams.close()
        rows = sum(1 for _ in session.run.records("session/markers.jsonl"))
        print(f"kept of {steps} markers: {rows}", file=sys.stderr)
    return found


def real(steps: int, way: str) -> str:
    """Return a row: memory after the second tenth and at the end, seconds of the second and last tenth, files."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        watched = [sys.executable, "-m", "tfperfkit", "run", "--long-run", "--output", f"{folder}/report"]
        words = watched if way == "watched" else [sys.executable]
        script = [str(WORKLOADS_FOLDER / "long_run.py"), str(steps), "call"]
        done = subprocess.run([*words, *script], capture_output=True, text=True, env=environment, check=True)
        files = _files_mb(Path(folder))
    line = re.search(r"BENCH memory ([\d.]+) early ([\d.]+) second ([\d.]+) last ([\d.]+)", done.stdout)
    if line is None:
        raise SystemExit(f"no result in {done.stdout!r}")
    memory, early, second, last = map(float, line.groups())
    return f"| {way} | {steps:,} | {early:.1f} | {memory:.1f} | {second:.1f} | {last:.1f} | {files:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.day", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS, help="of the simulated day; default: 10 million")
    parser.add_argument("--real", type=int, default=0, metavar="STEPS", help="run a real loop of so many instead")
    arguments = parser.parse_args()
    if arguments.real:
        print("| way | steps | MB after a fifth | MB at the end | second tenth, s | last tenth, s | MB of files |")
        print("|---|---|---|---|---|---|---|")
        for way in ("plain", "watched"):
            print(real(arguments.real, way), flush=True)
        return
    print("| tenth of the day | memory, MB | files, MB | own processor time, s | steps counted |")
    print("|---|---|---|---|---|")
    for number, (memory, files, own, counted) in enumerate(simulate(arguments.steps), 1):
        print(f"| {number} | {memory:.1f} | {files:.1f} | {own:.1f} | {counted:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
