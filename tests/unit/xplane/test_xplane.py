"""Reading traces: made ones, damaged ones, large ones, and one of eight real accelerators."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xspace_builder import SpaceBuilder

from tfperfkit.errors import Unavailable
from tfperfkit.xplane import Space, open_space, profile_options, reader
from tfperfkit.xplane.schema import message_class

MI300 = Path(__file__).resolve().parents[4] / "shared" / "traces" / "mi300_jax_conv.xplane.pb"


def small() -> SpaceBuilder:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line(
        "python",
        ("EagerLocalExecute: MatMul", 10, 5, {"id": -7, "share": 0.5, "what": "text", "raw": b"\xff\x00"}),
        ("ThreadpoolListener::Record", 12, 0),
        timestamp_ns=100,
    )
    plane.line("tf_Compute/1", *[(f"op{n % 3}:Relu", n, 1) for n in range(50)])
    return builder


def everything(space: Space) -> list[tuple[str, str, int, int]]:
    return [
        (line.name, event.name, event.begin_ps, event.duration_ps)
        for plane in space.planes
        for line in plane.lines()
        for event in line.events()
    ]


def test_a_file_that_is_written_anew_while_it_is_read(tmp_path: Path) -> None:
    """As by a window that follows another; a mapped file that is cut is the end of the process."""
    builder = SpaceBuilder()
    builder.plane().line("tf_Compute/1", *[(f"op{n}:Relu", n, 1) for n in range(20_000)])
    file = builder.write(tmp_path / "a.xplane.pb")
    with open_space(file) as space:
        os.truncate(file, 10)
        assert len(everything(space)) == 20_000


def test_names_times_and_stats_are_resolved(tmp_path: Path) -> None:
    with open_space(small().write(tmp_path / "x.xplane.pb")) as space:
        plane = space.plane("/host:CPU")
        assert plane is not None and plane.line_count == 2
        assert space.plane("/device:GPU:0") is None and space.devices() == ()
        line = next(plane.lines())
        assert (line.name, line.id, line.timestamp_ns) == ("python", 1, 100)
        (event,) = line.events(lambda name: "Threadpool" not in name)
        assert event.name == "EagerLocalExecute: MatMul"
        assert (event.begin_ps, event.duration_ps, event.end_ps) == (110_000, 5_000, 115_000)
        assert event.stats == {"id": -7, "share": 0.5, "what": "text", "raw": b"\xff\x00"}
        assert event.stat("id") == -7 and event.stat("absent") is None
        assert event.occurrences == 1


def test_keep_is_asked_once_for_each_name(tmp_path: Path) -> None:
    asked: list[str] = []
    with open_space(small().write(tmp_path / "x.xplane.pb")) as space:
        *_, line = space.planes[0].lines()
        kept = list(line.events(lambda name: asked.append(name) or name == "op1:Relu"))
    assert sorted(asked) == ["op0:Relu", "op1:Relu", "op2:Relu"]
    assert len(kept) == 17


def test_values_by_reference_and_stats_of_the_kind(tmp_path: Path) -> None:
    builder = small()
    plane = builder.message.planes[0]
    reference = plane.lines[0].events[1].stats.add()
    reference.metadata_id, reference.ref_value = 3, 3  # the stat named "what", whose value is that name
    kind = plane.event_metadata[0].value.stats.add()
    kind.metadata_id, kind.str_value = 3, b"of the kind"
    nothing = plane.lines[0].events[1].stats.add()
    nothing.metadata_id = 99
    with open_space(builder.write(tmp_path / "x.xplane.pb")) as space:
        first, second = next(space.planes[0].lines()).events()
        assert first.stats["what"] == "text"  # the event's own wins
        assert second.stats == {"what": "what"}


def test_a_name_that_is_no_utf8_costs_nothing_else(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane("/host:CPU").line("py", ("bad\udcff", 0, 1), ("good:Relu", 2, 1))
    with open_space(builder.write(tmp_path / "x.xplane.pb")) as space:
        names = [name for _, name, _, _ in everything(space)]
    assert names == ["bad\ufffd", "good:Relu"]


@pytest.mark.parametrize("part", [1, 7, 64, 1000])
def test_a_large_line_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    path = small().write(tmp_path / "x.xplane.pb")
    with open_space(path) as space:
        whole = everything(space)
    monkeypatch.setattr(reader, "PART_BYTES", part)
    with open_space(path) as space:
        assert everything(space) == whole
        lines = list(space.planes[0].lines())
        assert [(line.name, line.timestamp_ns) for line in lines] == [("python", 100), ("tf_Compute/1", 0)]


@pytest.mark.parametrize("part", [16, 1 << 20])
def test_events_come_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(reader, "PART_BYTES", part)
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line("mixed", ("inner", 5, 1), ("outer", 5, 9), ("first", 0, 1))
    plane.line("sorted", ("outer", 0, 9), ("inner", 0, 1), ("last", 3, 1))
    with open_space(builder.write(tmp_path / "x.xplane.pb")) as space:
        mixed, already = space.planes[0].lines()
        assert [event.name for event in mixed.in_order()] == ["first", "outer", "inner"]
        assert [event.name for event in already.in_order()] == ["outer", "inner", "last"]


def test_what_can_not_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="can't be read"):
        open_space(tmp_path / "missing.xplane.pb")
    empty = tmp_path / "empty.xplane.pb"
    empty.touch()
    with pytest.raises(Unavailable, match="is empty"):
        open_space(empty)
    with pytest.raises(Unavailable, match="too large to read"):
        open_space(small().write(tmp_path / "x.xplane.pb"), limit_bytes=100)
    with pytest.raises(Unavailable, match="can't be read|is empty"):
        open_space(tmp_path)


def test_a_trace_cut_anywhere_is_damaged_or_short(tmp_path: Path) -> None:
    data = small().bytes()
    path = tmp_path / "x.xplane.pb"
    refused = 0
    for length in range(1, len(data)):
        path.write_bytes(data[:length])
        try:
            with open_space(path) as space:
                everything(space)
        except Unavailable as error:
            assert "damaged" in str(error) and "\n" not in str(error)
            refused += 1
    assert refused > 0.9 * len(data)


@given(st.binary(min_size=1, max_size=200), st.integers(0, 10_000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
def test_bytes_that_are_no_trace_never_surprise(tmp_path: Path, noise: bytes, where: int) -> None:
    data = bytearray(small().bytes())
    where %= len(data)
    data[where : where + len(noise)] = noise
    path = tmp_path / "x.xplane.pb"
    for content in (noise, bytes(data)):
        path.write_bytes(content)
        try:
            with open_space(path) as space:
                profile_options(space)
                for plane in space.planes:
                    for line in plane.lines():
                        for event in line.in_order():
                            assert isinstance(event.stats, dict)
        except Unavailable:
            pass


def test_the_options_that_the_profiler_used(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane("Task Environment")
    plane.stats(plane.message.stats, {"profile_options": b"\x08\x01\x10\x02\x18\x01 \x01(\x018\x01"})
    with open_space(builder.write(tmp_path / "x.xplane.pb")) as space:
        assert profile_options(space) == {
            "host_tracer_level": 2,
            "device_tracer_level": 1,
            "python_tracer_level": 1,
        }
    with open_space(small().write(tmp_path / "y.xplane.pb")) as space:
        assert profile_options(space) is None


@pytest.mark.skipif(not MI300.is_file(), reason="the traces of shared/ are not next to the checkout")
def test_a_trace_of_eight_gpus() -> None:
    with open_space(MI300) as space:
        devices = space.devices()
        assert [device.name for device in devices] == [f"/device:GPU:{n}" for n in range(8)]
        assert all(device.stats["device_vendor"] == "AMD" for device in devices)
        lines = list(devices[0].lines())
        assert [line.name for line in lines] == [f"Stream #{n}(Kernel)" for n in (17, 15, 16, 18)]
        assert [len(list(line.events())) for line in lines] == [9, 9, 34, 8]
        kernel = next(e for e in lines[2].events() if e.name == "loop_transpose_fusion.kd")
        assert kernel.stats["hlo_op"] == "loop_transpose_fusion"
        assert kernel.duration_ps == 4_280_000
        host = space.plane("/host:CPU")
        assert host is not None and host.line_count == 32
        assert len(everything(space)) == 3650  # as TensorFlow's own classes count


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here")
def test_the_schema_is_tensorflows() -> None:
    """Field numbers and kinds agree with the installed TensorFlow's own classes."""
    code = """
from tensorflow.tsl.profiler.protobuf import xplane_pb2 as pb
from tfperfkit.xplane.schema import _MESSAGES, message_class
for name in ("XSpace", "XPlane", "XLine", "XEvent", "XStat", "XEventMetadata", "XStatMetadata"):
    theirs = {f.name: (f.number, {9: 12}.get(f.type, f.type)) for f in getattr(pb, name).DESCRIPTOR.fields}
    ours = {f.name: (f.number, f.type) for f in message_class(name).DESCRIPTOR.fields}
    assert ours == theirs, (name, ours, theirs)
both = pb.XSpace(hostnames=["h"]); both.planes.add(name="p")
mine = message_class("XSpace")(); mine.ParseFromString(both.SerializeToString())
assert mine.planes[0].name == b"p" and mine.hostnames[0] == b"h"
print("agree")
"""
    paths = [path for path in sys.path if path]
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{code}"], capture_output=True, text=True
    )
    assert "agree" in ran.stdout, ran.stderr[-2000:]


def test_an_unknown_message_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        message_class("XNothing")
