"""Runs ``examples/gan/train.py`` as users do: in a process of its own, most of them forks of one (see ``warm``).

The networks and steps are those of a real run; only the drawn data set and the
number of steps are smaller.  No test looks at a time.
"""

from __future__ import annotations

import csv
import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from warm import WarmPython
from warm_run import warm_tfperf

GAN = Path(__file__).parents[2] / "examples" / "gan"
TRAIN = GAN / "train.py"
DIGITS = 2000
STEP = re.compile(
    r"^step +(?P<step>\d+)  G loss (?P<g>\d+\.\d{3})  D loss (?P<d>\d+\.\d{3})"
    r"  step_time \d+\.\d{3} s  \d+ img/s$",
    re.MULTILINE,
)


def offline(cache: Path) -> dict[str, str]:
    """The environment of a run on the CPU, without network."""
    return {
        **os.environ,
        "TFPERFKIT_GAN_CACHE": str(cache),
        "KERAS_HOME": str(cache / "keras"),
        "CUDA_VISIBLE_DEVICES": "",
        # A proxy where nothing listens: --data mnist must not reach the network.
        "https_proxy": "http://127.0.0.1:9",
    }


def run(*arguments: str | Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Runs train.py to its end, in a process of its own from the start."""
    environment = offline(cache)
    command = [sys.executable, str(TRAIN), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def losses(out: Path) -> list[tuple[str, str]]:
    """The losses of each step as written, in full precision."""
    with (out / "losses.csv").open() as file:
        return [(row["generator_loss"], row["discriminator_loss"]) for row in csv.DictReader(file)]


def png_size(path: Path) -> tuple[int, int]:
    """Width and height of a grey 8-bit PNG, after unpacking all of its pixels."""
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, colour = struct.unpack(">IIBB", content[16:26])
    assert (depth, colour) == (8, 0)
    position, packed = 8, b""
    while position < len(content):
        length, kind = struct.unpack(">I4s", content[position : position + 8])
        if kind == b"IDAT":
            packed += content[position + 8 : position + 8 + length]
        position += length + 12
    assert len(zlib.decompress(packed)) == height * (width + 1)
    return width, height


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory for the drawn digits that all tests of a session share."""
    return tmp_path_factory.mktemp("gan-cache")


@pytest.fixture(scope="module")
def warm(cache: Path) -> WarmPython:
    return WarmPython(TRAIN, offline(cache))


def forked(warm: WarmPython, *arguments: str | Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Runs train.py to its end."""
    done = warm.run([str(item) for item in arguments], environment=offline(cache), folder=cache)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


#: ``graph`` and ``shared`` are run by the other tests, and under tfperf by ``test_graphlines.py``.
LONG = [pytest.param(stage, marks=pytest.mark.long) for stage in ("graph", "shared", "cached", "batch", "mixed")]


@pytest.mark.parametrize("stage", ["naive", "xla", *LONG])
def test_each_stage_trains_and_writes_its_results(stage: str, cache: Path, warm: WarmPython, tmp_path: Path) -> None:
    options = ("--stage", stage, "--steps", "3", "--batch-size", "16", "--digits", str(DIGITS), "--out", tmp_path)
    done = forked(warm, *options, cache=cache)
    assert done.returncode == 0, done.stderr
    steps = list(STEP.finditer(done.stdout))
    assert [int(step["step"]) for step in steps] == [1, 2, 3]
    written = losses(tmp_path)
    assert [(step["g"], step["d"]) for step in steps] == [(f"{float(g):.3f}", f"{float(d):.3f}") for g, d in written]
    assert all(0.0 < float(loss) < 10.0 for pair in written for loss in pair)
    assert png_size(tmp_path / "samples.png") == (768, 512)
    assert (tmp_path / "generator.weights.h5").stat().st_size > 1_000_000
    assert "retracing" not in done.stderr


@pytest.mark.parametrize(
    ("stage", "runs"),
    [
        pytest.param("naive", {"first": "3", "second": "3"}, marks=pytest.mark.long),
        ("graph", {"first": "3", "second": "3", "other": "4"}),
    ],
)
def test_equal_seeds_give_equal_losses(
    stage: str, runs: dict[str, str], cache: Path, warm: WarmPython, tmp_path: Path
) -> None:
    for name, seed in runs.items():
        size = ("--batch-size", "16", "--digits", str(DIGITS))
        options = ("--stage", stage, "--steps", "4", "--seed", seed, *size, "--out", tmp_path / name)
        # Forks hash alike; one that does not is among the equal ones.
        done = run(*options, cache=cache) if name == "second" else forked(warm, *options, cache=cache)
        assert done.returncode == 0, done.stderr
    assert losses(tmp_path / "first") == losses(tmp_path / "second")
    if "other" in runs:
        assert losses(tmp_path / "first") != losses(tmp_path / "other")


def test_a_damaged_cache_file_is_drawn_again_and_log_every_thins_the_log(warm: WarmPython, tmp_path: Path) -> None:
    damaged = tmp_path / "digits-600-v1.npz"
    damaged.write_bytes(b"PK\x03\x04 cut short")
    options = ("--stage", "cached", "--steps", "5", "--batch-size", "8", "--digits", "600", "--log-every", "2")
    done = forked(warm, *options, "--out", tmp_path / "out", cache=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "is damaged" in done.stdout
    assert [int(step["step"]) for step in STEP.finditer(done.stdout)] == [2, 4, 5]
    # The same layout as Keras' mnist.npz, and no unfinished file next to it.
    with np.load(damaged) as arrays:
        assert {name: (arrays[name].shape, arrays[name].dtype.name) for name in arrays.files} == {
            "x_train": ((600, 28, 28), "uint8"),
            "y_train": ((600,), "uint8"),
            "x_test": ((100, 28, 28), "uint8"),
            "y_test": ((100,), "uint8"),
        }
    assert [path.name for path in tmp_path.glob("*.npz")] == [damaged.name]
    # It can be given back as --data.
    options = ("--stage", "cached", "--steps", "1", "--batch-size", "8", "--data", damaged)
    again = forked(warm, *options, "--out", tmp_path / "out", cache=tmp_path)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("data", ["mnist", "no-such-file.npz"])
def test_data_that_cannot_be_had_is_one_line_on_stderr(data: str, warm: WarmPython, tmp_path: Path) -> None:
    done = forked(warm, "--data", data, "--out", tmp_path / "out", cache=tmp_path)
    assert done.returncode == 2
    reported = [line for line in done.stderr.splitlines() if line.startswith("train.py: error:")]
    assert len(reported) == 1
    assert "cannot be loaded" in reported[0]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [("--stage", "fast"), ("--steps", "0"), ("--batch-size", "many"), ("--seed", "-1")]
)
def test_arguments_are_checked_before_tensorflow_is_imported(arguments: tuple[str, ...], tmp_path: Path) -> None:
    code = (
        "import sys, runpy; sys.argv = sys.argv[1:]\n"
        "try: runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "except SystemExit as exit: print(exit.code, 'tensorflow' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(TRAIN), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(GAN)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=200, check=False
    )
    assert done.stdout.split() == ["2", "False"]
    assert f"argument {arguments[0]}" in done.stderr


@pytest.mark.parametrize("strategy", ["mirrored", "central"])
def test_two_logical_devices(strategy: str, tmp_path: Path, cache: Path, warm: WarmPython) -> None:
    out = tmp_path / strategy
    arguments = ("--stage", "shared", "--steps", "3", "--digits", str(DIGITS), "--out", out, "--strategy", strategy)
    done = forked(warm, *arguments, cache=cache)
    assert done.returncode == 0, done.stderr
    assert "2 replicas, 32 digits each" in done.stdout
    made = losses(out)
    assert len(made) == 3 and all(np.isfinite([float(value) for value in row]).all() for row in made)
    assert png_size(out / "samples.png")[0] > 0


@pytest.mark.long
def test_two_workers(tmp_path: Path, cache: Path) -> None:
    out, runs = tmp_path / "results", tmp_path / "runs"
    words = ["--stage", "shared", "--steps", "3", "--batch-size", "16", "--digits", str(DIGITS), "--out", str(out)]
    tfperf, environment = warm_tfperf(offline(cache))
    done = subprocess.run(
        [*tfperf, "launch", "-n", "2", "--run-dir", str(runs), str(TRAIN), *words, "--strategy", "multiworker"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert losses(out) == losses(out / "worker-1")  # the means over both
    assert {path.name for path in runs.iterdir() if path.is_dir()} == {"rank-0000", "rank-0001"}


def test_a_strategy_needs_a_compiled_step(cache: Path) -> None:
    done = run("--strategy", "mirrored", cache=cache)
    assert done.returncode == 2 and "--strategy needs --stage graph, batch or shared" in done.stderr
