"""``tfperf doctor``: here, without TensorFlow, with broken things."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf

from tfperfkit.doctor.command import check_folder
from tfperfkit.doctor.packages import check_packages
from tfperfkit.doctor.runtime import check_gpu, check_runtime, gpu_in_machine
from tfperfkit.doctor.tensorboard import check_tensorboard
from tfperfkit.storage.machine_limits import MACHINE_COSTS, load

GOOD = {
    "tensorflow": "2.21.0",
    "keras": "3.15.1",
    "protobuf": "7.36.2",
    "setuptools": "65.5.0",
    "line_profiler": "5.1.0",
    "tensorboard": "2.21.0",
    "xprof": "2.24.2",
}


def status(checks: list[Any]) -> dict[str, str]:
    return {check.name: check.status for check in checks}


def test_this_environment_is_sound_and_a_capture_is_really_made(tfperf: Tfperf) -> None:
    done = tfperf("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith(("ok", "note"))]
    words = " | ".join(row[1] for row in rows)
    for name in (
        "Python",
        "TensorFlow",
        "Keras",
        "protobuf",
        "setuptools",
        "line_profiler",
        "xprof",
        "TensorBoard",
        "GPU libraries",
        "runs folder",
        "TF Profiler",
    ):
        assert name in words
    assert "a capture of two steps gave" in words and str(tfperf.runs) in words
    assert "Nothing is broken." in done.stdout
    assert [path.name for path in tfperf.runs.iterdir()] == [".limits"]
    (limits,) = load(tfperf.runs / ".limits" / "machine.json").values()
    assert {"dispatch_ms", "call_ms"} <= set(limits.costs) <= set(MACHINE_COSTS)
    assert "of a compiled function; predictions use these" in words


def test_without_tensorflow(tfperf: Tfperf) -> None:
    """Use an interpreter that sees our package and its dependencies, but no TensorFlow."""
    hide = tfperf.script(
        "import importlib.metadata as m, sys\n"
        "real = m.version\n"
        "def version(name):\n"
        "    if name.startswith(('tensorflow', 'tensorboard', 'xprof', 'keras')): raise m.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "m.version = version\n"
        "sys.modules['tensorflow'] = None\n"
        "import tfperfkit.cli\n"
        "tfperfkit.cli.main(['doctor'])\n",
        "doctor.py",
    )
    import subprocess

    environment = {k: v for k, v in tfperf.environment.items() if k not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    done = subprocess.run(
        [sys.executable, str(hide)], env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 1 and done.stderr == ""
    assert "broken   TensorFlow         not installed\n" in done.stdout
    assert "-> pip install 'tfperfkit[tensorflow]'" in done.stdout
    assert "missing  TensorBoard        not installed" in done.stdout
    assert "not tried without TensorFlow" in done.stdout
    assert done.stdout.endswith("broken: TensorFlow\n")


@pytest.mark.parametrize(
    ("source", "word"),
    [("raise ImportError('libwhatever.so.1: no such file')", "libwhatever.so.1"), ("import os; os.abort()", "SIGABRT")],
)
def test_a_tensorflow_that_breaks_is_a_row(tfperf: Tfperf, source: str, word: str) -> None:
    folder = tfperf.script(source, "broken/tensorflow/__init__.py").parent.parent
    done = tfperf("doctor", env={"PYTHONPATH": str(folder)})
    assert done.returncode == 1 and done.stderr == ""
    row = next(line for line in done.stdout.splitlines() if "import tensorflow" in line)
    assert row.startswith("broken") and word in row
    assert "broken: import tensorflow" in done.stdout


def test_a_runs_folder_that_cannot_be_written_is_a_row(tfperf: Tfperf, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    found = check_folder(file / "runs")
    assert found.status == "broken" and "Not a directory" in found.found and "--run-dir" in found.advice
    assert check_folder(tmp_path / "new" / "runs").status == "ok"


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"tensorflow": None}, {"TensorFlow"}),
        ({"tensorflow": "2.15.1"}, {"TensorFlow"}),
        ({"tensorflow": None, "tensorflow-cpu": "2.20.0"}, set()),
        ({"protobuf": "3.19.6"}, {"protobuf"}),
        ({"protobuf": None}, {"protobuf"}),
        ({"line_profiler": "4.1.0"}, {"line_profiler"}),
        ({"keras": None}, set()),
    ],
)
def test_package_rows(change: dict[str, str | None], broken: set[str]) -> None:
    rows = check_packages({**GOOD, **change}.get)
    assert {row.name for row in rows if row.status == "broken"} == broken
    assert all(row.advice for row in rows if row.status != "ok")


def test_without_the_c_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tfperfkit.instruments.steps._quiet", None)
    row = check_packages(GOOD.get)[-1]
    assert (row.name, row.status) == ("C code", "missing") and "Python does its work" in row.found


def test_versions_that_go_together_badly(monkeypatch: pytest.MonkeyPatch) -> None:
    from tfperfkit.doctor import tensorboard

    assert set(status(check_tensorboard(GOOD.get)).values()) == {"ok"}
    for there, version in ((True, "81.0.0"), (False, "84.2.1")):
        monkeypatch.setattr(tensorboard, "_has_pkg_resources", lambda there=there: there)
        old = {**GOOD, "tensorboard": "2.20.0", "setuptools": version}
        assert status(check_packages(old.get))["setuptools"] == ("ok" if there else "broken")
        board = check_tensorboard(old.get)[0]
        assert board.status == ("ok" if there else "broken") and ("setuptools<81" in board.advice) == (not there)
    plugin = check_tensorboard({"tensorboard": "2.21.0", "tensorboard-plugin-profile": "2.17.0"}.get)[1]
    assert plugin.status == "broken" and "uninstall tensorboard-plugin-profile" in plugin.advice
    monkeypatch.setattr(tensorboard, "profile_plugin", lambda: None)
    assert check_tensorboard(GOOD.get)[1].status == "broken"


def test_a_gpu_that_tensorflow_could_not_register_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (tmp_path / "nvidia0").touch()
    assert gpu_in_machine(tmp_path, tmp_path) == "NVIDIA"
    assert gpu_in_machine(tmp_path / "none", tmp_path) is None
    assert check_gpu({}, None).status == "ok"
    assert check_gpu({"gpus": ["/physical_device:GPU:0"]}, "NVIDIA").status == "ok"
    wrong = check_gpu({"gpus": [], "cuda_build": False}, "NVIDIA")
    assert wrong.status == "broken" and "tensorflow[and-cuda]" in wrong.advice
    log = "Cannot dlopen some GPU libraries. libcudnn.so.9"
    missing = check_gpu({"gpus": [], "cuda_build": True, "cuda": "12.5", "cudnn": "9", "gpu_log": [log]}, "NVIDIA")
    assert missing.status == "broken" and "libcudnn.so.9" in missing.found and "CUDA 12.5, cuDNN 9" in missing.advice
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert check_gpu({"gpus": []}, "NVIDIA").status == "note"


def test_a_capture_that_writes_nothing_is_broken() -> None:
    rows = check_runtime({"version": "2.21.0", "capture": {"bytes": 0}}, "", None)
    assert status(rows)["TF Profiler"] == "broken"
    rows = check_runtime({"version": "2.21.0", "keras_error": "ImportError: x\x1b[2J"}, "it broke", None)
    assert status(rows) == {
        "import tensorflow": "ok",
        "import keras": "broken",
        "GPU libraries": "ok",
        "TF Profiler": "broken",
    }
    assert "\x1b" not in rows[1].found
