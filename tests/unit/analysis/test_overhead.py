"""Our own cost and the wait for a processor, from the session's cumulated notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfperfkit.analysis.overhead import overhead
from tfperfkit.instruments.contention import Contention
from tfperfkit.records.steps import Step, StepTable

S = 1_000_000_000


def table(windows: list[str]) -> StepTable:
    return StepTable(steps=tuple(Step(n, n * S, (n + 1) * S, window=w) for n, w in enumerate(windows)), source="custom")


def rows(count: int, hooks: int, waited: int | None) -> list[object]:
    return [[n * S, n * hooks, 0, None if waited is None else n * waited] for n in range(count)]


def test_the_hooks_share_of_the_clean_steps() -> None:
    found = overhead(rows(8, S // 100, 0), table(["clean"] * 8), [])
    assert found.baseline_ratio == pytest.approx(1.01)
    assert found.waited_share == 0.0 and found.notes == ()


def test_a_busy_machine_is_reported() -> None:
    found = overhead(rows(8, 0, S // 4), table(["clean"] * 8), [])
    assert found.waited_share == pytest.approx(0.25)
    assert "25 %" in found.notes[0]


def test_where_the_system_does_not_tell_nothing_is_said() -> None:
    found = overhead(rows(8, 0, None), table(["clean"] * 8), [])
    assert found.waited_share is None and found.notes == ()


def test_recordings_of_before_have_three_columns() -> None:
    found = overhead([[n * S, n, 0] for n in range(8)], table(["clean"] * 8), [])
    assert found.baseline_ratio is not None and found.waited_share is None


def test_damaged_rows_and_windows_in_between_do_not_count() -> None:
    damaged: list[object] = [None, ["x", 1, 2], [1], *rows(8, S // 100, 0)]
    found = overhead(damaged, table(["clean"] * 4 + ["lines"] + ["clean"] * 3), ["lines", "tfprof"])
    assert found.baseline_ratio == pytest.approx(1.01)
    assert found.per_probe == {"lines": 1.0}


def test_the_kernel_s_file_and_its_absence(tmp_path: Path) -> None:
    contention = Contention()
    contention._file.path = tmp_path / "schedstat"
    (tmp_path / "schedstat").write_text("12 3456 7\n")
    assert contention.waited_ns() == 3456
    (tmp_path / "schedstat").write_text("nonsense")
    assert contention.waited_ns() is None
    (tmp_path / "schedstat").write_text("12 3456 7\n")
    assert contention.waited_ns() is None  # it gave up: no file is opened twice a second for nothing


def test_a_window_that_opened_before_the_steps_were_steady_tells_no_cost() -> None:
    """The first step is traced and compiled in it: hundreds of times as long, and not by the probe."""
    later = (Step(n, (299 + n) * S, (300 + n) * S, window="clean") for n in range(1, 4))
    early = StepTable(steps=(Step(0, 0, 300 * S, window="devices"), *later), source="custom")
    assert overhead([], early, ["devices"]).per_probe == {}
    assert overhead([], table(["clean", "devices", "clean"]), ["devices"]).per_probe == {"devices": 1.0}
