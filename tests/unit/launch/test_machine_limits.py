"""Facts about a machine are kept, get better only, and are refused when damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.launch import machine
from tfperfkit.storage.machine_limits import UNKNOWN, Limits, load, make_key, store
from tfperfkit.storage.run_directory import RunDirectory


def limits(*gflops: float) -> Limits:
    made = UNKNOWN
    for value in gflops:
        made = made.with_one_more(value, 10.0)
    return made


def test_the_best_is_what_the_machine_reaches() -> None:
    assert limits(120.0, 240.0, 160.0).float32_gflops == (240.0, 160.0, 120.0)


def test_it_is_steady_when_the_best_two_agree() -> None:
    assert not limits(240.0).steady
    assert not limits(240.0, 160.0).steady
    assert limits(240.0, 120.0, 235.0).steady
    assert limits(*range(1, 22)).steady  # a machine that is never calm


def test_it_is_kept_by_machine(tmp_path: Path) -> None:
    path = tmp_path / "state" / "machine.json"
    store(path, "a", limits(100.0))
    store(path, "b", limits(200.0))
    assert load(path) == {"a": limits(100.0), "b": limits(200.0)}
    assert [item.name for item in path.parent.iterdir()] == ["machine.json"]
    assert (
        make_key(2, {"tensorflow": "2.21.0"})
        != make_key(4, {"tensorflow": "2.21.0"})
        != make_key(4, {"tensorflow": "2.22.0"})
    )


def test_of_costs_the_least_is_kept_also_on_a_machine_without_rates(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    store(path, "a", UNKNOWN.with_costs({"call_ms": 0.2, "fetch_ms": 0.01}).with_costs({"call_ms": 0.3}))
    assert load(path)["a"].costs == {"call_ms": 0.2, "fetch_ms": 0.01}
    store(path, "b", UNKNOWN.with_costs({"call_ms": -1.0}))
    assert "b" not in load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"machines": 7}',
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({"machines": {"a": {"float32_gflops": ["x"], "copy_gb_per_s": [], "measured": 1}}}).encode(),
        json.dumps({"machines": {"a": {"float32_gflops": [-3.0], "copy_gb_per_s": [], "measured": 1}}}).encode(),
        json.dumps({"machines": {"a": {"float32_gflops": [1e300], "copy_gb_per_s": [], "measured": 1}}}).encode(),
        b'{"machines": {"a": {"float32_gflops": [NaN], "copy_gb_per_s": [], "measured": 1}}}',
    ],
)
def test_a_damaged_file_is_refused_and_written_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "machine.json"
    path.write_bytes(content)
    assert load(path) == {}
    store(path, "a", limits(100.0))
    assert load(path) == {"a": limits(100.0)}


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "machine.json")
    assert load(tmp_path / "machine.json") == {}


def run(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TFPERF_RUNS", str(tmp_path / "runs"))
    folder = tmp_path / name
    folder.mkdir()
    directory = RunDirectory(folder)
    directory.write_json("agent.json", {"versions": {"tensorflow": "2.21.0"}})
    machine.measure(directory)
    return directory.read_json("machine.json")


def test_a_run_has_the_best_that_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_is_busy", lambda: False)
    monkeypatch.setattr(machine, "_product_gflops", lambda: 200.0)
    monkeypatch.setattr(machine, "_copy_gb_per_s", lambda: 12.0)
    assert run(tmp_path, "first", monkeypatch)["float32_gflops"] == 200.0
    monkeypatch.setattr(machine, "_product_gflops", lambda: 90.0)
    busy = run(tmp_path, "second", monkeypatch)
    assert (busy["float32_gflops"], busy["now_gflops"], busy["steady"]) == (200.0, 90.0, False)
    monkeypatch.setattr(machine, "_product_gflops", lambda: 199.0)
    assert run(tmp_path, "third", monkeypatch)["steady"]
    assert "now_gflops" not in run(tmp_path, "fourth", monkeypatch)  # nothing is measured any more


def test_it_is_measured_for_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_UNDISTURBED", 0.0)  # whatever else runs here
    monkeypatch.setattr(machine, "_is_busy", lambda: False)
    found = run(tmp_path, "first", monkeypatch)
    assert found["float32_gflops"] > 0.1 and found["copy_gb_per_s"] > 0.01


def test_a_busy_machine_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_UNDISTURBED", 1e9)
    found = run(tmp_path, "first", monkeypatch)
    assert found["float32_gflops"] is None and found["measured"] == 0 and not found["steady"]


def test_a_state_folder_that_takes_nothing_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_UNDISTURBED", 0.0)
    monkeypatch.setattr(machine, "_is_busy", lambda: False)
    (tmp_path / "runs").write_text("a file stands where the folder should")
    assert run(tmp_path, "first", monkeypatch)["float32_gflops"] > 0


def test_the_fastest_product_that_had_the_processors_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    each = machine.processors()
    runs = [(0.5, 0.5 * each), (0.02, 0.02 * each), (0.01, 0.002 * each)]  # the last waited for a processor
    monkeypatch.setattr(machine, "_runs", lambda work, budget_s: runs)
    assert machine._product_gflops() == pytest.approx(2 * 1024**3 / 0.02 / 1e9)


def test_a_first_slow_run_is_not_all_that_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([0.2, 0.2, 0.02, 0.01, 0.03, 0.01, 0.02, 0.02])
    now = 0.0

    def work() -> None:
        nonlocal now
        now += next(taken)

    monkeypatch.setattr(machine.time, "process_time", lambda: now)
    monkeypatch.setattr(machine.time, "perf_counter", lambda: 2 * now)
    assert min(machine._runs(work, 0.25)) == pytest.approx((0.02, 0.01))


@pytest.mark.skipif(not os.path.exists("/proc/loadavg"), reason="who wants a processor is counted in /proc")
def test_nothing_is_computed_while_others_want_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_UNDISTURBED", -1e9)
    assert not machine._is_busy()
    monkeypatch.setattr(machine, "_UNDISTURBED", 1e9)  # as if many did
    assert machine._is_busy()


def test_runs_that_take_seconds_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def work() -> None:
        nonlocal now
        now += 3.0

    monkeypatch.setattr(machine.time, "perf_counter", lambda: now)
    assert len(machine._runs(work, 0.25)) == 2
