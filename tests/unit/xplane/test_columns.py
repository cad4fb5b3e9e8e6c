"""Events as arrays are the events as objects, whatever wrote the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu_builder import gpu_trace
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xspace_builder import SpaceBuilder

from tfperfkit.errors import Unavailable
from tfperfkit.xplane import Space, columns, open_space

STATS = ("correlation_id", "tf_op", "memcpy_details", "id", "share", "raw")


def agree(space: Space) -> int:
    count = 0
    for plane in space.planes:
        for line, arrays in zip(plane.lines(), columns.columns(plane), strict=True):
            events = list(line.events())
            assert (line.name, line.id, len(events)) == (arrays.name, arrays.id, len(arrays))
            assert [event.begin_ps for event in events] == arrays.begin_ps.tolist()
            assert [event.duration_ps for event in events] == arrays.duration_ps.tolist()
            assert [event.name for event in events] == [arrays.name_of(kind) for kind in arrays.kind.tolist()]
            for name in STATS:
                assert [event.stats.get(name) for event in events] == arrays.stat(name)
            count += len(events)
    return count


def test_a_trace_of_two_gpus(tmp_path: Path) -> None:
    with open_space(gpu_trace().write(tmp_path / "a.xplane.pb")) as space:
        assert agree(space) == 5 * (3 + 8) + 2 * 5 * 4


_VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(max_size=300), st.binary(max_size=200)
)
_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b:Relu", "c" * 200]),
        st.integers(0, 2**50),
        st.integers(0, 2**50),
        st.dictionaries(st.sampled_from(STATS), _VALUES, max_size=4),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(_EVENTS, max_size=3), piece=st.integers(17, 400), block=st.integers(1, 9))
def test_any_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list, piece: int, block: int) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    for number, events in enumerate(lines):
        plane.line(f"line {number}", *events, timestamp_ns=number)
    monkeypatch.setattr(columns, "_PIECE", piece)
    monkeypatch.setattr(columns, "_BLOCK", block)
    with open_space(builder.write(tmp_path / "a.xplane.pb")) as space:
        assert agree(space) == sum(map(len, lines))


def test_fields_in_another_order(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    line = plane.line("x", ("a", 1, 2), ("b", 3, 4, {"id": 9}))
    data = builder.bytes()
    for event in line.events:
        usual = event.SerializeToString()
        numbers = ((b"\x18", event.duration_ps), (b"\x10", event.offset_ps), (b"\x08", event.metadata_id))
        turned = b"".join(tag + varint(number) for tag, number in numbers)
        rest = usual[len(turned) :]
        assert len(turned + rest) == len(usual)
        data = data.replace(usual, turned + rest)
    assert data != builder.bytes()
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(data)
    with open_space(path) as space:
        assert agree(space) == 2


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def test_names_that_nobody_wants_are_left_out(tmp_path: Path) -> None:
    with open_space(gpu_trace(2).write(tmp_path / "a.xplane.pb")) as space:
        plane = space.plane("/host:CPU")
        assert plane is not None
        (python, launches) = columns.columns(plane, lambda name: name == "train")
        assert [python.name_of(kind) for kind in python.kind.tolist()] == ["train", "train"]
        assert len(launches) == 0
        assert [line.name for line in columns.columns(plane, lines=lambda name: name == "python")] == ["python"]


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_damaged_line_is_reported(tmp_path: Path, cut: int) -> None:
    """Any file gives the numbers, or one line of words, never a crash."""
    data = bytearray(gpu_trace(2).bytes())
    for place in range(60, len(data), 97):
        data[place] = (data[place] * 31 + cut) % 256
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(bytes(data))
    try:
        with open_space(path) as space:
            for plane in space.planes:
                for line in columns.columns(plane):
                    line.coded(STATS)
                    line.numbers("correlation_id")
    except Unavailable as error:
        assert "damaged" in str(error) or "refused" in str(error)
