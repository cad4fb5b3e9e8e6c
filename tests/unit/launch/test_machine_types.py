"""16-bit products are measured where the processor has instructions for them, once, and nowhere else."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.launch import machine, machine_types
from tfperfkit.storage.machine_limits import UNKNOWN, load, store
from tfperfkit.storage.run_directory import RunDirectory


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("flags\t\t: fpu avx512f avx512_bf16 amx_tile", True),
        ("flags\t\t: fpu amx_bf16", True),
        ("Features\t: fp asimd bf16 i8mm", True),
        ("flags\t\t: fpu avx2 avx512f", False),
        ("model name\t: bf16", False),
        ("", False),
    ],
)
def test_the_processor_says_what_it_has(line: str, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.open", lambda *a, **k: io.StringIO(f"processor\t: 0\n{line}\n"))
    assert machine_types.has_bfloat16() is known


def test_a_system_that_tells_nothing_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*a: Any, **k: Any) -> Any:
        raise OSError

    monkeypatch.setattr("builtins.open", refuses)
    assert not machine_types.has_bfloat16()


@pytest.mark.parametrize(
    ("code", "times"),
    [("print('words'); print('times', 2.5)", 2.5), ("print('times', 'nan')", None), ("print()", None), ("1/0", None)],
)
def test_what_the_process_says(code: str, times: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_types, "_MEASURE", code)
    assert machine_types.bfloat16_times() == times


def test_it_is_measured_once_for_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFPERF_RUNS", str(tmp_path / "runs"))
    asked: list[float] = []
    for name, value in (("_is_busy", False), ("_product_gflops", 200.0), ("_copy_gb_per_s", 12.0)):
        monkeypatch.setattr(machine, name, lambda value=value: value)
    monkeypatch.setattr(machine, "has_bfloat16", lambda: True)
    monkeypatch.setattr(machine, "bfloat16_times", lambda: asked.append(1.0) or 2.5)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        directory = RunDirectory(tmp_path / name)
        directory.write_json("agent.json", {"versions": {"tensorflow": "2.21.0"}})
        machine.measure(directory)
        assert directory.read_json("machine.json")["bfloat16_times"] == 2.5
    assert len(asked) == 1


def test_it_is_kept_and_a_damaged_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    known = UNKNOWN.with_one_more(100.0, 10.0).with_bfloat16(2.5)
    store(path, "a", known)
    assert load(path) == {"a": known}
    assert known.with_one_more(120.0, 10.0).bfloat16_times == 2.5
    path.write_text(path.read_text().replace("2.5", "-1.0"))
    assert load(path) == {}
