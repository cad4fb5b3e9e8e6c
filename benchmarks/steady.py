"""The cost of tfperf once its windows are over, measured within one process: the same loop with its hooks and its
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

#: In watch mode, where a sample is taken each second: blocks of a second and more.
WATCH_LOOPS = {
    "tiny compiled step": Loop("train_function", 5000, 8000, 30),
    "compiled step of 5 ms": Loop("dense_step", 200, 200, 30),
    "eager Keras step": Loop("eager_loop", 100, 100, 30),
    "GAN graph": Loop("gan_steps", 20, 20, 20, "graph"),
    "GAN cached": Loop("gan_steps", 5, 4, 20, "cached"),
}
_HEADS = {
    "same": "the same again",
    "python": "hooks by Python",
    "hooks": "hooks",
    "on": "hooks and sampler",
    "young": "watched, first ten minutes",
    "old": "watched, then",
}


def blocks(loop: Loop, *, watch: bool = False) -> dict[str, list[float]]:
    """Seconds of the blocks of each side, of one run; none when it failed."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": folder, "TF_CPP_MIN_LOG_LEVEL": "3", "GAN_STAGE": loop.stage}
        settle = max(loop.block // 10, 1)
        steps = 2 * loop.warm + (loop.block + settle) * 5 * (loop.rounds + 1)
        script = str(WORKLOADS_FOLDER / f"{loop.script}.py")
        numbers = [str(value) for value in (steps, loop.warm, loop.block, settle, loop.rounds)]
        profiler = [*PROFILERS["tfperf all"], *(["--long-run"] if watch else [])]
        done = subprocess.run(
            [*profiler, str(WORKLOADS_FOLDER / "steady.py"), script, *numbers, *(["watch"] if watch else [])],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            check=False,
            timeout=_TIMEOUT_S,
        )
    found = re.search(r"STEADY (.+)", done.stdout)
    if found is None:
        print(f"{loop.script}: no result in {(done.stdout + done.stderr)[-1000:]}", file=sys.stderr)
        return {}
    taken: dict[str, list[float]] = json.loads(found[1])
    return taken


def row(name: str, loop: Loop, *, watch: bool = False) -> str:
    """Of one loop, as Markdown: milliseconds of a step, then the ratios of each side's blocks to those without."""
    taken = blocks(loop, watch=watch)
    if not taken:
        return f"| {name} | failed | – | – | – | – |"
    off = taken.pop("off")
    cells = [words([a / b for a, b in zip(side, off, strict=False)]) for side in taken.values()]
    return f"| {name} | {statistics.median(off) / loop.block * 1e3:.3g} | {' | '.join(cells)} |"


def report(names: Sequence[str], *, watch: bool = False, rounds: int | None = None) -> str:
    """The table. ``rounds``: of blocks, instead of each loop's own."""
    sides = ("same", "hooks", "young", "old") if watch else ("same", "python", "hooks", "on")
    heads = ("loop", "ms a step", *(_HEADS[side] for side in sides))
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in names:
        loop = (WATCH_LOOPS if watch else LOOPS)[name]
        lines.append(row(name, loop._replace(rounds=rounds or loop.rounds), watch=watch))
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)
