"""Traces of the profiler that nobody's profiler wrote: refused with the reason, within bounded memory."""

from __future__ import annotations

import base64
import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import mutations
import pytest
from apart import apart
from test_damage import bounded

from tfperfkit.analysis.analyze import analyze
from tfperfkit.errors import TfperfError, Unavailable
from tfperfkit.graph.model import MAX_GRAPH_BYTES, Damaged, read_graph
from tfperfkit.viewing.logdir import check
from tfperfkit.xplane import open_space, reader, wire


def field(number: int, data: bytes) -> bytes:
    """Return a field with a length."""
    size, length = len(data), b""
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


def read_all(path: Path) -> int:
    """How many events there are, after all of it was looked at."""
    count = 0
    with open_space(path) as space:
        for plane in space.planes:
            for line in plane.lines():
                for event in line.in_order():
                    assert isinstance(event.name, str) and isinstance(event.stats, dict)
                    count += 1
    return count


EMPTY = field(1, field(2, b"/host:CPU") + field(3, b""))

WRONG: list[bytes] = [
    b"\0" * 100,
    b"\xff" * 100,
    b"\x0b" * 50,
    b"\x0c",
    b"\x08" + b"\xff" * 20,  # groups, a number without an end
    b"\x0a\xff\xff\xff\xff\x0f",
    b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",  # lengths of 4 GB and of 9 EB
    b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x0a\x05abc",
    b"\x0a",
    b"\x08\x01\x10",
    field(1, b"\x1a\xff\xff\xff\xff\x07"),
    field(1, field(3, b"\x22\xff\xff\xff\xff\x07")),
    field(1, field(3, field(4, b"\x0b"))),
    field(1, field(4, b"\x12\x7f")),
    b"{}",
    b"\x1f\x8b\x08\0",
    b"PK\x03\x04",
]


@pytest.mark.parametrize("data", WRONG)
def test_what_is_no_trace_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "h.xplane.pb").write_bytes(data)
    with pytest.raises(Unavailable, match="h.xplane.pb"):
        read_all(tmp_path / "h.xplane.pb")


@pytest.mark.parametrize("name", ["MAX_PLANES", "MAX_LINES", "MAX_METADATA", "MAX_SORTED"])
def test_more_than_a_profiler_writes_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late, early = b"\x08\x01\x10\x09", b"\x08\x01\x10\x01"  # at 9 ps, at 1 ps
    line = field(3, b"".join(field(4, event) for event in (late, early, late)))
    data = field(1, line * 3 + field(4, b"\x08\x01") * 3) * 3
    (tmp_path / "h.xplane.pb").write_bytes(data)
    assert read_all(tmp_path / "h.xplane.pb") == 27
    monkeypatch.setattr(reader, name, 2)
    with pytest.raises(Unavailable, match="is refused: it has more than 2"):
        read_all(tmp_path / "h.xplane.pb")


def test_a_line_of_too_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\x22\0" * 1000
    assert len(wire.parts(data, 0, len(data), 4, 100)[0]) == 20
    monkeypatch.setattr(wire, "MAX_FIELDS", 500)
    with pytest.raises(wire.Damaged, match="more than 500"):
        wire.parts(data, 0, len(data), 4, 100)


def test_any_bytes_are_refused_or_read(recorded: Path, tmp_path: Path) -> None:
    """Change, cut and double bytes of a real trace: the reader alone, so that many can be tried."""
    from mutations import MANY

    trace = next(recorded.glob("trace/plugins/profile/*/*.xplane.pb")).read_bytes()
    path = tmp_path / "h.xplane.pb"
    refused = 0
    for seed in range(20_000 if MANY else 150):
        source = random.Random(seed)
        begin = source.randrange(len(trace)) if seed % 2 else 0
        path.write_bytes(mutations._flipped(source, trace[begin : begin + 20_000 if begin else len(trace)]))
        try:
            read_all(path)
        except Unavailable:
            refused += 1
        try:
            check(path)
        except TfperfError:
            pass
    assert refused > 10


# --- a whole run with it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: b"\x0a\0" * 2_000_000, "more than 10000 planes"),
        (lambda: field(1, b"\x1a\0" * 2_000_000), "more than 100000 lines"),
        (lambda: field(1, b"\x22\0" * 2_000_000), "more than 500000 names"),
    ],
    ids=["planes", "lines", "names"],
)
def test_millions_of_empty_parts(make: Callable[[], bytes], words: str, copied: Path) -> None:
    next(copied.glob("trace/plugins/profile/*/*.xplane.pb")).write_bytes(make())
    reasons, peak = bounded(copied)
    assert words in reasons
    assert peak < 700


def test_graphs_that_expand_without_end(copied: Path) -> None:
    """Replace every packed graph by a megabyte that becomes a gigabyte."""
    bomb = base64.b64encode(zlib.compress(bytes(1 << 30), 9)).decode()
    replaced = 0

    def put(value: object) -> object:
        nonlocal replaced
        if isinstance(value, str) and len(value) > 100:
            try:
                zlib.decompress(base64.b64decode(value, validate=True))
            except (ValueError, zlib.error):
                return value
            replaced += 1
            return bomb if replaced <= 8 else value
        if isinstance(value, list):
            return [put(item) for item in value]
        return {key: put(item) for key, item in value.items()} if isinstance(value, dict) else value

    for path in apart(copied).glob("probes/*/*.jsonl"):
        path.write_text("".join(json.dumps(put(json.loads(line))) + "\n" for line in path.read_text().splitlines()))
    assert replaced
    assert bounded(copied)[1] < 1200


@pytest.mark.parametrize("graph", [b"\n\0" * 2_000_000, b"\0" * 100, b"\n\x7f", bytes(MAX_GRAPH_BYTES + 1)])
def test_graph_that_no_tensorflow_made(graph: bytes) -> None:
    with pytest.raises(Damaged):
        read_graph(zlib.compress(graph))


def test_trace_beyond_the_limit_is_not_even_opened(copied: Path) -> None:
    path = next(copied.glob("trace/plugins/profile/*/*.xplane.pb"))
    with path.open("r+b") as file:
        file.truncate(1 << 40)
    outcome = next(probe for probe in analyze(copied).probes if probe.name == "tfprof")
    assert "too large to read" in str(outcome.reason)
