"""The records that a rank keeps for the report of all ranks, and the part of many ranks that a screen shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tfperfkit.gain import Range
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import Exchange
from tfperfkit.ranks import kept, studied
from tfperfkit.ranks.command import lines
from tfperfkit.ranks.part import Part
from tfperfkit.ranks.parts import whole
from tfperfkit.ranks.studied import telling
from tfperfkit.report.terminal import Screen
from tfperfkit.storage.run_directory import RunDirectory

FOUND = Finding(
    code="STP004",
    family="step",
    title="It sleeps",
    severity="high",
    share_of_step=0.7,
    gain=Range(3.0, 3.0, 3.0),
    where=(SourceSpan("/home/a/train.py", 30),),
    evidence=(Measurement("sleeping", 0.7, "share"),),
    advice="Don't.",
)
PART = Part(
    name="rank-0003",
    rank=3,
    size=8,
    status="finished",
    findings=(FOUND,),
    own_ms={0: 2.5, 1: 3.5},
    at={"python": (SourceSpan("/home/a/train.py", 30),)},
    exchanges=(Exchange(step=3, name="all-reduce", ms=1.5),),
)


def folder_of(tmp_path: Path, part: Part) -> RunDirectory:
    (tmp_path / part.name).mkdir()
    run = RunDirectory(tmp_path / part.name)
    kept.write(run, part)
    return run


def test_what_was_kept_is_read(tmp_path: Path) -> None:
    folder_of(tmp_path, PART)
    assert kept.read(tmp_path, "rank-0003") == PART


def test_a_part_under_another_name_is_made_again(tmp_path: Path) -> None:
    folder_of(tmp_path, PART)
    (tmp_path / "rank-0003").rename(tmp_path / "rank-0004")
    assert kept.read(tmp_path, "rank-0004") is None


@pytest.mark.parametrize("more", [{"status": "running"}, {"status": "unknown"}, {"problem": "damaged"}])
def test_what_may_change_is_not_kept(tmp_path: Path, more: dict[str, str]) -> None:
    folder_of(tmp_path, msgspec.structs.replace(PART, **more))
    assert not (tmp_path / "rank-0003" / kept.FILE).exists()


def test_what_another_version_kept_or_is_damaged_is_not_believed(tmp_path: Path) -> None:
    file = folder_of(tmp_path, PART).path / kept.FILE
    written = json.loads(file.read_text())
    for damaged in (
        {**written, "form": ["0.1", *written["form"][1:]]},
        {**written, "form": written["form"][:-1]},
        {**written, "part": {**written["part"], "steps": "many"}},
        [],
        None,
    ):
        file.write_text(json.dumps(damaged))
        assert kept.read(tmp_path, "rank-0003") is None
    file.write_text(json.dumps(written)[:-20])
    assert kept.read(tmp_path, "rank-0003") is None


def test_of_many_ranks_a_screen_has_those_that_matter(tmp_path: Path) -> None:
    def one(rank: int) -> Part:
        inside = 10.0 if rank == 70 else 27.0 - rank / 1000
        given = {"outside_ms": {"python": 28 - inside}, "turn_ms": 28.0, "step_ms": 28.0, "inside_ms": inside}
        status = "killed" if rank == 33 else "finished"
        return Part(name=f"rank-{rank:04}", rank=rank, size=100, status=status, clean=100, **given)

    made = whole(tmp_path, tuple(one(rank) for rank in range(100)))
    screen = Screen(width=100)
    text = [line.plain for line in lines(made, Path("out"), screen)]
    rows = [line.split()[1] for line in text if line.startswith("  rank ")]
    assert len(rows) < 30 and {"0", "33", "70", "99"} <= set(rows)
    assert any("of 100 ranks" in line for line in text)
    assert any("tfperf report out/rank-0070 --full" in line for line in text[-3:])


def timed(rank: int, **more: Any) -> Part:
    """Return a rank of many; the higher its number, the longer until the exchange."""
    given: dict[str, Any] = {"turn_ms": 28.0, "step_ms": 28.0, "inside_ms": 27.0 - rank / 1000, "clean": 100}
    return Part(**{"name": f"rank-{rank:04}", "rank": rank, "size": 200, "status": "finished", **given, **more})


def test_of_many_ranks_those_are_looked_into_that_tell_something() -> None:
    parts = [timed(rank) for rank in range(200)]
    parts[70] = timed(70, inside_ms=10.0)  # late
    parts[33] = timed(33, status="killed", turn_ms=None)
    parts[44] = timed(44, batch_size=7)
    chosen = telling(parts)
    assert {"rank-0000", "rank-0033", "rank-0044", "rank-0070", "rank-0199"} <= set(chosen) and len(chosen) < 60


def test_findings_are_looked_for_in_some_of_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"rank-{rank:04}" for rank in range(150)]

    def read(folder: Path, name: str, *, looked: bool) -> Part:
        number = int(name[-4:])
        return timed(number, findings=(FOUND,) if looked else (), looked=looked)

    monkeypatch.setattr(studied, "read_part", read)
    monkeypatch.setattr(studied, "_FEW", 1000)  # in this process
    for name in names:
        (tmp_path / name).mkdir()
    made = studied.studied(tmp_path, names)
    assert sorted(made) == names
    looked = [part for part in made.values() if part.looked]
    assert 8 < len(looked) < 60 and all(part.findings for part in looked)
    assert kept.read(tmp_path, names[-1]) == made[names[-1]]
    every = whole(tmp_path, tuple(made.values()))
    text = " ".join(line.plain.strip() for line in lines(every, Path("out"), Screen(width=200)))
    assert f"Findings were looked for in {len(looked)} of 150 ranks" in text
    assert f"all {len(looked)} that were looked into" in text
    few = studied.studied(tmp_path, names[:100])
    assert all(part.looked for part in few.values())
