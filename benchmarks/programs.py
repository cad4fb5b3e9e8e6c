"""Programs that are measured, and their profilers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tfperfkit_probes import DEFAULT

HERE = Path(__file__).parent
WORKLOADS_FOLDER = HERE / "workloads"
GAN = HERE.parent / "examples" / "gan" / "train.py"
PROBES = DEFAULT


def _own(name: str, steps: int) -> Sequence[str]:
    return [str(WORKLOADS_FOLDER / f"{name}.py"), str(steps)]


def _gan(stage: str, steps: int) -> Sequence[str]:
    return [str(GAN), "--stage", stage, "--steps", str(steps)]


#: Steps so that the loop takes some seconds here; but for the slow stages of the GAN, tfperf's windows are over before
#: its last two fifths.
WORKLOADS: dict[str, Sequence[str]] = {
    "empty tf.function": _own("empty_function", 20_000),
    "tiny compiled step": _own("train_function", 8000),
    "eager Keras step": _own("eager_loop", 500),
    "Keras fit": _own("keras_fit", 1000),
    "plain Python loop": _own("python_loop", 1200),
    "1000 functions": _own("many_functions", 20_000),
    "8 threads": _own("threads", 1500),
    "GAN naive": _gan("naive", 16),
    "GAN cached": _gan("cached", 40),
    "GAN graph": _gan("graph", 120),
    "GAN batch": _gan("batch", 12),
    "GAN xla": _gan("xla", 12),
    "GAN mixed": _gan("mixed", 12),
    "GAN shared": _gan("shared", 150),
}


def _tfperf(*options: str) -> Sequence[str]:
    return [sys.executable, "-m", "tfperfkit", "run", *options]


def _beside(program: str) -> str:
    """Return a program of this environment."""
    return str(Path(sys.executable).with_name(program))


PROFILERS: dict[str, Sequence[str]] = {
    "python": [sys.executable],
    "same again": [sys.executable],  # tells what of the other rows is noise
    "tfperf none": _tfperf("--probes", "none"),
    "tfperf all": _tfperf(),
    **{f"tfperf {probe}": _tfperf("--probes", probe) for probe in PROBES},
    "cProfile": [sys.executable, "-m", "cProfile", "-o", os.devnull],
    "kernprof -l -p": [sys.executable, "-m", "kernprof", "-l", "-o", os.devnull],
    "pyinstrument": [sys.executable, "-m", "pyinstrument", "-o", os.devnull],
    "Scalene": [sys.executable, "-m", "scalene", "run", "--cpu-only", "-o", "scalene.json"],
    "viztracer": [sys.executable, "-m", "viztracer", "--quiet", "-o", "viztracer.json"],
    # The first two look from outside the process, memray at allocations alone.
    "py-spy": [_beside("py-spy"), "record", "--format", "raw", "-o", os.devnull, "--", sys.executable],
    "Austin": [_beside("austin"), "-i", "10ms", "-o", os.devnull, sys.executable],
    "memray": [sys.executable, "-m", "memray", "run", "--quiet", "--force", "-o", "memray.bin"],
    "TF Profiler": [sys.executable, str(WORKLOADS_FOLDER / "with_tf_profiler.py")],
}


def command(profiler: str, workload: str) -> list[str]:
    """The command line of one run."""
    words, script = list(PROFILERS[profiler]), list(WORKLOADS[workload])
    if profiler.startswith("kernprof"):
        words += ["-p", script[0]]
    if profiler == "Scalene":
        script.insert(1, "---")  # what follows is the script's
    return [*words, *script]
