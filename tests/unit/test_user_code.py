"""Whose code a file is."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest
import tfperfkit_probes

import tfperfkit
from tfperfkit.instruments.stacks.activity import facts
from tfperfkit.testing import FakeRecording
from tfperfkit.user_code import Origin, installed_as, is_machinery

STDLIB = sysconfig.get_path("stdlib")
INSTALLED = "/env/lib/python3.11/site-packages"
#: file, the user's own, never a call site to show
FILES = [
    ("/home/me/train.py", True, False),
    ("train.py", True, False),
    ("<stdin>", True, False),
    ("<ipython-input-1-abc>", True, False),
    ("<string>", False, True),
    ("<frozen importlib._bootstrap>", False, True),
    ("", False, False),
    (os.path.join(STDLIB, "threading.py"), False, True),
    (f"{INSTALLED}/somebody/data.py", False, False),
    (os.path.join(os.path.dirname(tfperfkit.__file__), "clock.py"), False, True),
    (os.path.join(next(iter(tfperfkit_probes.__path__)), "memory", "record.py"), False, True),
    ("/tmp/__autograph_generated_fileabc.py", False, False),
]


@pytest.mark.parametrize(("file", "own", "machinery"), FILES)
def test_whose_code_a_file_is(file: str, own: bool, machinery: bool, tmp_path: Path) -> None:
    assert Origin().is_user(file) is own
    assert is_machinery(file) is machinery
    assert FakeRecording(tmp_path).is_user_code(file) is own, "the fake for authors of probes tells the same"


def test_the_package_of_a_module_that_was_run_is_the_persons_own() -> None:
    assert Origin([f"{INSTALLED}/somebody"]).is_user(f"{INSTALLED}/somebody/train.py")
    assert not Origin([f"{INSTALLED}/somebody"]).is_user(f"{INSTALLED}/somebody_else/train.py")


def test_a_package_that_stands_beside_the_script_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``pip install --target`` leaves it: only what its record lists, wherever the folder is."""
    info = tmp_path / "drawing-1.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("../bin/draw,,\nbin/draw,,\ndrawing/__init__.py,,\ndrawing/lines/thin.py,,\n", "utf-8")
    inside = str(tmp_path / "drawing" / "lines" / "thin.py")
    assert Origin().is_user(inside), "not on sys.path: nobody imports it from there"
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not Origin().is_user(inside)
    assert installed_as(inside) == os.path.join("drawing", "lines", "thin.py")
    assert facts(inside, own=False)[1:4:2] == ("drawing", "drawing.lines.thin")
    for own in ("train.py", os.path.join("bin", "train.py"), os.path.join("drawings", "thin.py")):
        assert Origin().is_user(str(tmp_path / own)), own
    assert Origin([str(tmp_path / "drawing")]).is_user(inside), "run by -m: the user's own"


def test_keras_is_machinery() -> None:
    keras = pytest.importorskip("importlib.util").find_spec("keras")
    if keras is None:
        pytest.skip("Keras is not installed here")
    assert is_machinery(os.path.join(os.path.dirname(keras.origin), "src", "layers", "layer.py"))
