"""The reference GAN, stage by stage: what tfperf predicted on each, and what the change that it named gained.

    python -m benchmarks.ladder [ROUNDS]      writes benchmarks/results/gan-ladder.md's table to stdout

Each pair of stages is timed in turn (A B A B ...) under plain python, by the times that the trainer itself prints.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

GAN = Path(__file__).parents[1] / "examples" / "gan" / "train.py"


class Rung(NamedTuple):
    """A stage, the steps to run, the stage that the right first finding leads to, and its (code, file, function)."""

    stage: str
    steps: int
    leads_to: str
    wanted: str
    seeds: str  # images a second on an A100, as the project's seeds tell; "" where they have no such stage


#: ``leads_to`` "": nothing is to be gained here on two cores.
LADDER = (
    Rung("naive", 24, "cached", "INP002", "230"),
    Rung("cached", 40, "graph", "EAG001", "2 210"),
    Rung("graph", 150, "shared", "GRF001", "18 390"),
    Rung("shared", 150, "", "", ""),
    Rung("batch", 24, "", "GRF001", "89 000"),
    Rung("xla", 16, "batch", "CMP003", "101 800"),
    Rung("mixed", 16, "batch", "CMP003", ""),
)
_BATCH = {"batch": 1024, "xla": 1024, "mixed": 1024}


def plain(stage: str, steps: int) -> float:
    """The median step in ms under plain python, the first third left out."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(GAN), "--stage", stage, "--steps", str(steps), "--out", folder],
            capture_output=True,
            text=True,
            check=True,
            timeout=900,
        )
    times = [float(found) * 1e3 for found in re.findall(r"step_time ([0-9.]+) s", done.stdout)]
    return statistics.median(times[len(times) // 3 :])


def report(stage: str, steps: int) -> dict[str, Any]:
    """The JSON report of one stage, with the default probes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "tfperfkit",
                "run",
                "--run-dir",
                str(Path(folder) / "run"),
                "--json",
                str(file),
                "--output",
                os.devnull,
                str(GAN),
                "--",
                "--stage",
                stage,
                "--steps",
                str(steps),
                "--out",
                folder,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=900,
        )
        made: dict[str, Any] = json.loads(file.read_text())
        return made


def gained(rung: Rung, rounds: int) -> list[float]:
    """The factor by which each round's step got faster, per image."""
    steps = {r.stage: max(r.steps * 2 // 3, 9) for r in LADDER}
    ratios = []
    for _ in range(rounds):
        before = plain(rung.stage, steps[rung.stage]) / _BATCH.get(rung.stage, 64)
        after = plain(rung.leads_to, steps[rung.leads_to]) / _BATCH.get(rung.leads_to, 64)
        ratios.append(before / after)
    return ratios


def row(rung: Rung, rounds: int) -> str:
    made = report(rung.stage, rung.steps)
    median = made["steps"]["median_ms"]
    images = 2 * _BATCH.get(rung.stage, 64) / median * 1000
    loud = [finding for finding in made["findings"] if finding["severity"] != "info"]
    told = predicted = "none"
    bounds = None
    if loud:
        place = loud[0]["where"][0] if loud[0]["where"] else {"file": "", "line": 0}
        told = f"{loud[0]['code']} at {Path(place['file']).name}:{place['line']}"
        bounds = loud[0].get("predicted_range")
        predicted = f"{bounds[0]:.2f} to {bounds[1]:.2f}" if bounds else "–"
    measured = verdict = "–"
    if rung.leads_to:
        ratios = gained(rung, rounds)
        middle = statistics.median(ratios)
        spread = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        measured = f"{middle:.2f} [{spread}] as {rung.leads_to}"
        named = bool(loud) and loud[0]["code"] == rung.wanted
        inside = bool(bounds) and bounds[0] <= middle <= bounds[1]
        verdict = "yes" if named and inside else "no: " + ("out of the range" if named else f"wanted {rung.wanted}")
    cells = (rung.stage, f"{median:.1f} ms", f"{images:,.0f}", told, predicted, measured, verdict, rung.seeds or "–")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    only = sys.argv[2:]
    print("| stage | step | img/s | first finding | predicted | gained, in turn | contains it | A100, img/s |")
    print("|---|---|---|---|---|---|---|---|")
    for rung in LADDER:
        if not only or rung.stage in only:
            print(row(rung, rounds), flush=True)


if __name__ == "__main__":
    main()
