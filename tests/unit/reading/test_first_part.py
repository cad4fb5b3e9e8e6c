"""A trace that is too large to be held: its first part is read, all threads until the same moment, and that is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu_builder import gpu_trace

from tfperfkit.offers.recorded_trace import TraceReport
from tfperfkit.reading import analyse, planes, sources
from tfperfkit.xplane import columns, open_space


def read(path: Path) -> TraceReport:
    return analyse.read(sources.find(path), str(path), lambda _: lambda _: None)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the limits of time and size small."""
    monkeypatch.setattr(planes, "_LONG", 300)
    monkeypatch.setattr(columns, "_BLOCK", 10)
    monkeypatch.setattr(columns, "_PIECE", 200)


@pytest.mark.parametrize("grouped", [False, True])
def test_of_a_large_trace_the_first_part_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None, grouped: bool
) -> None:
    path = gpu_trace(60, marked=not grouped, grouped=grouped).write(tmp_path / "host.xplane.pb")
    whole = read(path)
    monkeypatch.setattr(planes, "WHOLE_BYTES", path.stat().st_size // 4)
    some = read(path)
    assert 5 <= some.steps.count <= 20 and whole.steps.count == 60
    assert set(some.steps.lengths_ms) == {10.0}
    for before, after in zip(whole.devices, some.devices, strict=True):
        assert after.idle_ms / after.window_ms == pytest.approx(before.idle_ms / before.window_ms, abs=0.02)
        part_of = {cause: took * some.steps.count / 60 for cause, took in before.waits_ms.items()}
        assert after.waits_ms == pytest.approx(part_of, abs=3)
    note = next(note for note in some.notes if "were read" in note)
    assert note.startswith("host.xplane.pb has 0.0 GB: its first 0.") and not any("were read" in n for n in whole.notes)


def test_lines_end_at_the_same_moment(tmp_path: Path, small: None) -> None:
    with open_space(gpu_trace(60).write(tmp_path / "a.xplane.pb")) as space:
        moment = planes.until(space.planes, 0.25)
        assert moment is not None and 100e9 < moment < 200e9
        for plane in space.planes:
            for line, cut in zip(columns.columns(plane), columns.columns(plane, until_ps=moment), strict=True):
                early = line.begin_ps < moment
                assert cut.begin_ps.tolist() == line.begin_ps[early].tolist() and early.any()
                assert cut.numbers("correlation_id").tolist() == line.numbers("correlation_id")[early].tolist()


def test_a_trace_without_events_ends_nowhere(tmp_path: Path) -> None:
    with open_space(gpu_trace(0).write(tmp_path / "a.xplane.pb")) as space:
        assert planes.until(space.planes, 0.5) is None
