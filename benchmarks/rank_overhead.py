"""What tfperf costs each of two ranks: the same two workers in turn without and with it, pair after pair.

    python -m benchmarks.rank_overhead [--pairs 5] [--page docs/distributed.md]

After the windows, first while samples are dense (8 s) and then when they are not: the time of a step, and the processor
time of the process in it, as the workers themselves note them. Workers are real: MultiWorkerMirroredStrategy over gRPC
on this machine's loopback.
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


class Cost(NamedTuple):
    """ms of a step in a stretch on a rank: the mean on the clock, and of the processor."""

    stretch: str
    rank: int
    clock: float
    processor: float


def plain(notes: Path) -> list[subprocess.Popen[bytes]]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        workers = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    started = []
    for rank in range(2):
        config = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})
        environment = {**os.environ, "TF_CONFIG": config, "no_grpc_proxy": "127.0.0.1"}
        started.append(_start([str(SCRIPT), str(notes), str(STEPS)], environment))
    return started


def profiled(notes: Path) -> list[subprocess.Popen[bytes]]:
    words = ["-m", "tfperfkit", "launch", "-n", "2", "--out", f"{notes}-run", str(SCRIPT), str(notes), str(STEPS)]
    return [_start(words, dict(os.environ))]


def _start(words: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(notes: Path, *, under: bool) -> list[Cost]:
    """Raises RuntimeError where a worker fails."""
    notes.mkdir()
    started = (profiled if under else plain)(notes)
    codes = [each.wait() for each in started]
    if any(codes):
        raise RuntimeError("the workers failed")
    costs = []
    for rank in (0, 1):
        rows = [list(map(int, line.split())) for line in (notes / str(rank)).read_text().splitlines()]
        for first, last, name in STRETCHES:
            clock, processor = ((rows[last - 1][at] - rows[first - 1][at]) / (last - first) / 1e6 for at in (1, 2))
            costs.append(Cost(name, rank, clock, processor))
    return costs


def run(pairs: int) -> list[tuple[Cost, Cost]]:
    """(without, with), in turn; every other pair begins with tfperf."""
    measured: list[tuple[Cost, Cost]] = []
    with tempfile.TemporaryDirectory() as name:
        for pair in range(pairs):
            order = (False, True) if pair % 2 == 0 else (True, False)
            found = {under: measure(Path(name, f"{pair}-{under}"), under=under) for under in order}
            measured += zip(found[False], found[True], strict=True)
            print(measured[-4:], flush=True)
    return measured


def page(measured: list[tuple[Cost, Cost]]) -> str:
    pairs = len(measured) // (2 * len(STRETCHES))
    lines = [f"{pairs} pairs; the median of the ratios with tfperf to without, and their range:", ""]
    lines += ["| rank | steps | time of a step | processor time of a step |", "|---|---|---|---|"]
    for first, last, name in STRETCHES:
        for rank in (0, 1):
            rows = [(bare, under) for bare, under in measured if (bare.stretch, bare.rank) == (name, rank)]
            cells = [
                _ratios([(b.clock, u.clock) for b, u in rows]),
                _ratios([(b.processor, u.processor) for b, u in rows]),
            ]
            lines.append(f"| {rank} | {first} to {last}, {name} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def _ratios(rows: list[tuple[float, float]]) -> str:
    ratios = [under / bare for bare, under in rows]
    usual = statistics.median(bare for bare, _ in rows)
    return f"{statistics.median(ratios):.2f} times ({min(ratios):.2f} to {max(ratios):.2f}), of {usual:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--page", type=Path, help="write the table between the marks of this page")
    given = parser.parse_args()
    text = page(run(given.pairs))
    print(text)
    if given.page is not None:
        before, _, rest = given.page.read_text().partition(BEGIN)
        given.page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
