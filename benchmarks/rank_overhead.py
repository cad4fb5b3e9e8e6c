"""The cost of tfperf for each of two ranks, and for one process: a script without and with it, pair after pair.

    python -m benchmarks.rank_overhead [--pairs 5] [--steps 1800] [--page benchmarks/results/ranks.md]

After the windows, first while samples are dense (8 s) and then when they are not, and in the whole run: the time of a
step, and the processor time of the process in it, as the workers themselves note them. Workers are real:
MultiWorkerMirroredStrategy over gRPC on this machine's loopback. One process is the same script alone, with the same
strategy, steps and windows; what a rank pays more than it is the ratio of the two ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

SCRIPT = Path(__file__).with_name("workloads") / "two_workers_short.py"
BEGIN, END = "<!-- measured: rank overhead -->", "<!-- end: rank overhead -->"
STEPS = 1800
#: (first step, last step, what it is)
STRETCHES = ((60, 500, "after the windows"), (1200, 1800, "later"))
ALONE = -1


class Cost(NamedTuple):
    """ms of a step in a stretch on a rank, or in one process (ALONE): mean on the clock, and of the processor."""

    stretch: str
    rank: int
    clock: float
    processor: float


def plain(notes: Path, steps: int) -> list[subprocess.Popen[bytes]]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        workers = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    started = []
    for rank in range(2):
        config = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})
        environment = {**os.environ, "TF_CONFIG": config, "no_grpc_proxy": "127.0.0.1"}
        started.append(_start([str(SCRIPT), str(notes), str(steps)], environment))
    return started


def profiled(notes: Path, steps: int) -> list[subprocess.Popen[bytes]]:
    words = ["-m", "tfperfkit", "launch", "-n", "2", "--run-dir", f"{notes}-run", str(SCRIPT), str(notes), str(steps)]
    return [_start(words, dict(os.environ))]


def alone(notes: Path, steps: int, *, under: bool) -> list[subprocess.Popen[bytes]]:
    environment = {name: value for name, value in os.environ.items() if name != "TF_CONFIG"}
    before = ["-m", "tfperfkit", "run", "--run-dir", f"{notes}-run"] if under else []
    return [_start([*before, str(SCRIPT), str(notes), str(steps)], environment)]


def _start(words: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stretches(steps: int) -> list[tuple[int, int, str]]:
    return [*(each for each in STRETCHES if each[1] <= steps), (1, steps, "whole run, windows too")]


def measure(notes: Path, steps: int, *, under: bool, one: bool) -> list[Cost]:
    """Raises RuntimeError where a worker fails."""
    notes.mkdir()
    started = alone(notes, steps, under=under) if one else (profiled if under else plain)(notes, steps)
    codes = [each.wait() for each in started]
    if any(codes):
        raise RuntimeError("the workers failed")
    costs = []
    for rank in (0,) if one else (0, 1):
        rows = [list(map(int, line.split())) for line in (notes / str(rank)).read_text().splitlines()]
        for first, last, name in stretches(steps):
            clock, processor = ((rows[last - 1][at] - rows[first - 1][at]) / (last - first) / 1e6 for at in (1, 2))
            costs.append(Cost(name, ALONE if one else rank, clock, processor))
    return costs


def run(pairs: int, steps: int) -> list[tuple[Cost, Cost]]:
    """(without, with), in turn, of one process and of two ranks; every other pair begins with tfperf."""
    measured: list[tuple[Cost, Cost]] = []
    with tempfile.TemporaryDirectory() as name:
        for pair in range(pairs):
            order = (False, True) if pair % 2 == 0 else (True, False)
            for one in (True, False):
                found = {u: measure(Path(name, f"{pair}-{one}-{u}"), steps, under=u, one=one) for u in order}
                rows = list(zip(found[False], found[True], strict=True))
                print(rows, flush=True)
                measured += rows
    return measured


def page(measured: list[tuple[Cost, Cost]], steps: int) -> str:
    pairs = len(measured) // (3 * len(stretches(steps)))
    lines = [f"{pairs} pairs; the median of the ratios with tfperf to without, and their range:", ""]
    lines += ["| of | steps | time of a step | processor time of a step |", "|---|---|---|---|"]
    for first, last, name in stretches(steps):
        of = {
            rank: [(bare, under) for bare, under in measured if (bare.stretch, bare.rank) == (name, rank)]
            for rank in (ALONE, 0, 1)
        }
        for rank, rows in of.items():
            cells = [
                _ratios([(b.clock, u.clock) for b, u in rows]),
                _ratios([(b.processor, u.processor) for b, u in rows]),
            ]
            who = "one process" if rank == ALONE else f"rank {rank}"
            lines.append(f"| {who} | {first} to {last}, {name} | {cells[0]} | {cells[1]} |")
        for rank in (0, 1):
            both = list(zip(of[rank], of[ALONE], strict=True))
            clock = [(u.clock / b.clock) / (under.clock / bare.clock) for (b, u), (bare, under) in both]
            used = [(u.processor / b.processor) / (under.processor / bare.processor) for (b, u), (bare, under) in both]
            lines.append(
                f"| rank {rank} to one process | {first} to {last}, {name} | {_range(clock)} | {_range(used)} |"
            )
    return "\n".join(lines)


def _range(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} times ({min(ratios):.2f} to {max(ratios):.2f})"


def _ratios(rows: list[tuple[float, float]]) -> str:
    ratios = [under / bare for bare, under in rows]
    usual = statistics.median(bare for bare, _ in rows)
    return f"{_range(ratios)}, of {usual:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=STEPS, help="fewer: to try; stretches beyond are left out")
    parser.add_argument("--page", type=Path, help="write the table between the marks of this page")
    given = parser.parse_args()
    text = page(run(given.pairs, given.steps), given.steps)
    print(text)
    if given.page is not None:
        before, _, rest = given.page.read_text().partition(BEGIN)
        given.page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
