"""The site's page of numbers is collected from the code, and each measure that it names exists."""

from __future__ import annotations

import ast
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tfperfkit.calibration import Measured

ROOT = Path(__file__).parents[3]


@pytest.fixture
def calibrate(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import calibrate

    return calibrate


def measures() -> set[str]:
    """The names of all measures, read without importing TensorFlow."""
    return {
        node.name
        for path in (ROOT / "benchmarks" / "costs").glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(made, ast.Call) and ast.unparse(made.func) == "measure" for made in node.decorator_list)
    }


def test_the_site_has_a_row_for_each_number(calibrate) -> None:
    spec = spec_from_file_location("hooks", ROOT / "docs" / ".site" / "hooks.py")
    assert spec is not None and spec.loader is not None
    hooks = module_from_spec(spec)
    spec.loader.exec_module(hooks)
    source = (ROOT / "benchmarks" / "results" / "calibration.md").read_text()
    assert "| `" not in source, "the tables are made with the site: restore benchmarks/results/calibration.md"
    page = hooks.on_page_markdown(source)
    stated = [name.rpartition(".")[2] for name, _ in calibrate.numbers()]
    assert re.findall(r"^\| `([A-Z0-9_]+)` \|", page, re.MULTILINE) == stated and len(stated) > 400


def test_each_named_measure_exists_and_each_measure_stands_for_a_number(calibrate) -> None:
    named = {r.source.by for _, r in calibrate.numbers() if isinstance(r.source, Measured) and r.source.by}
    assert named == measures()


def test_the_modules_with_measures_are_those_that_are_run(calibrate) -> None:
    folder = ROOT / "benchmarks" / "costs"
    with_measures = {path.stem for path in folder.glob("*.py") if "\n@measure(" in path.read_text()}
    assert with_measures == set(calibrate.COSTS)


def test_the_page_itself_is_not_overwritten(calibrate, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["calibrate", "--page", str(ROOT / "benchmarks" / "results" / "calibration.md")])
    with pytest.raises(SystemExit, match="2"):
        calibrate.main()
    assert "name another file" in capsys.readouterr().err


def test_a_name_that_is_no_measure_ends_in_one_line(calibrate, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["calibrate", "--rounds", "0"])
    with pytest.raises(SystemExit, match="2"):
        calibrate.main()
    assert "--rounds must be 1 or more" in capsys.readouterr().err
