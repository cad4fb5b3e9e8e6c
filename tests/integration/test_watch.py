"""``tfperfkit.watch`` as a decorator, as a context manager, nested, repeated, in a cell, in a REPL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf

from tfperfkit import watch
from tfperfkit.errors import UsageError

WHOLES = ("whole", "whole-2")


@pytest.fixture(scope="module")
def uses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    script = Path(__file__).with_name("watch_uses.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path_factory.mktemp("watch"))],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return results


def test_tensorflow_may_be_imported_inside(uses: dict[str, Any]) -> None:
    result = uses["tensorflow_imported_inside"]
    assert (result["steps"], result["status"], result["probes"]) == (6, "finished", ["retrace"])
    assert "6 steps" in result["said"]


def test_decorator_without_arguments_keeps_name_and_result_and_reports(uses: dict[str, Any]) -> None:
    assert uses["decorated"]["result"] == "trained"
    assert uses["decorated"]["name"] == "train"
    assert "· 7 steps, " in uses["decorated"]["said"].splitlines()[0]


def test_each_outermost_call_is_a_run_and_steps_bounds_it(uses: dict[str, Any]) -> None:
    assert uses["decorated_twice"]["folders"] == ["again", "again-2"]
    assert uses["decorated_twice"]["said"].count("5 steps") == 2


def test_a_watch_inside_another_belongs_to_it(uses: dict[str, Any]) -> None:
    assert (uses["inner"]["nested"], uses["inner"]["steps"], uses["inner"]["findings"]) == (True, None, 0)
    assert uses["inner_folder"] is False
    assert (uses["outer"]["nested"], uses["outer"]["steps"]) == (False, 7)
    assert uses["outer"]["said"].count("tfperf · ") == 1


def test_an_exception_passes_through_and_the_report_comes(uses: dict[str, Any]) -> None:
    assert uses["same_exception"] is True
    assert (uses["failing"]["steps"], uses["failing"]["status"]) == (2, "failed")
    assert "2 steps" in uses["failing"]["said"]


def test_a_notebook_cell(uses: dict[str, Any]) -> None:
    assert uses["notebook_cell"]["steps"] == 8
    assert uses["cell_definition"] == "an iteration of the loop at <ipython-input-3-abc>:1"


def test_of_several_processes_each_writes_a_part(tmp_path: Path) -> None:
    """Told by the program or by a launcher; a second watch is another run of all of them."""
    code = "import sys, tfperfkit\nfor _ in range(2):\n    with tfperfkit.watch(run_dir='whole', rank={}): pass\n"
    for text, environment in (("(0, 2)", {}), ("None", {"RANK": "1", "WORLD_SIZE": "2"})):
        words = [sys.executable, "-c", code.format(text)]
        done = subprocess.run(
            words, cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stderr
        rank = f"rank-000{1 if environment else 0}"
        said = [f"tfperf: {rank} is recorded; all of them: tfperf report {tmp_path / name}" for name in WHOLES]
        assert done.stderr.splitlines() == said
    for name in WHOLES:
        made = sorted(item.name for item in (tmp_path / name).iterdir())
        assert made == ["rank-0000", "rank-0000.txt", "rank-0001", "rank-0001.txt"]


def test_a_rank_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="rank from 0"):
        watch(rank=(2, 2))


def test_mistakes_are_reported_in_one_line(uses: dict[str, Any]) -> None:
    assert uses["unknown_probe"].startswith("UsageError: no probe named 'lnes'; did you mean 'lines'?")
    assert uses["no_steps"] == "UsageError: watch(steps=...) takes a number from 1 up, not 0"


def test_nothing_of_ours_stays_behind(uses: dict[str, Any]) -> None:
    module = "tensorflow.python.eager.polymorphic_function.tracing_compilation"
    assert uses["restored"] == ["function", "function", module]


def test_in_a_repl(tmp_path: Path) -> None:
    typed = (
        "import tensorflow as tf, tfperfkit\n"
        "w = tf.Variable([1.0])\n"
        "opt = tf.keras.optimizers.SGD(0.1)\n"
        f"with tfperfkit.watch(probes='none', run_dir={str(tmp_path / 'r')!r}) as run:\n"
        "    for _ in range(5):\n"
        "        opt.apply([w * 2.0], [w])\n"
        "\n"
        "print('counted', run.report.steps.count)\n"
    )
    done = subprocess.run(
        [sys.executable, "-i", "-q"], input=typed, capture_output=True, text=True, timeout=100, check=False
    )
    assert "counted 5" in done.stdout, done.stderr[-2000:]
    assert "5 steps" in done.stderr


STEPS_FROM = """
import tensorflow as tf

x, weights = tf.ones([4, 8]), tf.ones([8, 8])

def model(x):
    return tf.matmul(x, weights)

class Worker:
    def work(self):
        return model(x)

@tf.function
def compiled(x):
    return x * 2

class Handed:
    def work(self, x):
        return self.step(x)

    def step(self, x):
        return model(x)

import time; time.sleep(0.2)
work = Handed().work  # as one hands it to scipy.optimize.minimize
for _ in range(20):
    Worker().work()
    work(x)
    compiled(x)
    compiled(x)
print(Worker.work.__name__)
"""


@pytest.mark.parametrize(("name", "count"), [("Worker.work", 20), ("compiled", 40), ("Handed.work", 20), ("step", 20)])
def test_steps_from_a_function_that_trains_nothing(tmp_path: Path, name: str, count: int) -> None:
    tfperf = Tfperf(tmp_path, warm=True)
    script = tfperf.script(STEPS_FROM, "infer.py")
    done = tfperf("run", "--probes", "none", "--steps-from", name, "--run-dir", "r", "--json", "r.json", script)
    assert (done.returncode, done.stdout) == (0, "work\n"), done.stderr[-2000:]
    steps = json.loads((tmp_path / "r.json").read_text())["steps"]
    # A function is looked for a hundred times a second: of one that is called right after its definition, the first
    # call may come too early.
    assert count - 1 <= steps["count"] <= count and steps["source"] == "function"
    assert steps["definition"] == f"a call of {name}"
