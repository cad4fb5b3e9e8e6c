"""The analysis of ``memory`` on made records."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tfperfkit_probes.memory.growers import even_growth
from tfperfkit_probes.memory.growth import growth, theil_sen
from tfperfkit_probes.memory.model import (
    FACTS,
    GC,
    GPUS,
    LENGTHS,
    LIVE,
    LOOKS,
    NAMES,
    RSS,
    Facts,
    GpuRecord,
    LengthRecord,
    LiveRecord,
    LookRecord,
    NameRecord,
    Sample,
)
from tfperfkit_probes.memory.probe import MemoryProbe
from tfperfkit_probes.memory.tables import _size_words
from xspace_builder import SpaceBuilder

from tfperfkit.model import ProbeResult
from tfperfkit.records.memory import Limit
from tfperfkit.syntax.growth import find_growth
from tfperfkit.testing import FakeRecording, capture_of, check_result, even_steps

MB = 1_000_000
STEP_NS = 10_000_000
SCRIPT = """\
import tensorflow as tf

losses: list[tf.Tensor] = []

def train(model, data):
    cache = {}
    for index, batch in enumerate(data):
        loss = model(batch)
        losses.append(loss)
        cache[index] = loss
        model.seen += [batch]

def other(cache):
    cache["x"] = 1
"""


def analyzed(recording: FakeRecording, steps: int = 200) -> ProbeResult:
    result = MemoryProbe().analyze(capture_of(recording, steps=even_steps(steps, STEP_NS, warmup=2)))
    check_result(result)
    assert result.findings == ()
    return result


def recorded(folder: Path, sizes: list[int], peak: int = 0) -> FakeRecording:
    """Own memory at the beginning of each step, in bytes; pages of files come on top."""
    recording = FakeRecording(folder)
    recording.append(FACTS, Facts(limits=(Limit(source="machine", limit_bytes=4000 * MB, free_bytes=3000 * MB),)))
    for index, size in enumerate(sizes):
        recording.append(RSS, Sample(index * STEP_NS + 1, True, size + 100 * MB, size, max(peak, size), 9000 * MB))
    return recording


def test_a_leak_is_a_growth(tmp_path: Path) -> None:
    chance = random.Random(1)
    sizes = [500 * MB + step * MB // 4 + chance.randint(0, 3 * MB) for step in range(200)]
    data = analyzed(recorded(tmp_path, sizes)).data
    assert data.growth_is_significant
    assert data.growth_bytes_per_step == pytest.approx(MB / 4, rel=0.1)
    assert data.growth_range[0] <= MB / 4 <= data.growth_range[1]
    assert data.steps_to_limit == pytest.approx(2950 * MB / (MB / 4), rel=0.1)  # 3,000 MB were free, 50 are taken
    assert (data.limit_source, data.limit_bytes) == ("machine", 4000 * MB)


@pytest.mark.parametrize("seed", range(5))
def test_what_settles_jumps_or_wanders_is_not(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    settles = [int(500 * MB + 80 * MB * (1 - 0.97**step)) for step in range(200)]
    jumps = [500 * MB + 60 * MB * (step > 90) + 60 * MB * (step > 150) for step in range(200)]
    wanders = [500 * MB]
    for _ in range(199):
        wanders.append(wanders[-1] + chance.choice((-MB, 0, 0, MB)))
    slow = [500 * MB + step * 20_000 for step in range(200)]  # 4 MB in the run
    sawtooth = [500 * MB + step % 25 * MB for step in range(200)]
    for number, sizes in enumerate((settles, jumps, wanders, slow, sawtooth)):
        data = analyzed(recorded(tmp_path / str(number), sizes)).data
        assert not data.growth_is_significant, (number, data.growth_bytes_per_step, data.growth_range)
        assert data.steps_to_limit is None


def test_pages_of_files_are_no_growth(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    for index in range(200):
        mapped = 100 * MB + index * MB
        recording.append(RSS, Sample(index * STEP_NS + 1, True, 500 * MB + mapped, 500 * MB, 0, 0))
    data = analyzed(recording).data
    assert data.growth_bytes_per_step == 0
    assert data.rss_peak_bytes == 799 * MB


def test_too_few_steps_are_said(tmp_path: Path) -> None:
    result = analyzed(recorded(tmp_path, [500 * MB] * 6), steps=6)
    assert result.data.growth_bytes_per_step is None and result.data.growth_range is None
    assert any("too few samples" in note for note in result.notes)


def test_no_steps_are_said(tmp_path: Path) -> None:
    result = MemoryProbe().analyze(capture_of(recorded(tmp_path, [500 * MB] * 50)))
    assert any("no training steps" in note for note in result.notes)
    assert result.data.rss_peak_bytes == 600 * MB


def test_the_limit_that_is_nearest(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    recording.append(
        FACTS,
        Facts(
            limits=(
                Limit(source="machine", limit_bytes=4000 * MB),
                Limit(source="address space (ulimit -v)", limit_bytes=10_000 * MB, virtual=True),
            )
        ),
    )
    recording.append(RSS, Sample(1, True, 600 * MB, 500 * MB, 700 * MB, 9000 * MB))
    data = analyzed(recording).data
    assert (data.limit_source, data.share_of_limit) == ("address space (ulimit -v)", pytest.approx(0.9))


def look_at(recording: FakeRecording, steps: list[int], skipped: dict[int, tuple[str, ...]] | None = None) -> None:
    for step in steps:
        recording.append(LOOKS, LookRecord((step - 1) * STEP_NS, 200_000, True, 3, (skipped or {}).get(step, ()), step))


def test_growers_with_line_and_bytes(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    recording = FakeRecording(tmp_path / "run")
    recording.keep_source(str(script))
    steps = [3, 6, 12, 24, 48, 96, 192]
    look_at(recording, steps, {24: ("train",)})
    recording.append(NAMES, NameRecord(1, "losses", "list", str(script), "", 0))
    recording.append(NAMES, NameRecord(2, "cache", "dict", str(script), "train", 5))
    recording.append(NAMES, NameRecord(3, "once", "list", str(script), "train", 5))
    for step in steps:
        recording.append(LENGTHS, LengthRecord(1, (step - 1) * STEP_NS, step, "EagerTensor", 4000))
        if step != 24:  # a debugger was there
            recording.append(LENGTHS, LengthRecord(2, (step - 1) * STEP_NS, 2 * step, "Thing", None))
    recording.append(LENGTHS, LengthRecord(3, 2 * STEP_NS, 1, "int", 28))
    recording.append(LENGTHS, LengthRecord(3, 5 * STEP_NS, 100, "int", 28))  # filled once
    recording.append(LIVE, LiveRecord("graphs", 0, "train.py", 40, "step", 1, 30))
    for step in steps:
        recording.append(LIVE, LiveRecord("graphs", (step - 1) * STEP_NS, "train.py", 40, "step", step, 30 * step))
    data = analyzed(recording).data
    found = {row.name: row for row in data.growers}
    assert set(found) == {"losses", "cache", "graphs of step"}
    tensors = found["losses"]
    assert (tensors.kind, tensors.container, tensors.line, tensors.function, tensors.found) == (
        "tensors",
        "list",
        9,
        "train",
        "grows",
    )
    assert (tensors.per_step, tensors.bytes_per_step) == (1.0, 4008.0)
    assert (found["cache"].per_step, found["cache"].line, found["cache"].bytes_per_step) == (2.0, 10, None)
    assert (found["graphs of step"].kind, found["graphs of step"].line) == ("graphs", 40)
    assert data.growers[0] is tensors
    assert data.python_blocks_per_step == pytest.approx(1.0)
    assert data.explained_bytes_per_step == 4008.0


@pytest.mark.parametrize(
    ("values", "rate"),
    [
        ([10, 20, 40, 80], 1.0),
        ([1, 2, 4, 8], 0.1),
        ([10, 20, 20, 20], None),  # filled in the beginning
        ([10, 20, 0, 40], None),  # cleared
        ([0, 1, 2, 1000], None),  # a jump
        ([None, None, 40, 80], None),  # two looks
        ([1, 1, 1, 2], None),
    ],
)
def test_what_grows_evenly(values: list[int | None], rate: float | None) -> None:
    assert even_growth([10, 20, 40, 80], values) == (rate if rate is None else pytest.approx(rate))


@pytest.mark.parametrize(
    ("name", "function", "line", "found"),
    [
        ("losses", "", 9, "grows"),
        ("cache", "train", 10, "grows"),
        ("cache", "other", 14, "grows"),
        ("net.seen", "train", 11, "grows"),
        ("batch", "train", None, None),
        ("not a name", "", None, None),
    ],
)
def test_the_line_that_appends(name: str, function: str, line: int | None, found: str | None) -> None:
    place = find_growth(SCRIPT.splitlines(), name, function)
    assert (place.line if place else None, place.found if place else None) == (line, found)


@pytest.mark.parametrize(
    "text",
    [
        "x = x + [1]",
        "x = np.append(x, 1)",
        "x = tf.concat([x, y], 0)",
        "x |= {1}",
        "x.add(1)",
        "x[k] = 1",
        "x.setdefault(k, []).append(1)",
    ],
)
def test_ways_to_grow(text: str) -> None:
    place = find_growth(["x = make()", text], "x")
    assert place is not None and (place.line, place.found) == (2, "grows")


def test_only_made() -> None:
    place = find_growth(["x = make()", "fill(x)", "y = x[0]"], "x")
    assert place is not None and (place.line, place.found) == (1, "made")


def test_slope_of_thousands_of_points() -> None:
    assert theil_sen([(float(x), 3.0 * x + (1000 if x % 10 == 0 else 0)) for x in range(5000)]) == pytest.approx(3.0)
    assert growth([(1.0, 1.0), (1.0, 5.0)]) is None


def test_peak_of_a_function_is_sampled(tmp_path: Path) -> None:
    recording = recorded(tmp_path, [500 * MB] * 100 + [700 * MB] * 50 + [500 * MB] * 50)
    recording.session_streams["samples"] = [
        ["stack", 1, [["train.py", 1, "main", 9], ["train.py", 20, "big", 25]], ""],
        ["stack", 2, [["train.py", 1, "main", 9]], ""],
        *[["s", index * STEP_NS, 1 if 95 <= index < 150 else 2, 7] for index in range(200)],
        ["s"],
        None,
        5,
    ]
    rows = {row.function: row for row in analyzed(recording).data.functions}
    assert rows["big"].peak_bytes == 800 * MB
    assert rows["big"].mean_increase_bytes == 200 * MB
    assert (rows["big"].stays, rows["big"].samples) == (1, 55)
    assert rows["main"].mean_increase_bytes == 0


def test_collections_in_steady_steps(tmp_path: Path) -> None:
    recording = recorded(tmp_path, [500 * MB] * 100)
    recording.append(GC, [STEP_NS // 2, STEP_NS, 2, 5])  # in the warm-up
    recording.append(GC, [50 * STEP_NS, 50 * STEP_NS + 5_000_000, 2, 5])
    recording.append(FACTS, Facts(ended=True, gc_count=(90, 8, 2), gc_ns=(1, 2, 12_000_000)))
    data = analyzed(recording, steps=100).data
    assert (data.gc.count, data.gc.full, data.gc.steady_count, data.gc.steady_ms) == (100, 2, 1, 5.0)
    assert data.gc.steady_share == pytest.approx(5 / 980)


def test_gpus(tmp_path: Path) -> None:
    recording = recorded(tmp_path, [500 * MB] * 200)
    for step in range(200):
        recording.append(GPUS, GpuRecord(step * STEP_NS + 1, "GPU:0", step * MB, 300 * MB))
    builder = SpaceBuilder()
    plane = builder.plane("/device:GPU:0")
    plane.stats(plane.message.stats, {"memory_size": 16_000 * MB})
    builder.write(tmp_path / "trace/plugins/profile/run/host.xplane.pb")
    (row,) = analyzed(recording).data.devices
    assert (row.device, row.peak_bytes, row.last_bytes, row.limit_bytes) == ("GPU:0", 300 * MB, 199 * MB, 16_000 * MB)
    assert row.growth_bytes_per_step == pytest.approx(MB)


def allocation(at: float, address: int, size: int, used: int, op: str = "", peak: int = 0) -> tuple[Any, ...]:
    stats = {
        "allocator_name": "cpu",
        "addr": address,
        "allocation_bytes": size,
        "bytes_allocated": used,
        "peak_bytes_in_use": peak,
    }
    return ("MemoryAllocation" if op else "MemoryDeallocation", at, 0, {**stats, **({"tf_op": op} if op else {})})


def test_operations_at_the_allocators_highest_point(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    plane = builder.plane()
    plane.line("b", allocation(30, 3, 50, 750, "Relu", 900), allocation(40, 3, 50, 700))
    plane.line(
        "a",
        allocation(10, 1, 100, 600, "Conv2D", 900),
        allocation(20, 2, 100, 700, "Conv2D", 900),
        allocation(35, 4, 0, 740),
        ("other", 50, 1),
    )
    recording = recorded(tmp_path, [500 * MB] * 20)
    builder.write(tmp_path / "trace/plugins/profile/run/host.xplane.pb")
    (row,) = analyzed(recording).data.allocators
    assert (row.name, row.peak_in_trace_bytes, row.peak_bytes, row.allocations) == ("cpu", 750, 900, 3)
    assert [(op.op, op.bytes, op.allocations) for op in row.ops] == [("Conv2D", 200, 2), ("Relu", 50, 1)]


def test_a_damaged_trace_is_left_to_tfprof(tmp_path: Path) -> None:
    file = tmp_path / "trace/plugins/profile/run/host.xplane.pb"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xff" * 50)
    assert analyzed(recorded(tmp_path, [500 * MB] * 20)).data.allocators == ()


def test_damaged_records_cost_themselves_only(tmp_path: Path) -> None:
    recording = recorded(tmp_path, [500 * MB] * 200)
    for stream in (RSS, LOOKS, NAMES, LENGTHS, LIVE, GPUS, GC, FACTS):
        recording.append(stream, {"unknown": 1})
    data = analyzed(recording).data
    assert data.growth_bytes_per_step == 0 and len(data.series) == 200


@pytest.mark.parametrize(("size", "words"), [(1000 << 20, "1,000 MiB"), (3 << 29, "1.5 GiB"), (12 << 10, "12 KiB")])
def test_sizes_are_reported_without_exponents(size: float, words: str) -> None:
    assert _size_words(size) == words
