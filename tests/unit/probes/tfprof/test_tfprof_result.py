"""The result of the probe tfprof from a trace: waits, exchanges, and unreadable parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_tfprof_breakdown import facts, three_steps
from tfperfkit_probes.tfprof.probe import TfprofProbe
from tfperfkit_probes.tfprof.streams import Capture
from xspace_builder import SpaceBuilder, step

from tfperfkit.model import ProbeResult
from tfperfkit.testing import FakeRecording, capture_of, check_result


def result_of(tmp_path: Path, builder: SpaceBuilder) -> ProbeResult:
    recording = FakeRecording(tmp_path)
    builder.write(recording.trace_dir / "plugins" / "profile" / "run" / "host.xplane.pb")
    result = TfprofProbe().analyze(capture_of(recording))
    check_result(result)
    return result


def eager_loop(wait_us: float, step_us: float, prefetches: bool = False) -> SpaceBuilder:
    builder = SpaceBuilder()
    stage = "Iterator::Root::Prefetch" if prefetches else "Iterator::Root::Batch"
    builder.plane().line(
        "python",
        *[step(n, n * step_us * 1000, step_us * 1000) for n in range(1, 5)],
        *[("EagerLocalExecute: IteratorGetNext", n * step_us * 1000, wait_us * 1000) for n in range(1, 5)],
        *[(stage, n * step_us * 1000, wait_us * 1000) for n in range(1, 5)],
    )
    return builder


@pytest.mark.parametrize(("wait_us", "step_us"), [(300, 1000), (1500, 20_000), (0, 1000)])
def test_the_wait_for_input_is_measured(tmp_path: Path, wait_us: float, step_us: float) -> None:
    data = result_of(tmp_path, eager_loop(wait_us, step_us)).data
    assert data.input_share == pytest.approx(wait_us / step_us)
    assert data.breakdown_ms["input"] == pytest.approx(wait_us / 1000)


@pytest.mark.parametrize("prefetches", [True, False])
def test_a_pipeline_that_prefetches_is_known(tmp_path: Path, prefetches: bool) -> None:
    assert result_of(tmp_path, eager_loop(800, 1000, prefetches)).data.prefetches is prefetches


def test_a_trace_that_is_missing_or_damaged_is_a_reason(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    assert TfprofProbe().analyze(capture_of(recording)).reason == "no trace was recorded"
    path = recording.trace_dir / "plugins" / "profile" / "run" / "host.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x0a\xff\xff\x01")
    result = TfprofProbe().analyze(capture_of(recording))
    assert result.status == "failed" and result.reason is not None and "damaged" in result.reason
    small = FakeRecording(tmp_path, options={"max_mb": "0.000001"})
    assert "too large" in (TfprofProbe().analyze(capture_of(small)).reason or "")


def test_a_record_can_not_lead_out_of_the_run_directory(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path / "run")
    three_steps().write(tmp_path / "elsewhere.xplane.pb")
    recording.append("captures", {"broken": True})
    recording.append(
        "captures",
        Capture(file="../../elsewhere.xplane.pb", steps=3, first_step=1, last_step=3, ended="window"),
    )
    result = TfprofProbe().analyze(capture_of(recording))
    assert result.status == "failed" and "outside of the run directory" in (result.reason or "")


def collective(name: str, begin: float, waits: float | None) -> tuple[Any, ...]:
    """As it is handed over, or (``waits``) as another thread waits for the others."""
    if waits is not None:
        return (f"{name}:CollectiveReduceV2", begin, waits, {"step_id": 7})
    return ("ExecutorState::ProcessAsync::Start", begin, 20, {"name": name, "kernel_type": "CollectiveReduceV2"})


def test_an_exchange_is_one_however_often_the_trace_has_it(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line("python3.11", step(1, 0, 100_000))
    handed = [collective("sum", 1_000, None), collective("sum", 40_000, None), collective("alone", 80_000, None)]
    plane.line("tf_pool", *handed)
    plane.line("collective_ops", collective("sum", 1_100, 30_000), collective("sum", 40_100, 20_000))
    result = facts(tmp_path, builder)
    rows = [(row.step, row.name, round(row.after_ms * 1000, 3), round(row.ms * 1000, 3)) for row in result.exchanges]
    assert rows == [(1, "sum", 1.1, 30.0), (1, "sum", 40.1, 20.0), (1, "alone", 80.0, 0.02)]
    assert (round(result.exchange_ms * 1000, 3), result.exchange_hidden_ms) == (50.06, 0)


def test_what_computes_during_an_exchange(tmp_path: Path) -> None:
    """Let an operation around the exchange only wait for it."""
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line("python3.11", step(1, 0, 100_000))
    plane.line("collective_ops", ("cond:If", 1_000, 40_000), collective("sum", 1_100, 30_000))
    plane.line("tf_pool", ("dense:MatMul", 500, 10_600), ("dense/relu:Relu", 60_000, 5_000))
    result = facts(tmp_path, builder)
    assert [round(ms * 1000, 3) for ms in (result.exchange_ms, result.exchange_hidden_ms)] == [30, 10]


def test_a_function_that_is_instantiated_again(tmp_path: Path) -> None:
    """The first call of a function in the trace may be its first at all; a call that finds it takes microseconds."""
    builder = SpaceBuilder()
    calls: list[tuple[Any, ...]] = []
    for begin, name, before in ((0, "f_1", 20e6), (50e6, "f_1", 30e6), (100e6, "f_1", 20e3), (150e6, "g_2", 40e6)):
        calls.append((f"EagerLocalExecute: __inference_{name}", begin, before + 5e6))
        calls.append(("KernelAndDeviceFunc::Run", begin + before, 5e6))
    builder.plane().line("python3.11", *calls)
    result = facts(tmp_path, builder)
    assert (result.instantiations, round(result.instantiation_ms, 3)) == (1, 30.0)
