"""Settings, each with its origin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfperfkit.config import NAMES, Setting, find_run, resolve, runs_folder, variable
from tfperfkit.errors import UsageError

NOTHING: dict[str, str | None] = dict.fromkeys(NAMES)


def test_defaults(tmp_path: Path) -> None:
    settings = resolve(NOTHING, tmp_path, {})
    assert settings["probes"] == Setting("default")
    assert {name for name, setting in settings.items() if setting.value is None} == set(NAMES) - {"probes"}


def test_order(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tfperf]\nprobes = "a"\nlines = "b"\nsteps-from = "c"\n')
    environment = {"TFPERF_LINES": "d", "TFPERF_STEPS_FROM": "e", "TFPERF_PROBES": ""}
    settings = resolve({**NOTHING, "steps-from": "f"}, tmp_path, environment)
    assert settings["probes"] == Setting("a", "[tool.tfperf] in pyproject.toml")
    assert settings["lines"] == Setting("d", "TFPERF_LINES")
    assert settings["steps-from"] == Setting("f", "command line")


def test_the_nearest_pyproject_counts_and_its_paths_are_its_own(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.tfperf]\njson = "top.json"\n')
    (tmp_path / "a" / "pyproject.toml").write_text(
        '[tool.tfperf]\nprobes = ["x", "y"]\nout = "runs/one"\noutput = "/r.txt"\n'
    )
    settings = resolve(NOTHING, deep, {})
    assert settings["json"].value is None
    assert settings["probes"].value == "x,y"
    assert settings["out"].value == str(tmp_path / "a" / "runs" / "one")
    assert settings["output"].value == "/r.txt"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.tfperf]\nprobs = 1", "no setting 'probs'; known are probes"),
        ("[tool.tfperf]\nprobes = 1", "takes a text or a list of texts, not 1"),
        ("[tool.tfperf]\nprobes = [1]", "takes a text or a list of texts"),
        ("[tool.tfperf\n", "pyproject.toml"),
    ],
)
def test_mistakes_name_the_file(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        resolve(NOTHING, tmp_path, {})
    assert says in str(caught.value)
    assert str(tmp_path / "pyproject.toml") in str(caught.value)


@pytest.mark.parametrize(
    "data", [b"[broken", b"\xff\xfe tool.tfperf", b"[tool.other]\nprobes = 3\n", b"tool = 'tool.tfperf'"]
)
def test_files_that_say_nothing_to_us(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "pyproject.toml").write_bytes(data)
    assert resolve(NOTHING, tmp_path, {})["probes"] == Setting("default")


def test_variable() -> None:
    assert variable("steps-from") == "TFPERF_STEPS_FROM"


def test_runs_folder(tmp_path: Path) -> None:
    assert runs_folder({"TFPERF_RUNS": str(tmp_path)}) == tmp_path
    assert runs_folder({}).name == "runs"
    assert runs_folder({}).is_absolute()


def test_find_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"TFPERF_RUNS": str(tmp_path / "runs")}
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no run in"):
        find_run("last", environment)
    for age, name in enumerate(("newest", "older", "oldest")):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text("{}")
        os.utime(folder / "run.json", (1000 - age, 1000 - age))
    (tmp_path / "runs" / "not a run").mkdir()
    assert find_run("last", environment) == tmp_path / "runs" / "newest"
    assert find_run("older", environment) == tmp_path / "runs" / "older"
    assert find_run("some/where", environment) == Path("some/where")
    assert find_run("nosuch", environment) == Path("nosuch")
    (tmp_path / "older").mkdir()
    assert find_run("older", environment) == Path("older")
