"""Every installed experiment keeps the contract, is on the page, and tests findings that there are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typed_experiments import NAMES, TYPED, typed

from tfperfkit import registry
from tfperfkit.experiment import EditingExperiment, Experiment, experiment_problems
from tfperfkit.records.trials import Change, parse_change

ROOT = Path(__file__).parents[2]


def test_there_are_experiments() -> None:
    assert len(NAMES) >= 20 and set(TYPED) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_contract(name: str) -> None:
    experiment = registry.load_experiment(name)
    assert isinstance(experiment, Experiment)
    assert experiment_problems(experiment, name) == []
    change = parse_change(typed(name))
    assert experiment.problem(change) is None
    wrong = experiment.problem(Change(name, "a b", "wrong"))
    assert wrong or name == "env"
    if isinstance(experiment, EditingExperiment) and name != "relaxed-shapes":
        assert list(experiment.edits(change)) == [change.target]


def test_loading_them_imports_no_framework_and_no_instrument() -> None:
    """Commands that list or choose load all of them. Nothing of ours imports TensorFlow before the script does."""
    program = "import json, sys\nfrom tfperfkit import registry\n"
    program += "for name in registry.experiments(): registry.load_experiment(name)\nprint(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    loaded = json.loads(done.stdout)
    assert len([name for name in loaded if name.startswith("tfperfkit_experiments.")]) > len(NAMES)
    unwanted = ("tensorflow", "keras", "tf_keras", "numpy", "tfperfkit.instruments")
    assert [name for name in loaded if f"{name}.".startswith(tuple(f"{word}." for word in unwanted))] == []


@pytest.mark.parametrize("name", NAMES)
def test_its_findings_have_pages(name: str) -> None:
    for code in getattr(registry.load_experiment(name), "codes", ()):
        assert (ROOT / "docs" / "findings" / f"{code}.md").exists(), code


def test_all_are_on_the_page() -> None:
    page = (ROOT / "docs" / "proving.md").read_text(encoding="utf-8")
    told = {text.partition(":")[0].partition("=")[0] for text in re.findall(r"`([a-z][a-z0-9-]*(?:[:=][^`]*)?)`", page)}
    assert set(NAMES) <= told, "docs/proving.md: its row is that of what the experiment keeps"


def test_the_published_coverage_counts_every_fault() -> None:
    from benchmarks.collected import fill_in
    from benchmarks.coverage import cases

    page = fill_in((ROOT / "benchmarks" / "results" / "proof.md").read_text(encoding="utf-8"))
    assert f" of {sum(not case.healthy for case in cases())} faults" in page
