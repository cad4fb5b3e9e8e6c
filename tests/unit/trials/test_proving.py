"""Candidates of a finding are measured one after another until one is proven, with made measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from fixing_builder import FILE, Made, finding_at

from tfperfkit.fixing.command import Opened
from tfperfkit.fixing.files import Files
from tfperfkit.fixing.patches import Patches
from tfperfkit.model import Measured, Overhead, Report, RunInfo, StepSummary
from tfperfkit.records.trials import TrialReport
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit.storage.run_directory import Manifest
from tfperfkit.trials import proving
from tfperfkit.trials.judging import Variant
from tfperfkit.trials.proving import Proof
from tfperfkit.trials.rounds import Budget

SOURCE = "def f(self):\n    for turn in range(9):\n        use(self.layer.table()[turn])\n"


def measure(folder: Path, monkeypatch: pytest.MonkeyPatch, *verdicts: str) -> tuple[Proof, list[Variant]]:
    """Measure all patches of a finding that has two candidates; ``verdicts``: of their trials."""
    (folder / FILE).write_text(SOURCE)
    seen: list[Variant] = []
    left = iter(verdicts)

    def run(_: Any, __: Any, variants: Sequence[Variant], *args: Any) -> TrialReport:
        seen.extend(variants)
        item = Measured(
            experiment=variants[0].text,
            keeps="results",
            verdict=next(left),  # type: ignore[arg-type]
            speedup=4.0,
            interval=(3.0, 5.0),
            outputs="same",
        )
        return TrialReport(schema=1, argv=(), way="", baseline=None, measured=(item,))

    monkeypatch.setattr(proving, "run_variants", run)
    finding = finding_at("EAG017", (3, "f"), remedy=Rewrite("repeated"))
    report = Report(
        schema=1,
        run=RunInfo(argv=(FILE,), exit_code=0, status="finished", folder=str(folder)),
        probes=(),
        steps=StepSummary(count=20, source="none"),
        findings=(finding,),
        overhead=Overhead(),
    )
    files = Files({FILE: SOURCE.splitlines(keepends=True)}, str(folder))
    manifest = Manifest(tfperfkit_run=1, argv=[FILE], cwd=str(folder), python="", probes=[])
    proof = Proof(manifest, Opened(folder, report, cast(Evidence, Made()), files), Budget(600.0))
    patches = Patches(files).list_patches("EAG017", finding)
    assert [patch.is_candidate for patch in patches] == [True, True]
    for patch in patches:
        proof.measure([patch])
    return proof, seen


def test_the_second_candidate_is_measured_if_the_first_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof, seen = measure(tmp_path, monkeypatch, "failed", "faster")
    assert "functools.cache" in proof.proven["EAG017"].steps[0][2].decode()
    assert [(each.whole, each.doubtful) for each in seen] == [(True, True), (True, True)]


def test_a_proven_candidate_ends_the_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof, seen = measure(tmp_path, monkeypatch, "faster", "faster")
    assert len(seen) == 1 and "table_once = self.layer.table()" in proof.proven["EAG017"].steps[0][2].decode()


def test_no_candidate_is_proven_without_a_gain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof, seen = measure(tmp_path, monkeypatch, "no difference", "slower")
    assert len(seen) == 2 and proof.proven == {} and proof.measured["EAG017"].verdict == "slower"
