"""The files of ``tfperf export``: slices that nest, times on one clock, bounds, harmless names."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tfperfkit_probes.tfprof.timeline import align, shortest_kept, timeline
from xspace_builder import SpaceBuilder, step

from tfperfkit.errors import Unavailable
from tfperfkit.export import tracks
from tfperfkit.export.chrome import ChromeTrace
from tfperfkit.export.samples import UNKNOWN, read, slices, speedscope
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.storage.run_directory import RunDirectory, read_stream
from tfperfkit.timeline import Slice

MS = 1_000_000
TABLE = StepTable(steps=tuple(Step(number, number * 10 * MS, (number + 1) * 10 * MS) for number in range(1, 9)))


def nested(items: list[Slice]) -> bool:
    """Whether the slices of each track nest."""
    by_track: dict[tuple[str, str], list[Slice]] = defaultdict(list)
    for item in items:
        by_track[item.group, item.track].append(item)
    for found in by_track.values():
        open_ends: list[float] = []
        for item in sorted(found, key=lambda item: (item.begin_ns, -item.duration_ns)):
            while open_ends and open_ends[-1] <= item.begin_ns:
                open_ends.pop()
            if open_ends and item.begin_ns + item.duration_ns > open_ends[-1]:
                return False
            open_ends.append(item.begin_ns + item.duration_ns)
    return True


# --- alignment ---------------------------------------------------------------------------------------------------


def markers(first: int, count: int, begin_ns: float = 500_000) -> list[tuple[int, int]]:
    return [(first + index, int((begin_ns + index * 10 * MS) * 1000)) for index in range(count)]


def test_the_traces_clock_is_found_from_the_step_markers() -> None:
    found = align(markers(3, 4), TABLE, 30 * MS)
    assert found.offset_ns == 30 * MS - 500_000
    assert "4 step markers" in found.words


def test_one_marker_that_began_late_does_not_shift_the_rest() -> None:
    late = markers(3, 4)
    late[0] = (3, late[0][1] + 2 * MS * 1000)
    assert align(late, TABLE, None).offset_ns == 30 * MS - 500_000


def test_steps_that_were_numbered_otherwise_while_they_ran_do_not_shift_it() -> None:
    found = align(markers(5, 3), TABLE, 30 * MS)  # it opened at step 3, as the report counts
    assert found.offset_ns == 30 * MS - 500_000
    assert "window's begin" in found.words


def test_a_trace_without_anything_known_is_refused() -> None:
    with pytest.raises(Unavailable, match="place in time"):
        align(markers(50, 3), TABLE, None)
    assert align([], TABLE, 7 * MS).offset_ns == 7 * MS


# --- TensorFlow's events -----------------------------------------------------------------------------------------


def capture(*events: dict[str, Any]) -> Any:
    return SimpleNamespace(steps=TABLE, session_records=lambda stream: iter(events))


def make_trace(path: Path, operations: int = 20) -> Path:
    space = SpaceBuilder()
    plane = space.plane()
    plane.line("python", *(step(number, (number - 3) * 10 * MS, 9 * MS) for number in range(3, 6)), number=1)
    many = [(f"op{index}:MatMul", index * 1000, 2 ** (index % 10), {"long": "x" * 9000}) for index in range(operations)]
    plane.line("tf_Compute/1", *many, ("ThreadpoolListener::Record", 5, 0), number=2)
    space.plane("/host:metadata").line("x", ("hidden", 0, 5))
    return space.write(path)


def read_all(path: Path, upper: int) -> tuple[list[Slice], tuple[str, ...]]:
    found = timeline(capture(), [path], 1 << 30, upper, lambda count: None)
    return list(found.slices), found.notes


def test_the_traces_events_are_on_the_runs_clock(tmp_path: Path) -> None:
    items, notes = read_all(make_trace(tmp_path / "host.xplane.pb"), 1000)
    assert len(items) == 23 and nested(items) and len(notes) == 1
    begins = {item.name: item.begin_ns for item in items}
    assert [begins[f"train {number}"] for number in (3, 4, 5)] == [30 * MS, 40 * MS, 50 * MS]
    assert begins["op7:MatMul"] == 30 * MS + 7000
    assert max(len(str(value)) for item in items for value in item.args.values()) == 300
    assert {item.group for item in items} == {"TensorFlow /host:CPU"}


def test_too_many_events_lose_the_shortest_and_say_so(tmp_path: Path) -> None:
    items, notes = read_all(make_trace(tmp_path / "host.xplane.pb", 1000), 300)
    operations = [item for item in items if item.name.startswith("op")]
    assert 100 <= len(operations) <= 300 and len(items) - len(operations) == 3
    assert min(item.duration_ns for item in operations) >= 64
    left_out = next(int(note.split()[1]) for note in notes if "left out" in note)
    assert left_out == 1000 - len(operations)


@given(st.dictionaries(st.integers(0, 60), st.integers(1, 1000)), st.integers(0, 5000))
def test_the_bound_holds_and_wastes_nothing(lengths: dict[int, int], upper: int) -> None:
    lower = shortest_kept(Counter(lengths), upper)
    assert sum(count for length, count in lengths.items() if length >= lower) <= upper
    if lower:
        assert sum(count for length, count in lengths.items() if length >= lower - 1) > upper


@pytest.mark.parametrize("damage", [b"", b"\xff" * 100, b"\x0a\xff\xff\x7f" + b"x" * 50])
def test_a_damaged_trace_is_a_reason(tmp_path: Path, damage: bytes) -> None:
    bad = tmp_path / "host.xplane.pb"
    bad.write_bytes(damage)
    with pytest.raises(Unavailable, match="empty|damaged"):
        read_all(bad, 100)
    good = make_trace(tmp_path / "good" / "host.xplane.pb")
    found = timeline(capture(), [bad, good], 1 << 30, 100, lambda count: None)
    assert len(list(found.slices)) == 23 and any("empty" in note or "damaged" in note for note in found.notes)


# --- our tracks --------------------------------------------------------------------------------------------------


def stored(tmp_path: Path, rows: list[Any]) -> Any:
    (tmp_path / "session").mkdir()
    (tmp_path / "session" / "traces.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return SimpleNamespace(directory=RunDirectory(tmp_path), steps=TABLE)


def test_traces_of_functions_nest_and_retraces_are_counted(tmp_path: Path) -> None:
    rows: list[Any] = [
        ["a.py", 5, "inner", 12 * MS, 14 * MS],
        ["a.py", 1, "outer", 10 * MS, 20 * MS],
        ["a.py", 1, "outer", 42 * MS, 43 * MS],
        ["b.py", 1, "outer", 15 * MS, 25 * MS],
        ["damaged"],
        7,
        ["a", 1, "x", "y", None],
    ]
    found = list(tracks.traces(stored(tmp_path, rows)))
    assert nested(found)
    names = [item.name for item in found]
    assert names == [
        "trace 1 of outer (a.py:1)",
        "trace 1 of inner (a.py:5)",
        "trace 1 of outer (b.py:1)",
        "trace 2 of outer (a.py:1)",
    ]
    assert [item.args["step"] for item in found] == [1, 1, 1, 4]
    assert len({item.track for item in found}) == 2  # the one that does not nest has a track of its own


def test_windows_join_the_steps_of_one_label() -> None:
    labels = ["warmup", "warmup", "clean", "tfprof", "tfprof", "settle", "clean", "clean"]
    pairs = zip(TABLE.steps, labels, strict=True)
    table = tuple(Step(s.number, s.begin_ns, s.end_ns, window=label) for s, label in pairs)
    found = list(tracks.windows(SimpleNamespace(steps=StepTable(steps=table))))  # type: ignore[arg-type]
    assert [(item.name, item.begin_ns // MS, item.duration_ns // MS) for item in found] == [
        ("warm-up", 10, 20),
        ("clean", 30, 10),
        ("tfprof", 40, 20),
        ("settling after a window", 60, 10),
        ("clean", 70, 20),
    ]


# --- samples -----------------------------------------------------------------------------------------------------

STACKS: list[Any] = [
    ["stack", 1, [["t.py", 1, "<module>", 9], ["t.py", 3, "main", 4]], "numpy"],
    ["stack", 2, [["t.py", 1, "<module>", 9], ["t.py", 3, "main", 5]], ""],
    ["stack", 3, [["t.py", 1, "<module>", 9]], ""],
]


def sampled(tmp_path: Path, rows: list[Any]) -> Any:
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read(read_stream(path))


def test_a_function_is_one_slice_while_it_is_on_the_stack(tmp_path: Path) -> None:
    good = [["s", 0, 1, 7], ["s", 10 * MS, 1, 7], ["s", 20 * MS, 2, 7], ["s", 30 * MS, 3, 7]]
    rows = [*STACKS, *good, ["bad"], ["s", 1, 99, 7]]
    items = list(slices(sampled(tmp_path, rows)))
    assert nested(items)
    spans = {item.name: (item.begin_ns / MS, item.duration_ns / MS) for item in items}
    assert spans["<module> (t.py)"] == (0, 40)
    assert spans["main (t.py)"] == (0, 30)
    assert spans["t.py:4"] == (0, 20) and spans["[numpy]"] == (0, 20)
    assert spans["t.py:5"] == (20, 10)
    assert spans["t.py:9"] == (30, 10)


def test_a_gap_is_nobodys_time(tmp_path: Path) -> None:
    """Something held the interpreter for 0.2 s: what ran then is not known."""
    found = sampled(tmp_path, [*STACKS, ["s", 0, 3, 7], ["s", 200 * MS, 3, 7]])
    assert [(run.begin_ns // MS, run.end_ns // MS, run.stack is UNKNOWN) for run in found.threads[7]] == [
        (0, 10, False),
        (10, 200, True),
        (200, 210, False),
    ]
    assert sum(item.duration_ns for item in slices(found) if item.name == "<module> (t.py)") == 20 * MS


def test_what_is_a_gap_depends_on_the_rate_of_sampling(tmp_path: Path) -> None:
    rates = [["rate", 0, 10 * MS], ["rate", 15 * MS, 40 * MS], ["rate", 20 * MS, -1], ["rate", 20 * MS, "x"]]
    rows = [rates[0], ["s", 0, 3, 7], *rates[1:], ["s", 20 * MS, 3, 7], ["s", 90 * MS, 3, 7]]
    found = sampled(tmp_path, [*STACKS, *rows])
    assert [(run.begin_ns // MS, run.end_ns // MS, run.stack is UNKNOWN) for run in found.threads[7]] == [
        (0, 130, False)
    ]


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(1, 3), st.integers(1, 2)), max_size=40),
)
def test_the_speedscope_file_is_valid_and_its_time_adds_up(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]
) -> None:
    now, samples = 5 * MS, []
    for pause, stack, thread in rows:
        now += pause * MS
        samples.append(["s", now, stack, thread])
    found = sampled(tmp_path_factory.mktemp("samples"), [*STACKS, *samples])
    assert nested(list(slices(found)))
    document = json.loads(json.dumps(speedscope(found, "train.py <b>", "0", 5 * MS)))
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    assert len({json.dumps(frame) for frame in frames}) == len(frames)
    assert len(document["profiles"]) == len({row[3] for row in samples})
    for profile in document["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"]) > 0
        assert all(0 <= index < len(frames) for stack in profile["samples"] for index in stack)
        assert all(weight > 0 for weight in profile["weights"])
        assert profile["startValue"] + sum(profile["weights"]) == profile["endValue"]


# --- the file ----------------------------------------------------------------------------------------------------


def written(items: list[Slice], origin_ns: int = 0) -> dict[str, Any]:
    file = io.BytesIO()
    with ChromeTrace(file, origin_ns, {"tool": "t"}, lambda count: None) as trace:
        for item in items:
            trace.add(item)
    document: dict[str, Any] = json.loads(gzip.decompress(file.getvalue()))
    return document


TIMES = (st.integers(0, 10**15), st.integers(0, 10**12))


@given(st.lists(st.tuples(st.text(), st.text(), st.text(), *TIMES), max_size=20))
def test_any_names_give_valid_json_and_come_back(rows: list[tuple[str, str, str, int, int]]) -> None:
    items = [Slice(group, track, name, begin, length, {name: name}) for group, track, name, begin, length in rows]
    events = written(items)["traceEvents"]
    shown = [event for event in events if event["ph"] == "X"]
    assert [(event["name"], event["ts"], event["dur"]) for event in shown] == [
        (item.name, round(item.begin_ns / 1000, 3), round(item.duration_ns / 1000, 3)) for item in items
    ]
    named = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert [named[event["pid"], event["tid"]] for event in shown] == [item.track for item in items]


def test_hostile_names_are_only_text() -> None:
    name = "</script><img src=x onerror=alert(1)>\x00\x1b[2J\udc80"
    events = written([Slice("g", name, name, 1000, 2000)], 500)["traceEvents"]
    (event,) = [event for event in events if event["ph"] == "X"]
    assert event["name"] == name.replace("\udc80", "\\udc80") and (event["ts"], event["dur"]) == (0.5, 2.0)


def test_groups_stand_in_the_order_in_which_they_came() -> None:
    events = written([Slice("ours", "steps", "s", 0, 1), Slice("TensorFlow", "x", "y", 0, 1)])["traceEvents"]
    order = {event["pid"]: event["args"]["sort_index"] for event in events if event["name"] == "process_sort_index"}
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert sorted(names, key=order.__getitem__) == [1, 2] and names[1] == "ours"
