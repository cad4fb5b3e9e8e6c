"""The probe's analysis and findings, on records that were made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tfperfkit_probes import devices_codes as codes
from tfperfkit_probes.devices import DevicesProbe
from tfperfkit_probes.devices_model import FACTS, FUNCTIONS, SLICES, FunctionRecord, Slice
from tfperfkit_probes.devices_tables import _counted
from tfperfkit_probes.devices_trace import accelerators, transfers
from tfperfkit_probes.xplane import open_space
from xspace_builder import SpaceBuilder

from tfperfkit.instruments.devices import Device, DeviceFacts
from tfperfkit.instruments.eager_devices import EagerCopy, EagerFallback
from tfperfkit.instruments.hardware import Hardware
from tfperfkit.instruments.placement import Fallback, Placement, VariableHome
from tfperfkit.instruments.placement_copies import Copy
from tfperfkit.instruments.placement_source import satisfies
from tfperfkit.instruments.syncs import Sync
from tfperfkit.model import ProbeResult, SourceSpan
from tfperfkit.testing import FakeRecording, capture_of, check_result, even_steps, missing_pages

ROOT = Path(__file__).resolve().parents[2]
MI300 = ROOT.parent / "shared" / "traces" / "mi300_jax_conv.xplane.pb"
NS_PER_MS = 1_000_000
HERE = SourceSpan("train.py", 12, "step")
GPU = Device(name="GPU:0", type="GPU", kind="logical")


def facts(*more: Device, **changes: Any) -> DeviceFacts:
    cpus = (Device(name="CPU:0", type="CPU", kind="physical"), Device(name="CPU:0", type="CPU", kind="logical"))
    return DeviceFacts(devices=(*cpus, *more), package="tensorflow 2.21.0", soft_placement=True, **changes)


def copy(source: str, target: str, size: int | None, **changes: Any) -> Copy:
    made = Copy(
        source=source, target=target, op="MatMul", user="Relu", argument=False, variable=False, bytes=size,
        estimated=False, repeated=False, made=HERE, used=HERE,
    )
    return msgspec.structs.replace(made, **changes)


def function(graph: str = "f", **placement: Any) -> FunctionRecord:
    empty: dict[str, Any] = {
        "ops": {"CPU:0": {"MatMul": 3, "Const": 9}}, "asked": {}, "fallbacks": [], "copies": [], "variables": [],
        "replicas": False,
    }
    return FunctionRecord(
        graph=graph, function="step", file="train.py", line=10, owner="user", step=1,
        placement=Placement(**{**empty, **placement}),
    )


def sync(blocked_ms: float, count: int = 1, **changes: Any) -> Sync:
    made = Sync("train.py", 30, "main", "float()", "CPU:0", "", count, round(blocked_ms * NS_PER_MS))
    return msgspec.structs.replace(made, **changes)


def slices(count: int, calls: dict[str, int] | None = None, *syncs: Sync) -> list[Slice]:
    return [Slice(complete=True, syncs=list(syncs), calls=calls or {}) for _ in range(count)]


def analyze(
    folder: Path, *records: Any, machine: DeviceFacts | None = None, options: dict[str, Any] | None = None
) -> ProbeResult:
    """Steps of 10 ms."""
    recording = FakeRecording(folder, options=options)
    recording.append(FACTS, machine or facts())
    for record in records:
        recording.append(SLICES if isinstance(record, Slice) else FUNCTIONS, record)
    result = DevicesProbe().analyze(capture_of(recording, steps=even_steps(20, 10 * NS_PER_MS)))
    check_result(result)
    return result


def test_a_healthy_run_has_no_findings(tmp_path: Path) -> None:
    variable = VariableHome(name="w", device="CPU:0", bytes=400)
    functions = (function(variables=[variable]), function("g", variables=[variable]))
    result = analyze(tmp_path, *functions, *slices(5, {"f": 1}))
    assert result.findings == ()
    (row,) = result.data.placements
    assert (row.device, row.ops, row.functions) == ("CPU:0", 24, 2)
    assert (row.variables, row.variable_bytes) == (1, 400), "a variable of two functions is one variable"
    assert [item.calls_per_step for item in result.data.functions] == [1, 0]
    assert result.data.no_gpu.startswith("There is no GPU")


def test_a_gpu_that_is_not_used(tmp_path: Path) -> None:
    hardware = Hardware(nvidia=("Tesla T4",), nodes=("nvidia0",), driver="550.54.14")
    result = analyze(tmp_path, machine=facts(hardware=hardware, cuda_build=False))
    (finding,) = result.findings
    assert (finding.code, finding.severity, finding.family) == (codes.GPU_UNUSED, "high", "device")
    assert "built without GPU support: everything runs on the CPU" in finding.title
    assert "tensorflow[and-cuda]==2.21.0" in finding.advice and "Tesla T4" in finding.detail
    assert finding.evidence[0].value == 1
    used = analyze(tmp_path / "used", machine=facts(GPU, hardware=hardware))
    assert used.findings == () and used.data.no_gpu == ""


def test_a_gpu_that_the_script_hides_is_its_own_will(tmp_path: Path) -> None:
    hidden = Device(name="GPU:0", type="GPU", kind="physical", visible=False)
    (finding,) = analyze(tmp_path, machine=facts(hidden)).findings
    assert finding.severity == "info"
    (asked,) = analyze(tmp_path / "asked", machine=facts(hidden), options={"require_gpu": True}).findings
    assert asked.severity == "high"


def test_a_gpu_was_required(tmp_path: Path) -> None:
    (finding,) = analyze(tmp_path, options={"require_gpu": True}).findings
    assert (finding.code, finding.severity) == (codes.GPU_UNUSED, "high")
    assert analyze(tmp_path / "not", options={"require_gpu": False}).findings == ()


def fallback(kind: str, requested: str = "GPU:0") -> Fallback:
    return Fallback(
        op="Relu", dtype="float32", requested=requested, assigned="CPU:0", kind=kind, reason="because", count=2,
        where=HERE,
    )


def test_a_device_that_does_not_exist(tmp_path: Path) -> None:
    result = analyze(tmp_path, function(fallbacks=[fallback("device")]), function("g", fallbacks=[fallback("device")]))
    (finding,) = result.findings
    assert (finding.code, finding.severity) == (codes.NO_SUCH_DEVICE, "medium")
    assert finding.where == (HERE,) and finding.evidence[0].value == 4
    (row,) = result.data.fallbacks
    assert (row.requested, row.assigned, row.count, row.line) == ("GPU:0", "CPU:0", 4, 12)


def test_other_fallbacks_are_told_without_blame(tmp_path: Path) -> None:
    result = analyze(tmp_path, function(fallbacks=[fallback("int32")]), machine=facts(GPU))
    assert result.findings == () and result.data.fallbacks[0].kind == "int32"


def test_copies_count_per_step(tmp_path: Path) -> None:
    copies = [copy("GPU:0", "CPU:0", 500_000), copy("GPU:0", "CPU:0", 100), copy("CPU:0", "GPU:0", None, argument=True)]
    result = analyze(tmp_path, function(copies=copies), *slices(4, {"f": 3}), machine=facts(GPU))
    rows = {row.kind: row for row in result.data.copies}
    assert rows["result"].bytes_per_step == 3 * 500_100 and rows["result"].copies_per_step == 6
    assert rows["input"].bytes_per_step is None and rows["input"].unknown_sizes == 1
    (finding,) = result.findings
    assert (finding.code, finding.severity, finding.where) == (codes.COPIES, "medium", (HERE,))
    assert finding.evidence[0].value == 3 * 500_100


def test_feeding_a_gpu_is_no_fault(tmp_path: Path) -> None:
    result = analyze(
        tmp_path, function(copies=[copy("CPU:0", "GPU:0", 9_000_000, argument=True)]), *slices(4, {"f": 1}),
        machine=facts(GPU),
    )
    assert result.findings == ()


@pytest.mark.parametrize(
    ("changes", "placement", "severity"),
    [
        ({}, {}, "info"),
        ({"bytes": 5_000_000}, {}, "low"),
        ({"target": "GPU:0"}, {}, "low"),
        ({"target": "GPU:0", "repeated": True}, {}, "medium"),
        ({"target": "GPU:0", "bytes": 5_000_000}, {"replicas": True}, "info"),
    ],
)
def test_how_grave_copies_are(
    changes: dict[str, Any], placement: dict[str, Any], severity: str, tmp_path: Path
) -> None:
    made = msgspec.structs.replace(copy("CPU:0", "CPU:1", 1000), **changes)
    (finding,) = analyze(tmp_path, function(copies=[made], **placement), *slices(4, {"f": 1})).findings
    assert (finding.code, finding.severity) == (codes.COPIES, severity)


def test_a_function_that_no_step_calls_copies_nothing(tmp_path: Path) -> None:
    result = analyze(tmp_path, function(copies=[copy("CPU:0", "CPU:1", 1000)]), *slices(4, {"other": 1}))
    assert result.findings == () and result.data.copies[0].bytes_per_step == 0


def test_without_a_window_copies_are_told_per_call(tmp_path: Path) -> None:
    result = analyze(tmp_path, function(copies=[copy("CPU:0", "CPU:1", 1000)]))
    assert result.data.copies[0].bytes_per_step is None and result.data.copies[0].bytes_per_call == 1000
    (finding,) = result.findings
    assert finding.severity == "info" and "at each call" in finding.title


def test_reads_that_cost_nothing_are_one_remark(tmp_path: Path) -> None:
    reads = (sync(0.01, 2), sync(0.02, line=31), sync(0.01, line=5, through="keras"))
    result = analyze(tmp_path, *slices(5, None, *reads))
    (finding,) = result.findings
    assert (finding.code, finding.severity, finding.family) == (codes.HOST_SYNC, "info", "sync")
    assert [span.line for span in finding.where] == [31, 30]
    assert finding.evidence[0].value == 3
    assert finding.predicted_speedup is None
    row = next(row for row in result.data.host_syncs if row.line == 30)
    assert (row.per_step, row.blocked_ms) == (2, pytest.approx(0.01))


def test_reads_that_wait_are_findings(tmp_path: Path) -> None:
    result = analyze(tmp_path, *slices(5, None, sync(4.0), sync(0.3, line=31)))
    high, medium = result.findings
    assert (high.severity, medium.severity) == ("high", "medium")
    assert high.share_of_step == pytest.approx(0.4)
    assert high.predicted_range == (1.0, pytest.approx(1 / 0.6))
    assert 1 < high.predicted_speedup < 1 / 0.6


def test_on_a_gpu_every_read_waits_a_little(tmp_path: Path) -> None:
    (finding,) = analyze(tmp_path, *slices(5, None, sync(0.01)), machine=facts(GPU)).findings
    assert finding.severity == "low"


def test_a_read_now_and_then_is_none(tmp_path: Path) -> None:
    result = analyze(tmp_path, *slices(9), *slices(1, None, sync(0.01)))
    assert result.findings == () and result.data.host_syncs[0].per_step == pytest.approx(0.1)


def test_a_window_without_a_whole_step(tmp_path: Path) -> None:
    result = analyze(tmp_path, Slice(complete=False, syncs=[sync(1.0)], calls={}))
    assert result.data.window_steps == 0 and result.findings == ()
    (row,) = result.data.host_syncs
    assert (row.count, row.per_step, row.blocked_ms) == (1, None, None)


def test_eager_operations_are_counted_per_step(tmp_path: Path) -> None:
    slice_ = Slice(
        complete=True, syncs=[], calls={}, eager_ops={"CPU:0": 6, "GPU:0": 2},
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
    assert {finding.code for finding in result.findings} == {codes.COPIES, codes.NO_SUCH_DEVICE}


def test_damaged_records_cost_themselves_only(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    for stream in (FACTS, FUNCTIONS, SLICES):
        recording.append(stream, {"unknown": 1})
    recording.append(FUNCTIONS, function())
    result = DevicesProbe().analyze(capture_of(recording))
    assert len(result.data.functions) == 1 and result.data.facts is None


def test_a_function_without_graphs_is_named_with_its_reason(tmp_path: Path) -> None:
    record = msgspec.structs.replace(function(), placement=None, reason="XLA compiles the whole function")
    result = analyze(tmp_path, record)
    assert result.notes == ("1 concrete function without placements: XLA compiles the whole function",)


@pytest.mark.parametrize(
    ("assigned", "requested", "same"),
    [
        ("CPU:1", "CPU:1", True), ("CPU:0", "CPU:1", False), ("CPU:0", "GPU:0", False), ("GPU:1", "GPU", True),
        ("GPU:0", "/device:gpu:0", True), ("CPU:0", "job:worker", True), ("GPU:1", "GPU:*", True),
    ],
)
def test_a_request_is_met_by_the_fields_that_it_sets(assigned: str, requested: str, same: bool) -> None:
    assert satisfies(assigned, requested) is same


def test_copies_in_a_trace(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane("/device:GPU:0")
    plane.line(
        "Stream #14(MemcpyH2D)",
        ("MemcpyH2D", 0, 2_000_000, {"memcpy_details": "kind_src:pageable kind_dst:device size:1024 dest:0 async:1"}),
        ("MemcpyH2D", 5_000_000, 1_000_000, {"memcpy_details": "kind_src:pageable kind_dst:device size:512 dest:0"}),
        ("MemcpyD2H", 9_000_000, 500_000),
        ("volta_sgemm", 8_000_000, 3_000_000),
    )
    builder.write(tmp_path / "trace/plugins/profile/run/host.xplane.pb")
    result = analyze(tmp_path, machine=facts(GPU))
    rows = {row.kind: row for row in result.data.transfers}
    assert (rows["H2D"].count, rows["H2D"].bytes, rows["H2D"].ms) == (2, 1536, pytest.approx(3.0))
    assert (rows["D2H"].count, rows["D2H"].bytes) == (1, 0)
    (busy,) = result.data.accelerators
    assert (busy.device, busy.busy_ms) == ("GPU:0", pytest.approx(6.0))
    assert any("Accelerators" in table.title for table in result.tables)


def test_a_damaged_trace_is_left_to_tfprof(tmp_path: Path) -> None:
    file = tmp_path / "trace/plugins/profile/run/host.xplane.pb"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xff" * 50)
    assert analyze(tmp_path).data.accelerators == ()


@pytest.mark.skipif(not MI300.is_file(), reason="the shared traces are not on this machine")
def test_the_planes_of_real_accelerators() -> None:
    with open_space(MI300) as space:
        rows, copied = accelerators(space), transfers(space)
    assert [row.device for row in rows] == [f"GPU:{number}" for number in range(8)]
    assert all(row.busy_ms > 0 for row in rows)
    assert rows[1].kernels == 25  # five kernels, five times
    (within,) = copied
    assert (within.device, within.kind, within.count) == ("GPU:0", "D2D", 35)


def test_every_code_has_its_page() -> None:
    pages = ROOT / "docs" / "findings"
    assert missing_pages(codes.TITLES, pages) == []
    for code, title in codes.TITLES.items():
        page = (pages / f"{code}.md").read_text()
        assert page.startswith(f"# {code}: {title}\n")
        for heading in ("## What it means", "## How it is measured", "## Fix", "## When to ignore it"):
            assert heading in page, f"{code} lacks {heading!r}"


def test_one_is_one() -> None:
    assert [_counted(value, "read", "", "s") for value in (0.0, 1.0, 1.1, 20.4)] == [
        "no reads", "1 read", "1.1 reads", "20 reads",
    ]
