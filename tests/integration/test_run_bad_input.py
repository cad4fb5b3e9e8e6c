"""Each mistake gives one clear line, status 2, and is found before the training starts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tfperf_runner import Tfperf


@pytest.fixture
def marker(tfperf: Tfperf) -> Path:
    """Return a file that the script writes: proof that it ran."""
    tfperf.script("open('ran', 'w').close()\n")
    return tfperf.folder / "ran"


def test_no_script(tfperf: Tfperf) -> None:
    assert "no script given" in tfperf.refuses("run", "--probes", "none", "--")


def test_no_such_script_and_the_nearest_name(tfperf: Tfperf, marker: Path) -> None:
    line = tfperf.refuses("run", "trian.py")
    assert "no such script: trian.py; did you mean train.py?" in line


def test_a_folder(tfperf: Tfperf) -> None:
    (tfperf.folder / "sub").mkdir()
    assert "sub is a folder without a __main__.py" in tfperf.refuses("run", "sub")


def test_standard_input(tfperf: Tfperf) -> None:
    assert "save it to a file" in tfperf.refuses("run", "-")


def test_unknown_probe_and_the_nearest_name(tfperf: Tfperf, marker: Path) -> None:
    assert "no probe named 'retrce'; did you mean 'retrace'?" in tfperf.refuses("run", "--probes", "retrce", "train.py")
    assert not marker.exists()


def test_unknown_option_before_the_script(tfperf: Tfperf, marker: Path) -> None:
    assert "no option --prob; did you mean --probes?" in tfperf.refuses("run", "--prob", "lines", "train.py")
    assert not marker.exists()


def test_option_without_its_value_may_be_the_scripts(tfperf: Tfperf, marker: Path) -> None:
    assert "if it is the script's: train.py -- --json" in tfperf.refuses("run", "train.py", "--json")
    assert "-m train -- --run-dir" in tfperf.refuses("run", "-m", "train", "--run-dir")
    assert not marker.exists()


@pytest.mark.parametrize("window", ["lines", "lines=0:3", "lines=x", "nosuch=1:2", "lines=3:0"])
def test_window_that_can_not_be(tfperf: Tfperf, marker: Path, window: str) -> None:
    assert window.partition("=")[0] in tfperf.refuses("run", "--window", window, "train.py")
    assert not marker.exists()


def test_an_option_of_a_probe_that_does_not_run(tfperf: Tfperf, marker: Path) -> None:
    line = tfperf.refuses("run", "--probes", "memory", "--ops-xla", "train.py")
    assert "--ops-xla: probe 'ops' is not among the selected ones (memory)" in line
    assert not marker.exists()


@pytest.mark.parametrize("option", ["--run-dir", "--json", "--output"])
def test_unwritable_targets_are_refused_before_training(tfperf: Tfperf, marker: Path, option: str) -> None:
    line = tfperf.refuses("run", option, str(tfperf.folder / "train.py" / "x"), "train.py")
    assert "can't write" in line
    assert not marker.exists()


def test_unwritable_runs_folder(tfperf: Tfperf, marker: Path) -> None:
    line = tfperf.refuses("run", "train.py", env={"TFPERF_RUNS": str(tfperf.folder / "train.py" / "x")})
    assert "--run-dir" in line
    assert not marker.exists()


def test_a_folder_for_a_file(tfperf: Tfperf, marker: Path) -> None:
    assert "is a folder" in tfperf.refuses("run", "--json", ".", "train.py")


def test_json_to_the_scripts_stdout_is_refused(tfperf: Tfperf, marker: Path) -> None:
    assert "standard output is the script's" in tfperf.refuses("run", "--json", "-", "train.py")
    assert "--format markdown: standard output is" in tfperf.refuses("run", "--format", "markdown", "train.py")
    assert "give a --format for each -o" in tfperf.refuses("run", "-o", "a", "-o", "b", "train.py")
    assert not (tfperf.folder / "-").exists()


def test_a_folder_that_holds_a_run_already(tfperf: Tfperf, marker: Path) -> None:
    assert tfperf("run", "--run-dir", "r", "train.py").returncode == 0
    before = (tfperf.folder / "r" / "run.json").read_bytes()
    assert "already holds a run" in tfperf.refuses("run", "--run-dir", "r", "train.py")
    assert (tfperf.folder / "r" / "run.json").read_bytes() == before


def test_a_full_disk_before_training(tfperf: Tfperf, marker: Path) -> None:
    small = tfperf.folder / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount a file system")
    try:
        (small / "filler").write_bytes(b"x" * 12_000)
        assert "No space left" in tfperf.refuses("run", "--run-dir", "small/r", "train.py")
        assert not marker.exists()
    finally:
        subprocess.run(["umount", small], check=True)


def test_bad_configuration_names_its_place(tfperf: Tfperf, marker: Path) -> None:
    (tfperf.folder / "pyproject.toml").write_text('[tool.tfperf]\nprobs = "lines"\n')
    assert "pyproject.toml: [tool.tfperf] has no setting 'probs'" in tfperf.refuses("run", "train.py")
    (tfperf.folder / "pyproject.toml").write_text('[tool.tfperf]\nprobes = ["lines", "nosuch"]\n')
    assert "(set by [tool.tfperf] in pyproject.toml)" in tfperf.refuses("run", "train.py")
    assert "(set by TFPERF_PROBES)" in tfperf.refuses("run", "train.py", env={"TFPERF_PROBES": "nosuch"})
    (tfperf.folder / "pyproject.toml").write_text("[tool.tfperf\n")
    assert "pyproject.toml" in tfperf.refuses("run", "train.py")
    assert not marker.exists()


def test_unknown_command(tfperf: Tfperf) -> None:
    assert "No such command" in tfperf.refuses("rnu", "train.py")


# --- tfperf report ----------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(tfperf: Tfperf, marker: Path) -> Path:
    assert tfperf("run", "--probes", "none", "--run-dir", "r", "train.py").returncode == 0
    return tfperf.folder / "r"


def test_report_of_nothing(tfperf: Tfperf) -> None:
    assert "no such run: nosuch" in tfperf.refuses("report", "nosuch")
    assert "no run in" in tfperf.refuses("report", "last")


def test_report_of_what_is_not_ours(tfperf: Tfperf, recorded: Path) -> None:
    assert "not a run directory of tfperf" in tfperf.refuses("report", ".")
    assert "train.py is no trace that tfperf knows" in tfperf.refuses("report", "train.py")
    (recorded / "run.json").write_text('{"name": "something else"}')
    assert "not a run directory of tfperf" in tfperf.refuses("report", "r")


def test_report_of_another_schema(tfperf: Tfperf, recorded: Path) -> None:
    manifest = json.loads((recorded / "run.json").read_text())
    (recorded / "run.json").write_text(json.dumps({**manifest, "tfperfkit_run": 99}))
    line = tfperf.refuses("report", "r")
    assert "schema 99" in line and "use the version of tfperfkit" in line


@pytest.mark.parametrize("text", ["", "{", '{"tfperfkit_run": 1}', '{"tfperfkit_run": 1, "argv": 3}', "[[[[", "\x00"])
def test_report_of_a_damaged_manifest(tfperf: Tfperf, recorded: Path, text: str) -> None:
    (recorded / "run.json").write_text(text)
    line = tfperf.refuses("report", "r")
    assert "damaged" in line


def test_report_into_an_unwritable_file(tfperf: Tfperf, recorded: Path) -> None:
    for option in ("--json", "--output"):
        assert "can't write" in tfperf.refuses("report", "r", option, "nosuch/x")


def test_report_to_a_full_disk(tfperf: Tfperf, recorded: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        done = tfperf("report", "r", stdout=full)
    assert done.returncode == 2
    assert done.stderr == "tfperf: No space left on device\n"


def test_report_into_a_pipe_that_closes(tfperf: Tfperf, recorded: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = tfperf("report", "r", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
