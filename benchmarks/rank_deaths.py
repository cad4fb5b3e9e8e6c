"""The records that a killed rank leaves: of two real workers one is killed (SIGKILL) at a random moment, time after
time; then the report is asked for both parts.

    python -m benchmarks.rank_deaths [--times 30] [--seed 0] [--page benchmarks/results/ranks.md]

Of four moments one lies in the first seconds of the worker's process, in which TensorFlow is imported and the workers
find each other, and three after a step that was drawn. Each worker writes its progress into a file of its own after
each step.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from tfperfkit.clock import now_ns

SCRIPT = Path(__file__).with_name("workloads") / "two_workers_short.py"
BEGIN, END = "<!-- measured: rank deaths -->", "<!-- end: rank deaths -->"
STEPS = 300
#: The share of deaths in the first seconds; the others come at most so long after a step.
EARLY, FIRST_S, BETWEEN_S = 0.25, 10.0, 0.02
_PATIENCE_S = 120.0


class Death(NamedTuple):
    """One killed worker. ``early``: in its first seconds. ``done``, ``told``: steps by rank, by the workers' own files
    and by the report. ``lost_s``: of what the killed one had, by its own file, the seconds that the report lacks.
    ``wrong``: what the report has wrong."""

    victim: int
    early: bool
    done: tuple[int, int]
    told: tuple[int, int]
    lost_s: float
    wrong: str


def noted(file: Path) -> list[int]:
    """When each step ended, ns of the clock that all processes here share."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return []
    return [int(line.split()[1]) for line in lines]


def process_of(out: Path, rank: int, launched: subprocess.Popen[bytes]) -> int:
    """The script's process of a rank, once it is there; raises RuntimeError if the launch ends before."""
    name = str(out / f"rank-{rank:04}")
    while launched.poll() is None:
        for entry in os.scandir("/proc"):
            if not entry.name.isdecimal():
                continue
            try:
                environment = Path(entry.path, "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"TFPERF_RUN_DIRECTORY={name}".encode() in environment:
                return int(entry.name)
        time.sleep(0.02)
    raise RuntimeError(f"the launch ended with status {launched.returncode}")


def _launch(out: Path, folder: Path) -> subprocess.Popen[bytes]:
    notes = folder / f"{out.name}-notes"
    notes.mkdir()
    words = ["launch", "-n", "2", "--run-dir", str(out), str(SCRIPT), str(notes), str(STEPS)]
    command = [sys.executable, "-m", "tfperfkit", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_one(folder: Path, number: int, chance: random.Random) -> Death | None:
    """None where it had ended before."""
    victim, early = chance.randrange(2), chance.random() < EARLY
    step, seconds = chance.randrange(1, STEPS), chance.uniform(0.0, FIRST_S if early else BETWEEN_S)
    out, notes = folder / f"run-{number}", folder / f"run-{number}-notes"
    launched = _launch(out, folder)
    pid = process_of(out, victim, launched)
    environ = Path("/proc", str(pid), "environ")
    while not early and _lives(environ) and len(noted(notes / str(victim))) < step:
        time.sleep(0.005)
    time.sleep(seconds)
    lived = _lives(environ)
    if lived:
        os.kill(pid, signal.SIGKILL)
    killed = now_ns()
    launched.wait(_PATIENCE_S)
    if not lived:
        return None
    shown = subprocess.run([sys.executable, "-m", "tfperfkit", "report", str(out), "--json", "-"], capture_output=True)
    done = tuple(len(noted(notes / str(rank))) for rank in (0, 1))
    if shown.returncode:
        return Death(victim, early, (done[0], done[1]), (0, 0), 0.0, f"no report: {shown.stderr[-200:]!r}")
    return judged(json.loads(shown.stdout), victim, early, notes, killed)


def _lives(environ: Path) -> bool:
    try:
        return bool(environ.read_bytes())  # of one that has ended and was not waited for it is empty
    except OSError:
        return False


def judged(whole: dict[str, Any], victim: int, early: bool, notes: Path, killed: int) -> Death:
    """Compare the report of both with the workers' own notes."""
    ends = [noted(notes / str(rank)) for rank in (0, 1)]
    parts = {part["rank"]: part for part in whole["parts"]}
    told = (parts.get(0, {}).get("steps", 0), parts.get(1, {}).get("steps", 0))
    mine = ends[victim]
    lost_s = (killed - mine[told[victim]]) / 1e9 if told[victim] < len(mine) else 0.0
    wrong = []
    if sorted(parts) != [0, 1] or any(part["problem"] for part in whole["parts"]):
        wrong.append("a part is missing or can't be read")
    if not whole["endings"] or not whole["endings"][0].startswith(f"rank {victim} was ended by SIGKILL"):
        wrong.append(f"the first ending: {whole['endings'][:1]}")
    return Death(victim, early, (len(ends[0]), len(ends[1])), told, lost_s, "; ".join(wrong))


def run(times: int, seed: int) -> list[Death]:
    chance = random.Random(seed)
    deaths: list[Death] = []
    with tempfile.TemporaryDirectory() as name:
        for number in itertools.count():
            if len(deaths) == times:
                break
            death = kill_one(Path(name), number, chance)
            print(death, flush=True)
            deaths += [death] if death is not None else []
    return deaths


def page(deaths: list[Death]) -> str:
    """Write the outcomes in Markdown."""
    right = sum(not death.wrong for death in deaths)
    early = sum(not death.done[death.victim] for death in deaths)
    lost = [death.lost_s for death in deaths if death.done[death.victim]]
    others = [death.done[1 - death.victim] - death.told[1 - death.victim] for death in deaths]
    lines = [
        f"Killed {len(deaths)} times, {early} of these before the first step. Both parts are in the report, which "
        f"begins with the one that was killed: {right} of {len(deaths)}.",
        "",
        f"The report lacks the killed rank's last {statistics.median(lost):.2f} s in the median, "
        f"{max(lost):.2f} s at most (n = {len(lost)}). The other rank lacks {max(max(others), 0)} steps at most, "
        f"and has {max(-min(others), 0)} too many at most.",
    ]
    for death in deaths:
        lines += (
            [f"\nWrong: rank {death.victim} at step {death.done[death.victim]}: {death.wrong}"] if death.wrong else []
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, help="write the outcome between the marks of this page")
    given = parser.parse_args()
    text = page(run(given.times, given.seed))
    print(text)
    if given.page is not None:
        before, _, rest = given.page.read_text().partition(BEGIN)
        given.page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
