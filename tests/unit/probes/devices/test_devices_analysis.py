"""The probe's analysis, on records that were made here."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from devices_builder import GPU, analyze, facts, function
from tfperfkit_probes.devices.model import FACTS, FUNCTIONS, SLICES
from tfperfkit_probes.devices.probe import DevicesProbe
from tfperfkit_probes.devices.tables import _counted
from tfperfkit_probes.devices.trace import accelerators, transfers
from xspace_builder import SpaceBuilder

from tfperfkit.instruments.devices.source import satisfies
from tfperfkit.testing import FakeRecording, capture_of
from tfperfkit.xplane import open_space

ROOT = Path(__file__).resolve().parents[4]
MI300 = ROOT.parent / "shared" / "traces" / "mi300_jax_conv.xplane.pb"


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
        ("CPU:1", "CPU:1", True),
        ("CPU:0", "CPU:1", False),
        ("CPU:0", "GPU:0", False),
        ("GPU:1", "GPU", True),
        ("GPU:0", "/device:gpu:0", True),
        ("CPU:0", "job:worker", True),
        ("GPU:1", "GPU:*", True),
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


def test_one_is_one() -> None:
    assert [_counted(value, "read", "", "s") for value in (0.0, 1.0, 1.1, 20.4)] == [
        "no reads",
        "1 read",
        "1.1 reads",
        "20 reads",
    ]
