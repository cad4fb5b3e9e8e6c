"""Settings, each with its origin."""

from __future__ import annotations

import json
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
    (tmp_path / "pyproject.toml").write_text('[tool.tfperf]\nprobes = "a"\njson = "b"\nsteps-from = "c"\n')
    environment = {"TFPERF_JSON": "d", "TFPERF_STEPS_FROM": "e", "TFPERF_PROBES": ""}
    settings = resolve({**NOTHING, "steps-from": "f"}, tmp_path, environment)
    assert settings["probes"] == Setting("a", "[tool.tfperf] in pyproject.toml")
    assert settings["json"] == Setting("d", "TFPERF_JSON")
    assert settings["steps-from"] == Setting("f", "command line")


def test_the_nearest_pyproject_counts_and_its_paths_are_its_own(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.tfperf]\njson = "top.json"\n')
    (tmp_path / "a" / "pyproject.toml").write_text(
        '[tool.tfperf]\nprobes = ["x", "y"]\nrun-dir = "runs/one"\noutput = "/r.txt"\n'
    )
    settings = resolve(NOTHING, deep, {})
    assert settings["json"].value is None
    assert settings["probes"].value == "x,y"
    assert settings["run-dir"].value == str(tmp_path / "a" / "runs" / "one")
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


def made_in(runs: Path, name: str, cwd: Path, age: int) -> None:
    (runs / name).mkdir(parents=True)
    manifest = runs / name / "run.json"
    manifest.write_text(json.dumps({"tfperfkit_run": 1, "cwd": str(cwd)}))
    os.utime(manifest, (age, age))


def test_last_is_of_this_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other, bare = tmp_path / "mine", tmp_path / "other", tmp_path / "bare"
    for folder in (mine / "src" / "deep", other, bare):
        folder.mkdir(parents=True)
    (mine / ".git").mkdir()
    (other / "pyproject.toml").touch()
    runs = tmp_path / "runs"
    environment = {"TFPERF_RUNS": str(runs)}
    made_in(runs, "old", mine, 1)
    made_in(runs, "mine", mine / "src", 2)
    made_in(runs, "other", other, 3)
    (runs / "damaged").mkdir()
    (runs / "damaged" / "run.json").write_text("[")
    for folder, expected in ((mine, "mine"), (mine / "src" / "deep", "mine"), (other, "other")):
        monkeypatch.chdir(folder)
        assert find_run("last", environment) == runs / expected
    monkeypatch.chdir(bare)
    with pytest.raises(UsageError, match=f"no run of {bare} yet; the last one of another project is"):
        find_run("last", environment)


def test_find_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"TFPERF_RUNS": str(tmp_path / "runs")}
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no run in"):
        find_run("last", environment)
    for age, name in enumerate(("newest", "older", "oldest")):
        made_in(tmp_path / "runs", name, tmp_path, 1000 - age)
    (tmp_path / "runs" / "not a run").mkdir()
    assert find_run("last", environment) == tmp_path / "runs" / "newest"
    assert find_run("older", environment) == tmp_path / "runs" / "older"
    assert find_run("some/where", environment) == Path("some/where")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_run("~/some/where", environment) == tmp_path / "some" / "where", "as a report prints it, in quotes"
    assert find_run("nosuch", environment) == Path("nosuch")
    (tmp_path / "older").mkdir()
    assert find_run("older", environment) == Path("older")
