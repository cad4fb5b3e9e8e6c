"""Patches of a report are kept next to the run, as long as their sources are unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from evidence_builder import make_evidence
from fixing_builder import FILE, finding_at

from tfperfkit.fixing import kept, shown
from tfperfkit.fixing.shown import with_patches
from tfperfkit.model import Finding, Overhead, Report, RunInfo, StepSummary

SOURCE = "import gc\n\nfor step in range(9):\n    print(step)\n    gc.collect()\n"
FINDING = finding_at("STP005", (5, "<module>"))


def report(folder: Path, *findings: Finding, **fields: Any) -> Report:
    run = RunInfo(
        argv=(FILE,), exit_code=0, status="finished", folder=str(folder), directory=str(folder / "run"), **fields
    )
    return Report(
        schema=1,
        run=run,
        probes=(),
        steps=StepSummary(count=9, source="custom"),
        findings=findings,
        overhead=Overhead(),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    (tmp_path / FILE).write_text(SOURCE)
    return tmp_path


def made(folder: Path, *findings: Finding, source: str = SOURCE) -> tuple[str, ...]:
    found = with_patches(report(folder, *(findings or (FINDING,))), make_evidence(source=source))
    return tuple(finding.patch for finding in found.findings)


def never(*_: Any) -> str:
    raise AssertionError("made anew")


def test_it_is_made_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = finding_at("GRF001", (3, ""))  # none that has a patch
    first = made(folder, other, FINDING)
    assert first[0] == "" and "-    gc.collect()" in first[1]
    monkeypatch.setattr(shown, "_patch", never)
    assert made(folder, other, FINDING) == first


@pytest.mark.parametrize("change", ["the file", "the run's copy", "the finding", "the fixers", "the kept file"])
def test_it_is_made_again_where_something_is_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    made(folder)
    monkeypatch.setattr(shown, "_patch", lambda *_: "made anew")
    assert made(folder) != ("made anew",)
    finding, source = FINDING, SOURCE
    if change == "the file":
        (folder / FILE).write_text(SOURCE + "# more\n")
    elif change == "the run's copy":
        source += "# more\n"
    elif change == "the finding":
        finding = msgspec.structs.replace(FINDING, where=FINDING.where * 2)
    elif change == "the fixers":
        monkeypatch.setattr(kept, "__version__", "another")
    else:
        (folder / "run" / kept.FILE).write_text('{"made_from": 7}')
    assert made(folder, finding, source=source) == ("made anew",)


def test_a_folder_that_can_not_be_written_has_its_patches_too(folder: Path) -> None:
    (folder / "run").rmdir()
    assert "-    gc.collect()" in made(folder)[0] and not (folder / "run").exists()


def test_a_run_that_goes_on_keeps_none(folder: Path) -> None:
    going = msgspec.structs.replace(
        report(folder, FINDING),
        run=RunInfo(argv=(FILE,), exit_code=None, status="running", folder=str(folder), directory=str(folder / "run")),
    )
    assert with_patches(going, make_evidence(source=SOURCE)).findings[0].patch
    assert not list((folder / "run").iterdir())
