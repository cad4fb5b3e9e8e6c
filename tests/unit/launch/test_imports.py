"""The watch on imports: what it sees, and that nothing of it is left to see."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tfperfkit.launch import imports


@pytest.fixture
def seen() -> Iterator[list[str]]:
    """Watches ``made_up`` and restores everything."""
    calls: list[str] = []
    before = dict(imports._finder._watched)
    imports.when_imported("made_up", lambda: calls.append("begin"), lambda: calls.append("end"))
    yield calls
    imports._finder.forget("made_up")
    assert imports._finder._watched == before
    sys.modules.pop("made_up", None)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "made_up.py"


def test_calls_back_once_and_leaves(seen: list[str], module: Path) -> None:
    module.write_text("import sys\nstate = getattr(__spec__, '_initializing', None)\n")
    made_up = importlib.import_module("made_up")
    assert seen == ["begin", "end"]
    assert made_up.state is True
    assert type(made_up.__spec__) is ModuleSpec
    assert made_up.__spec__._initializing is False
    assert "_watch" not in vars(made_up.__spec__)
    assert made_up.__loader__ is made_up.__spec__.loader
    assert imports._finder not in sys.meta_path
    importlib.reload(made_up)
    assert seen == ["begin", "end"]


def test_asking_whether_it_is_there_is_not_importing_it(seen: list[str], module: Path) -> None:
    module.write_text("x = 1\n")
    spec = importlib.util.find_spec("made_up")
    assert isinstance(spec, ModuleSpec) and repr(spec).startswith("ModuleSpec(")
    assert seen == []
    importlib.import_module("made_up")
    assert seen == ["begin", "end"]


def test_an_import_that_fails_may_be_tried_again(seen: list[str], module: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("made_up")
    module.write_text("raise ValueError('not yet')\n")
    importlib.invalidate_caches()
    with pytest.raises(ValueError) as caught:
        importlib.import_module("made_up")
    files = [entry.path for entry in caught.traceback]
    assert not any("tfperfkit/launch" in str(file) for file in files)
    assert seen == ["begin"]
    module.write_text("x = 'ready now'\n")
    importlib.invalidate_caches()
    importlib.import_module("made_up")
    assert seen == ["begin", "begin", "end"]


def test_what_is_there_already_is_reported_at_once() -> None:
    calls: list[str] = []
    imports.when_imported("os", None, lambda: calls.append("end"))
    assert calls == ["end"]


def test_a_callback_that_fails_is_not_the_scripts_failure(module: Path) -> None:
    def fail() -> None:
        raise RuntimeError("ours")

    module.write_text("x = 1\n")
    imports.when_imported("made_up", fail, fail)
    try:
        assert importlib.import_module("made_up").x == 1
    finally:
        imports._finder.forget("made_up")
        sys.modules.pop("made_up", None)
    assert imports._finder not in sys.meta_path


def test_a_finder_that_asks_the_others_does_not_turn_in_circles(
    seen: list[str], module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asking:
        def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
            if name != "made_up":
                return None
            found = (f.find_spec(name, None) for f in sys.meta_path if f is not self)
            return next((spec for spec in found if spec is not None), None)

    module.write_text("x = 1\n")
    monkeypatch.setattr(sys, "meta_path", [Asking(), *sys.meta_path])
    importlib.import_module("made_up")
    assert seen == ["begin", "end"]
