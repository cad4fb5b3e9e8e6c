"""How much longer a whole script takes under tfperf: ``python -m benchmarks.whole_runs [SCRIPT ...] [--rounds 3]``.

Plain Python and each choice of probes in turn; medians of the wall-clock and processor seconds of the script's own
process, from the import of TensorFlow to the script's end. ``--probes none --probes lines --probes ops`` tells which
probe costs what. For an idle machine: windows without steps last for fixed wall-clock seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from benchmarks.programs import HERE, WORKLOADS_FOLDER

#: An eager loop over the elements of tensors; a function that is traced in each iteration.
SCRIPTS = ("corpus/nineteenth/faults/audio_to_tfrecord.py", "corpus/nineteenth/faults/spin_glass_anneal.py")
PLAIN = "plain Python"


def run(script: Path, probes: str) -> dict[str, float]:
    """Return the seconds that the script's process took, "wall" and "processor"."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "seconds.json")
        words = [str(WORKLOADS_FOLDER / "whole_script.py"), str(target), str(script)]
        if probes != PLAIN:
            options = ["--run-dir", "r", "--output", os.devnull, "--probes", probes]
            words = ["-m", "tfperfkit", "run", *options, *words]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True, capture_output=True)
        seconds: dict[str, float] = json.loads(target.read_text())
    return seconds


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", type=Path, default=[HERE.parent / name for name in SCRIPTS])
    parser.add_argument("--rounds", type=int, default=3, help="[default: %(default)s]")
    parser.add_argument("--probes", action="append", help="[default: default and none]")
    given = parser.parse_args()
    choices = [PLAIN, *(given.probes or ["default", "none"])]
    print("| script | probes | wall-clock, s | ratio | processor, s | ratio |\n|---|---|---|---|---|---|", flush=True)
    for script in given.scripts:
        taken: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
        for _ in range(given.rounds):
            for probes in choices:
                taken[probes].append(run(script.resolve(), probes))
        for probes in choices:
            row = [script.stem, probes]
            for kind in ("wall", "processor"):
                ratios = [own[kind] / plain[kind] for own, plain in zip(taken[probes], taken[PLAIN], strict=True)]
                row += [
                    f"{statistics.median(own[kind] for own in taken[probes]):.1f}",
                    f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
                ]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
