"""Which Python is the user's, where tfperf has an environment of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tfperfkit.other_python import other_python, tensorflow_missing


def environment_at(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    (folder / "bin" / "python").symlink_to(sys.executable)
    return folder / "bin"


def test_the_active_environment_s_python_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = environment_at(tmp_path / "project" / ".venv")
    monkeypatch.setenv("VIRTUAL_ENV", str(found.parent))
    assert other_python() == str(found / "python")
    assert tensorflow_missing() == (
        f"tfperf belongs into the script's environment: {found / 'python'} -m pip install tfperfkit"
    )


@pytest.mark.parametrize("receipt", ["pipx_metadata.json", "uv-receipt.toml"])
def test_of_a_tool_s_own_environment_it_is_the_one_on_the_path(tmp_path: Path, receipt: str) -> None:
    found = environment_at(tmp_path / "usr")
    ours = environment_at(tmp_path / "tools" / "tfperfkit").parent
    assert other_python({"PATH": str(found)}, str(ours)) is None
    (ours / receipt).touch()
    assert other_python({"PATH": str(found)}, str(ours)) == str(found / "python")
    assert other_python({"PATH": str(ours / "bin")}, str(ours)) is None
    assert other_python({"PATH": str(tmp_path / "nowhere")}, str(ours)) is None


def test_one_s_own_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    assert other_python() is None
    assert tensorflow_missing() == "pip install 'tfperfkit[tensorflow]'"
