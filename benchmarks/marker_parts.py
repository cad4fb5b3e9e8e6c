"""The cost of a step's marker, by part: ``python -m benchmarks.marker_parts [LOOP ...]``."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from benchmarks.programs import PROFILERS, WORKLOADS_FOLDER
from benchmarks.ratios import words
from benchmarks.steady import LOOPS

_TIMEOUT_S = 900
_SIDES = 7


def measured(name: str, rounds: int = 60) -> dict[str, list[tuple[float, float, float]]]:
    """Return the blocks of each side: seconds, ns of the hooks for each step, ns of the timed part."""
    loop = LOOPS[name]
    settle = max(loop.block // 10, 1)
    steps = 2 * loop.warm + (loop.block + settle) * _SIDES * (rounds + 1)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        numbers = [str(value) for value in (steps, loop.warm, loop.block, settle, rounds)]
        script = [str(WORKLOADS_FOLDER / "marker_parts.py"), str(WORKLOADS_FOLDER / f"{loop.script}.py")]
        done = subprocess.run(
            [*PROFILERS["tfperf all"], *script, *numbers],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            check=False,
            timeout=_TIMEOUT_S,
        )
    found = re.search(r"PARTS (.+)", done.stdout)
    if found is None:
        raise SystemExit(f"{name}: no result in {(done.stdout + done.stderr)[-1000:]}")
    taken: dict[str, list[tuple[float, float, float]]] = json.loads(found[1])
    return taken


def row(name: str) -> str:
    """Of one loop, as Markdown."""
    taken = measured(name)
    off = [seconds for seconds, _, _ in taken["off"]]
    ratios = [words([a[0] / b for a, b in zip(taken[side], off, strict=False)]) for side in ("same", "walk", "known")]
    hooks = [statistics.median(cost for _, cost, _ in taken[side]) / 1e3 for side in ("walk", "known")]
    parts = [
        statistics.median(part for _, _, part in taken[side]) / 1e3
        for side in ("walk timed", "site timed", "eager timed")
    ]
    cells = [
        f"{statistics.median(off) / LOOPS[name].block * 1e3:.3g}",
        *ratios,
        *(f"{us:.1f}" for us in (*hooks, *parts)),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    heads = ("loop", "ms a step", "the same again", "walking", "recognised", "hooks, walking, µs", "hooks, recognised")
    heads += ("the walk", "the recognition", "asking whether it is eager")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name in sys.argv[1:] or ("tiny compiled step", "8 threads", "plain Python loop"):
        print(row(name), flush=True)


if __name__ == "__main__":
    main()
