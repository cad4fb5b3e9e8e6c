"""How far several workers come with what one does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tfperfkit.analysis.summary import FILE, SCHEMA, RunSummary
from tfperfkit.ranks.alone import alone
from tfperfkit.ranks.parts import whole
from tfperfkit.ranks.words import first_line
from tfperfkit.records.rank import Rank
from tfperfkit.report.terminal import UNICODE
from tfperfkit.storage.run_directory import Manifest


def run(folder: Path, *, rank: Rank | None = None, argv: tuple[str, ...] = ("train.py",), **more: Any) -> None:
    """Make a run directory as the list of runs needs it."""
    folder.mkdir(parents=True)
    given: dict[str, Any] = {"status": "finished", "step_ms": 10.0, "examples_per_s": 640.0, **more}
    manifest = Manifest(tfperfkit_run=1, argv=list(argv), cwd="/", python="python", probes=[], rank=rank)
    summary = RunSummary(schema=SCHEMA, argv=argv, cwd="/", started_wall_s=1.0, **given)
    (folder / "run.json").write_bytes(msgspec.json.encode(manifest))
    (folder / FILE).write_bytes(msgspec.json.encode(summary))


@pytest.fixture
def several(tmp_path: Path) -> Path:
    for number in range(2):
        run(tmp_path / "several" / f"rank-000{number}", rank=Rank(rank=number, size=2))
    return tmp_path / "several"


def test_the_efficiency_is_against_as_many_single_workers(several: Path) -> None:
    run(several.parent / "one")
    found = alone(several, "rank-0000", 2, 960.0)
    assert found is not None and (found.run, found.efficiency, found.step_ms) == ("one", pytest.approx(0.75), 10.0)


def test_without_examples_the_step_of_one_is_reported(several: Path) -> None:
    run(several.parent / "one", examples_per_s=None)
    found = alone(several, "rank-0000", 2, None)
    assert found is not None and found.efficiency is None
    parts = whole(several, ())
    told = first_line(msgspec.structs.replace(parts, alone=found), UNICODE)
    assert told[-1] == "10.0 ms with one worker (one)"


@pytest.mark.parametrize(
    "other",
    [{"argv": ("train.py", "--small")}, {"status": "killed"}, {"rank": Rank(rank=0, size=2)}, {"step_ms": None}],
)
def test_what_is_not_the_same_training_by_one(several: Path, other: dict[str, Any]) -> None:
    run(several.parent / "one", **other)
    assert alone(several, "rank-0000", 2, 960.0) is None
