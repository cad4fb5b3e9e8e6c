"""The rules about placement and reads of tensors, on what the probe ``devices`` makes of made-up records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from devices_builder import GPU, HERE, analyze, copy, facts, fallback, function, slices, sync
from tfperfkit_probes.devices.model import Slice
from tfperfkit_rules.device import RULES

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import Finding, ProbeResult, SourceSpan, Work
from tfperfkit.records.devices import Device, Hardware
from tfperfkit.records.placement import EagerCopy, EagerFallback, VariableHome
from tfperfkit.testing import evidence_of


def findings(result: ProbeResult, work: Work | None = None) -> list[Finding]:
    """Return findings on the probe's record, asked about the steps or a work; the probe itself says nothing."""
    assert result.findings == ()
    evidence = evidence_of(data={"devices": result.data})
    evidence.work = work
    return [finding for rule in RULES for finding in rule(evidence)]


def test_a_healthy_run_has_no_findings(tmp_path: Path) -> None:
    variable = VariableHome(name="w", device="CPU:0", bytes=400)
    functions = (function(variables=[variable]), function("g", variables=[variable]))
    result = analyze(tmp_path, *functions, *slices(5, {"f": 1}))
    assert findings(result) == []
    (row,) = result.data.placements
    assert (row.device, row.ops, row.functions) == ("CPU:0", 24, 2)
    assert (row.variables, row.variable_bytes) == (1, 400), "a variable of two functions is one variable"
    assert [item.calls_per_step for item in result.data.functions] == [1, 0]
    assert result.data.no_gpu.startswith("There is no GPU")


def test_a_gpu_that_is_not_used(tmp_path: Path) -> None:
    hardware = Hardware(nvidia=("Tesla T4",), nodes=("nvidia0",), driver="550.54.14")
    result = analyze(tmp_path, machine=facts(hardware=hardware, cuda_build=False))
    (finding,) = findings(result)
    assert (finding.code, finding.severity, finding.family) == ("DEV001", "high", "device")
    assert "TensorFlow does not use the GPU (tensorflow 2.21.0 is built without GPU support)" in finding.title
    assert "tensorflow[and-cuda]==2.21.0" in finding.advice and "Tesla T4" in finding.detail
    assert finding.evidence[0].value == 1
    used = analyze(tmp_path / "used", machine=facts(GPU, hardware=hardware))
    assert findings(used) == [] and used.data.no_gpu == ""


def test_a_gpu_that_the_script_hides_is_its_own_will(tmp_path: Path) -> None:
    hidden = Device(name="GPU:0", type="GPU", kind="physical", visible=False)
    (finding,) = findings(analyze(tmp_path, machine=facts(hidden)))
    assert finding.severity == "info"
    (asked,) = findings(analyze(tmp_path / "asked", machine=facts(hidden), gpu_required=True))
    assert asked.severity == "high"


def test_a_gpu_was_required(tmp_path: Path) -> None:
    (finding,) = findings(analyze(tmp_path, gpu_required=True))
    assert (finding.code, finding.severity) == ("DEV001", "high")
    assert findings(analyze(tmp_path / "old", options={"require_gpu": True})) == [finding]  # as it was recorded once
    assert findings(analyze(tmp_path / "not", options={"require_gpu": False})) == []


def test_a_device_that_does_not_exist(tmp_path: Path) -> None:
    result = analyze(tmp_path, function(fallbacks=[fallback("device")]), function("g", fallbacks=[fallback("device")]))
    (finding,) = findings(result)
    assert (finding.code, finding.severity) == ("DEV002", "medium")
    assert finding.where == (HERE,) and finding.evidence[0].value == 4
    (row,) = result.data.fallbacks
    assert (row.requested, row.assigned, row.count, row.line) == ("GPU:0", "CPU:0", 4, 12)


def test_other_fallbacks_are_reported_without_blame(tmp_path: Path) -> None:
    result = analyze(tmp_path, function(fallbacks=[fallback("int32")]), machine=facts(GPU))
    assert findings(result) == [] and result.data.fallbacks[0].kind == "int32"


def test_copies_count_per_step(tmp_path: Path) -> None:
    copies = [copy("GPU:0", "CPU:0", 500_000), copy("GPU:0", "CPU:0", 100), copy("CPU:0", "GPU:0", None, argument=True)]
    result = analyze(tmp_path, function(copies=copies), *slices(4, {"f": 3}), machine=facts(GPU))
    rows = {row.kind: row for row in result.data.copies}
    assert rows["result"].bytes_per_step == 3 * 500_100 and rows["result"].copies_per_step == 6
    assert rows["input"].bytes_per_step is None and rows["input"].unknown_sizes == 1
    (finding,) = findings(result)
    assert (finding.code, finding.where) == ("DEV003", (HERE,))
    assert finding.evidence[0].value == 3 * 500_100


def test_feeding_a_gpu_is_no_fault(tmp_path: Path) -> None:
    result = analyze(
        tmp_path,
        function(copies=[copy("CPU:0", "GPU:0", 9_000_000, argument=True)]),
        *slices(4, {"f": 1}),
        machine=facts(GPU),
    )
    assert findings(result) == []


@pytest.mark.parametrize(
    ("changes", "placement"),
    [({}, {}), ({"target": "GPU:0", "repeated": True}, {}), ({"target": "GPU:0"}, {"replicas": True})],
)
def test_copies_whose_time_is_not_measured_are_a_remark(
    changes: dict[str, Any], placement: dict[str, Any], tmp_path: Path
) -> None:
    made = msgspec.structs.replace(copy("CPU:0", "CPU:1", 1000), **changes)
    (finding,) = findings(analyze(tmp_path, function(copies=[made], **placement), *slices(4, {"f": 1})))
    assert (finding.code, rank([finding])[0].severity) == ("DEV003", "info")


def test_a_function_that_no_step_calls_copies_nothing(tmp_path: Path) -> None:
    result = analyze(tmp_path, function(copies=[copy("CPU:0", "CPU:1", 1000)]), *slices(4, {"other": 1}))
    assert findings(result) == [] and result.data.copies[0].bytes_per_step == 0


def test_without_a_window_copies_are_reported_per_call(tmp_path: Path) -> None:
    result = analyze(tmp_path, function(copies=[copy("CPU:0", "CPU:1", 1000)]))
    assert result.data.copies[0].bytes_per_step is None and result.data.copies[0].bytes_per_call == 1000
    (finding,) = findings(result)
    assert "in every call" in finding.title


def test_reads_that_cost_nothing_are_one_remark(tmp_path: Path) -> None:
    reads = (sync(0.01, 2), sync(0.02, line=31), sync(0.01, line=5, through="keras"))
    result = analyze(tmp_path, *slices(5, None, *reads))
    (finding,) = findings(result)
    assert (finding.code, finding.severity, finding.family) == ("SYN001", "info", "sync")
    assert [span.line for span in finding.where] == [31, 30]
    assert finding.evidence[0].value == 3
    assert finding.gain.likely is None
    row = next(row for row in result.data.host_syncs if row.line == 30)
    assert (row.per_step, row.blocked_ms) == (2, pytest.approx(0.01))


def test_reads_that_wait_are_findings(tmp_path: Path) -> None:
    result = analyze(tmp_path, *slices(5, None, sync(4.0), sync(0.3, line=31)))
    high, medium = findings(result)
    assert (high.severity, medium.severity) == ("low", "low")  # no remark
    assert high.share_of_step == pytest.approx(0.4)
    assert high.gain.bounds == (1.0, pytest.approx(1 / 0.6))
    assert 1 < high.gain.likely < 1 / 0.6
    elsewhere = Work(kind="loop", where=SourceSpan("/elsewhere.py", 3), seconds=9.0, share_of_run=0.5)
    assert not findings(result, elsewhere)  # the window was of training steps


def test_on_a_gpu_every_read_waits_a_little(tmp_path: Path) -> None:
    (finding,) = findings(analyze(tmp_path, *slices(5, None, sync(0.01)), machine=facts(GPU)))
    assert finding.severity == "low"


def test_a_read_now_and_then_is_none(tmp_path: Path) -> None:
    result = analyze(tmp_path, *slices(9), *slices(1, None, sync(0.01)))
    assert findings(result) == [] and result.data.host_syncs[0].per_step == pytest.approx(0.1)


def test_a_window_without_a_whole_step(tmp_path: Path) -> None:
    result = analyze(tmp_path, Slice(complete=False, syncs=[sync(1.0)], calls={}))
    assert result.data.window_steps == 0 and findings(result) == []
    (row,) = result.data.host_syncs
    assert (row.count, row.per_step, row.blocked_ms) == (1, None, None)


def test_eager_operations_are_counted_per_step(tmp_path: Path) -> None:
    slice_ = Slice(
        complete=True,
        syncs=[],
        calls={},
        eager_ops={"CPU:0": 6, "GPU:0": 2},
        eager_copies=[EagerCopy("CPU:0", "GPU:0", "train.py", 40, "main", "MatMul", 2, 64)],
        eager_fallbacks=[EagerFallback("Relu", "GPU:1", "GPU:0", "train.py", 41, "main", 3)],
    )
    result = analyze(tmp_path, slice_, slice_, *slices(2), machine=facts(GPU))
    assert {row.device: row.eager_per_step for row in result.data.placements} == {"CPU:0": 3, "GPU:0": 1}
    (row,) = result.data.copies
    assert (row.kind, row.line, row.bytes_per_step, row.copies_per_step) == ("eager", 40, 32, 1)
    (fallback,) = result.data.fallbacks
    assert (fallback.kind, fallback.reason) == ("device", "GPU:1 does not exist (there is only GPU:0)")
    assert fallback.count == 2  # 6 in 4 steps
    assert {finding.code for finding in findings(result)} == {"DEV003", "DEV002"}
