"""Scores of a batch with measured seconds, from recorded runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import NAMES, study_recorded

from benchmarks import batch_forecasts
from benchmarks.batch_forecasts import score_script, write_page
from tfperfkit.model import Finding


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_forecasts, "study", lambda path: study_recorded(path.name))


def first_priced() -> tuple[str, Finding]:
    """Return a recorded run whose first finding predicts seconds."""
    for name in NAMES:
        report, _ = study_recorded(name)
        if report.findings and report.findings[0].saves_s and report.findings[0].costs_s:
            return name, report.findings[0]
    raise LookupError


def test_the_right_finding_is_set_against_the_seconds_that_its_twin_saves() -> None:
    name, found = first_priced()
    assert found.saves_s is not None
    row: dict[str, Any] = {"script": name, "run": f"runs/{name}", "code": ["NONE1", found.code]}
    right = score_script({**row, "plain_s": 30.0, "twin_s": 30.0 - sum(found.saves_s) / 2})
    wrong = score_script({**row, "code": None, "plain_s": 30.0, "twin_s": 12.0})
    assert right.rank == 1 and right.seconds is not None and right.seconds.holds
    assert wrong.finding is None and wrong.saved_s == pytest.approx(18.0)
    page = write_page([right, wrong])
    assert f"| {name} | 1 | {found.code} |" in page and "| yes | 1.00 |" in page
    assert f"| {name} | – | – | – | – | 18.0 s | – | – |" in page and "1 of 1" in page


def test_a_batch_without_right_findings_has_no_scores() -> None:
    assert "None of these scripts." in write_page([])


def test_a_batch_is_read_and_written_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, found = first_priced()
    batch = tmp_path / "batch.json"
    batch.write_text(json.dumps([{"script": name, "run": name, "code": found.code, "plain_s": 9.0, "twin_s": 5.0}]))
    monkeypatch.setattr("sys.argv", ["batch_forecasts", str(batch), "--out", str(tmp_path / "page.md")])
    batch_forecasts.main()
    assert (tmp_path / "page.md").read_text() in capsys.readouterr().out
