"""The ladder of patches with made measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from fixing_builder import FILE, Made, finding_at

from tfperfkit.model import Measured, Overhead, Report, RunInfo, StepSummary
from tfperfkit.records.trials import Baseline, TrialReport
from tfperfkit.rule import Evidence
from tfperfkit.storage.run_directory import Manifest
from tfperfkit.trials import ladder as module
from tfperfkit.trials.judging import Variant
from tfperfkit.trials.ladder import Ladder, changed_lines
from tfperfkit.trials.patched import make_patches, of_patches
from tfperfkit.trials.rounds import Budget

SOURCE = "import tensorflow as tf\nds = ds.map(f)\nds = ds.batch(2)\n"


class Sources(Made):
    """Evidence of a run of one file."""

    text = SOURCE

    def files(self) -> list[str]:
        return [FILE]

    def source(self, file: str) -> list[str]:
        return self.text.splitlines(keepends=True)


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Manifest, Report, Evidence]:
    """Record a file in ``tmp_path`` with one finding that has a patch."""
    (tmp_path / FILE).write_text(SOURCE)
    manifest = Manifest(tfperfkit_run=1, argv=[FILE], cwd=str(tmp_path), python="", probes=[])
    report = Report(
        schema=1,
        run=RunInfo(argv=(FILE,), exit_code=0, status="finished", folder=str(tmp_path)),
        probes=(),
        steps=StepSummary(count=20, source="none"),
        findings=(finding_at("INP003", (2, "")),),
        overhead=Overhead(),
    )
    return manifest, report, cast(Evidence, Sources())


def trials(verdict: str, seen: list[dict[str, bytes]]) -> Callable[..., TrialReport]:
    def run(
        _: Any, __: Any, variants: Sequence[Variant], *args: Any, contents: Mapping[str, bytes], brief: bool
    ) -> TrialReport:
        assert brief
        seen.append(dict(contents))
        item = Measured(
            experiment=variants[0].text,
            keeps="results",
            verdict=verdict,  # type: ignore[arg-type]
            speedup=4.0,
            interval=(3.0, 5.0),
            results="same bits",
        )
        return TrialReport(schema=1, argv=(), way="", baseline=Baseline(runs=1, ms=20.0), measured=(item,))

    return run


def climb(recorded: Any, monkeypatch: pytest.MonkeyPatch, verdict: str) -> tuple[Ladder, list[dict[str, bytes]], int]:
    manifest, report, evidence = recorded
    seen: list[dict[str, bytes]] = []
    records: list[int] = []
    monkeypatch.setattr(module, "run_variants", trials(verdict, seen))

    def record(self: Ladder, *args: Any) -> tuple[Report, Evidence]:
        records.append(len(self.rungs))
        return msgspec.structs.replace(report, findings=(), headroom=()), evidence

    monkeypatch.setattr(Ladder, "_record", record)
    made = Ladder(manifest, Budget(600.0), lambda text: None)
    made.climb(report, evidence)
    return made, seen, len(records)


def test_a_proven_patch_is_taken_and_the_run_recorded_again(
    recorded: tuple[Manifest, Report, Evidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, seen, records = climb(recorded, monkeypatch, "faster")
    assert [rung.patch.finding.code for rung in made.rungs] == ["INP003"]
    assert seen == [{}] and records == 1 and made.ended == "no other patch gains"
    (content,) = made.contents.values()
    assert list(made.originals.values()) == [SOURCE.encode()]
    assert b"AUTOTUNE" in content and len(made.rungs[0].lines) == 2


def test_the_second_patch_stands_on_the_first(
    recorded: tuple[Manifest, Report, Evidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest, report, evidence = recorded
    seen: list[dict[str, bytes]] = []
    monkeypatch.setattr(module, "run_variants", trials("faster", seen))

    def record(self: Ladder, *args: Any) -> tuple[Report, Evidence]:
        patched = Sources()
        (patched.text,) = (content.decode() for content in self.contents.values())
        more = len(self.rungs) == 1
        findings = (finding_at("INP003", (2, "")), finding_at("INP004", (3, ""))) if more else ()
        return msgspec.structs.replace(report, findings=findings), cast(Evidence, patched)

    monkeypatch.setattr(Ladder, "_record", record)
    made = Ladder(manifest, Budget(600.0), lambda text: None)
    made.climb(report, evidence)
    assert [rung.patch.finding.code for rung in made.rungs] == ["INP003", "INP004"]
    assert [len(contents) for contents in seen] == [0, 1]  # the plain runs of the second have the first patch
    (content,) = made.contents.values()
    assert b"num_parallel_calls" in content and b"prefetch" in content
    assert list(made.originals.values()) == [SOURCE.encode()]
    assert Path(manifest.cwd, FILE).read_text() == SOURCE


def test_a_patch_that_does_not_gain_is_not_taken(
    recorded: tuple[Manifest, Report, Evidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, seen, records = climb(recorded, monkeypatch, "no difference")
    assert (made.rungs, made.contents, records) == ([], {}, 0)
    assert len(made.refused) == len(seen) > 0


def test_patches_of_a_patched_run_build_on_its_files(recorded: tuple[Manifest, Report, Evidence]) -> None:
    """The user's file is not what that run had: the patch is of the working copy."""
    _, report, evidence = recorded
    patches, files = make_patches(report, evidence)
    variant = of_patches(patches, files)[0]
    (path,) = variant.contents
    before = Path(path).read_bytes()
    Path(path).write_text("something = 'else'\n")
    again, files = make_patches(report, evidence, {path: before})
    assert of_patches(again, files)[0].contents == variant.contents
    assert changed_lines(again[0]) == changed_lines(patches[0]) != ()
    assert of_patches(*make_patches(report, evidence)) == []
