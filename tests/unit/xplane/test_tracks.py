"""Threads as arrays in order of time hold what the objects hold; a trace is opened once for all who read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xspace_builder import SpaceBuilder

from tfperfkit.errors import Unavailable
from tfperfkit.xplane import open_space, reader, sharing, tracks
from tfperfkit.xplane.intervals import NONE, inside, overlap, spans_of, union, without
from tfperfkit.xplane.names import Kind
from tfperfkit.xplane.tracks import read_tracks

_NAMES = ["EagerLocalExecute: Mul", "dense/MatMul:MatMul", "dot.3", "FunctionRun", "end: dot.3", "Threadpool::Wait"]
_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(_NAMES),
        st.integers(0, 50),
        st.integers(0, 50),
        st.fixed_dictionaries({}, optional={"id": st.integers(-3, 10**19 // 4), "hlo_op": st.text(max_size=9)}),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(_EVENTS, max_size=3), block=st.integers(1, 9), kept=st.booleans())
def test_any_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list, block: int, kept: bool) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line("all names", *((name, 0, 1) for name in _NAMES))
    for number, events in enumerate(lines):
        plane.line(f"line {number}", *events)
    monkeypatch.setattr(tracks, "_BLOCK", block)
    monkeypatch.setattr(reader, "KEPT_BYTES", 1 << 20 if kept else 0)
    with open_space(builder.write(tmp_path / "a.xplane.pb")) as space:
        (host,) = space.planes
        found = read_tracks(host)
        assert (read_tracks(host) is found) == kept
        wanted = found.flag_kinds({Kind.EAGER, Kind.OP, Kind.MAYBE_THUNK, Kind.CALL})
        names = {name for name, is_wanted in zip(found.names, wanted.tolist(), strict=True) if is_wanted}
        assert names - {""} == set(_NAMES[:4])
        if "hlo_op" not in host.stat_ids:
            names.remove("dot.3")  # what would be an XLA kernel where there are some
        for _ in range(2):
            for line, track in zip(host.lines(), found.lines(), strict=True):
                events = list(line.in_order(names.__contains__))
                which = track.where(wanted)
                assert track.name == line.name
                assert [(begin, end, found.names[code]) for begin, end, code in track.events(which)] == [
                    (event.begin_ps, event.end_ps, event.name) for event in events
                ]
                assert [number or 0 for number in track.numbers("id", which)] == [
                    number if number is not None and number != -1 else 0 for number in map(_id, events)
                ]
                assert [text for (text,) in track.texts(("hlo_op",), which)] == [
                    event.stat("hlo_op") for event in events
                ]


def _id(event: object) -> int | None:
    found: int | None = event.stat("id")  # type: ignore[attr-defined]
    return found


def test_a_name_that_is_not_in_the_file(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line("x", ("dot.3", 1, 1, {"hlo_op": "dot.3"}), ("EagerLocalExecute: Mul", 5, 1))
    del plane.message.event_metadata[1]
    with open_space(builder.write(tmp_path / "a.xplane.pb")) as space:
        found = read_tracks(space.planes[0])
        (track,) = found.lines()
        every = track.where(found.flag_kinds(set(Kind)))
        assert [found.names[code] for _, _, code in track.events(every)] == ["dot.3", ""]


def test_a_thread_that_begins_at_no_session_s_time_is_damage(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line("x", ("EagerLocalExecute: Mul", 5, 1), timestamp_ns=1 << 62)
    with (
        open_space(builder.write(tmp_path / "a.xplane.pb")) as space,
        pytest.raises(Unavailable, match="is damaged: a line of it begins at"),
    ):
        list(read_tracks(space.planes[0]).lines())


def test_a_trace_is_opened_once_while_it_is_shared(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane("first")
    path = builder.write(tmp_path / "a.xplane.pb")
    with open_space(path) as alone, open_space(path) as again:
        assert alone is not again
    with sharing():
        with open_space(path) as one:
            pass
        with sharing(), open_space(path) as other:
            assert other is one
        with pytest.raises(Unavailable, match="too large"), open_space(path, 1):
            pass
        with open_space(path) as other:
            assert other is one
        path.unlink()
        builder.plane("second")
        builder.write(path)
        with open_space(path) as other:
            assert [plane.name for plane in other.planes] == ["first", "second"]
        assert [plane.name for plane in one.planes] == ["first"]  # who still has the old one can read it
    with open_space(path) as later:
        assert later is not other


def test_intervals_and_moments() -> None:
    spans = union([spans_of([(0, 10), (20, 30), (30, 35), (50, 50), (60, 70)])])
    moments = spans_of((moment, moment + 2) for moment in range(-3, 75))
    covered = {moment for begin, end in zip(*spans, strict=True) for moment in range(begin, end)}
    assert inside(spans, moments.begin).tolist() == [moment in covered for moment in range(-3, 75)]
    assert overlap(spans, moments.begin, moments.end).tolist() == [
        moment in covered or moment + 1 in covered for moment in range(-3, 75)
    ]
    others = union([spans_of([(-5, 3), (8, 22), (62, 64)])])
    left = without(spans, others)
    assert list(zip(*left, strict=True)) == [(3, 8), (22, 35), (60, 62), (64, 70)]
    assert without(spans, NONE) is spans and without(NONE, spans) is NONE
    far = spans_of([(-(1 << 80), 1 << 80)])
    assert (far.begin.tolist(), far.end.tolist()) == ([-(1 << 62)], [1 << 62])
