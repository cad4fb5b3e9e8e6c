"""What tfperf costs once its windows are over, measured within one process: the same loop with its hooks and its
sampler and without them, in turn. Far less noise than between processes; see ``workloads/steady.py``."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.programs import PROFILERS, WORKLOADS_FOLDER
from benchmarks.ratios import words

_TIMEOUT_S = 900


class Loop(NamedTuple):
    """``warm`` steps and what the windows need, then ``rounds`` of five blocks of ``block`` steps."""

    script: str
    warm: int
    block: int
    rounds: int = 160
    stage: str = ""


LOOPS = {
    "empty tf.function": Loop("empty_function", 200_000, 500),
    "tiny compiled step": Loop("train_function", 20_000, 200),
    "eager Keras step": Loop("eager_loop", 800, 10),
    "plain Python loop": Loop("python_loop", 3000, 30),
    "1000 functions": Loop("many_functions", 60_000, 150),
    "8 threads": Loop("threads", 3000, 40, 120),
    "Keras fit": Loop("keras_fit", 2000, 30, 80),
    "GAN cached": Loop("gan_steps", 20, 1, 40, "cached"),
    "GAN graph": Loop("gan_steps", 130, 3, 50, "graph"),
    "GAN shared": Loop("gan_steps", 130, 3, 50, "shared"),
}


def blocks(name: str) -> dict[str, list[float]]:
    """Seconds of the blocks of each side, of one run; none when it failed."""
    loop = LOOPS[name]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3", "GAN_STAGE": loop.stage}
        settle = max(loop.block // 10, 1)
        steps = 2 * loop.warm + (loop.block + settle) * 5 * (loop.rounds + 1)
        script = str(WORKLOADS_FOLDER / f"{loop.script}.py")
        numbers = [str(value) for value in (steps, loop.warm, loop.block, settle, loop.rounds)]
        done = subprocess.run(
            [*PROFILERS["tfperf all"], str(WORKLOADS_FOLDER / "steady.py"), script, *numbers],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            check=False,
            timeout=_TIMEOUT_S,
        )
    found = re.search(r"STEADY (.+)", done.stdout)
    if found is None:
        print(f"{name}: no result in {(done.stdout + done.stderr)[-1000:]}", file=sys.stderr)
        return {}
    taken: dict[str, list[float]] = json.loads(found[1])
    return taken


def row(name: str) -> str:
    """Of one loop, as Markdown: milliseconds of a step, then the ratios of each side's blocks to those without."""
    taken = blocks(name)
    if not taken:
        return f"| {name} | failed | – | – | – | – |"
    off = taken.pop("off")
    cells = [words([a / b for a, b in zip(side, off, strict=False)]) for side in taken.values()]
    return f"| {name} | {statistics.median(off) / LOOPS[name].block * 1e3:.3g} | {' | '.join(cells)} |"


def report(names: Sequence[str]) -> str:
    """The table."""
    heads = ("loop", "ms a step", "the same again", "hooks by Python", "hooks", "hooks and sampler")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in names:
        lines.append(row(name))
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)
