"""The lines of a TensorFlow 1 session: each set of fetches counts as a function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ops_builder import Builder
from tfperfkit_probes.lines.graph.analysis import GraphLines, analyse
from tfperfkit_probes.lines.graph.result import report
from xspace_builder import SpaceBuilder

from tfperfkit.records.graph_contents import GraphContents, Place, SessionRun, Traceback
from tfperfkit.storage.stream_writer import encoder
from tfperfkit.testing import FakeRecording, capture_of

FILE = "/work/train.py"
MATRIX = "float32[64,64]"


#: Lines of the graph's operations, and the one that asks for gradients.
LINES, GRADIENTS = (10, 11, 12, 13, 14, 15), 12


def at(line: int) -> tuple[Place, ...]:
    return ((FILE, line, "build"),)


def session() -> GraphContents:
    """Build a layer with its gradient, an update and a histogram, and a head of which only one run asks."""
    made = Builder("session 1")
    made.add("Placeholder", "x", makes=MATRIX)
    made.add("VariableV2", "w", makes=MATRIX, stack=at(10))
    made.add("MatMul", "dense/MatMul", ("x", "w"), MATRIX, stack=at(11))
    made.add("MatMul", "gradients/dense/MatMul_grad/MatMul", ("dense/MatMul", "x"), MATRIX, stack=at(12))
    made.add("ApplyAdam", "Adam", ("w", "gradients/dense/MatMul_grad/MatMul"), MATRIX, stack=at(13))
    made.add("HistogramSummary", "weights", ("w",), "string[]", stack=at(14))
    made.add("Tanh", "head", ("dense/MatMul",), MATRIX, stack=at(15))
    return msgspec.structs.replace(
        made.contents(),
        places=[],
        files=[FILE],
        frames=[(0, 90, "main"), *((0, line, "build") for line in LINES)],
        tracebacks=[Traceback([0, LINES.index(line) + 1], gradient=line == GRADIENTS) for line in LINES],
    )


def run(line: int, *fetched: str) -> Any:
    made = SessionRun(
        graph="session 1", file=FILE, line=line, thread=1, begin_ns=line, fetched=list(fetched), feeds={"x": "a"}
    )
    return json.loads(encoder.encode(made))


def record(tmp_path: Path, strange: bool = False) -> FakeRecording:
    """Record two runs of a training line, and one of another line, of 100 µs each."""
    recording = FakeRecording(tmp_path)
    recording.session_streams["graphs"] = [json.loads(encoder.encode(session()))]
    recording.other_streams["ops", "sessions"] = [run(30, "Adam", "weights"), run(40, "head")]
    trained = [
        ("dense/MatMul:_MklMatMul", 20_000, 10_000),
        ("gradients/dense/MatMul_grad/MatMul:_MklMatMul", 30_000, 20_000),
        ("Adam:ApplyAdam", 50_000, 5_000),
        ("weights:HistogramSummary", 55_000, 30_000),
    ]
    asked = [("dense/MatMul:_MklMatMul", 20_000, 10_000), ("head:Tanh", 30_000, 4_000)]
    python: list[Any] = []
    compute: list[Any] = []
    for number, operations in enumerate([trained, trained, [("other:Op", 20_000, 4_000)] if strange else asked]):
        begin = 200_000 * number
        python.append(("SessionRun", begin + 10_000, 100_000, {"id": 7 + number}))
        compute.append(("ExecutorState::Process", begin + 15_000, 90_000, {"id": 7 + number}))
        compute += [(name, begin + start, length) for name, start, length in operations]
    space = SpaceBuilder()
    plane = space.plane()
    plane.line("python", *python)
    plane.line("tf_Compute/1", *compute)
    space.write(recording.trace_dir / "plugins/profile/run/host.xplane.pb")
    return recording


def found(tmp_path: Path) -> GraphLines:
    return analyse(capture_of(record(tmp_path)))


def test_a_session_run_is_a_call_of_what_it_fetches(tmp_path: Path) -> None:
    made = found(tmp_path)
    assert made.wall == 500_000_000
    trained, asked = made.functions
    assert (trained.owner, asked.owner) == ((FILE, 30, "session.run"), (FILE, 40, "session.run"))
    assert (trained.calls, trained.wall, asked.calls, asked.wall) == (2, 200_000_000, 1, 100_000_000)
    assert made.calls == {"session 1, fetches 0": 2, "session 1, fetches 1": 1}
    assert trained.matched_share == asked.matched_share == pytest.approx(1.0)


def test_its_operations_have_the_lines_that_built_them(tmp_path: Path) -> None:
    made = report(capture_of(record(tmp_path)))
    trained, asked = made.functions
    rows = {row.line: (row.forward_ms, row.backward_ms, row.update_ms) for row in trained.innermost}
    assert rows == {
        11: pytest.approx((0.02, 0.04, 0)),
        13: pytest.approx((0, 0, 0.01)),
        14: pytest.approx((0.06, 0, 0)),
    }
    assert {row.line: row.forward_ms for row in asked.innermost} == pytest.approx({11: 0.01, 15: 0.004})
    assert [(row.part, row.where and row.where.line) for row in trained.beside] == [("summaries", 14)]
    assert made.computed is not None


def test_a_run_of_operations_that_no_known_fetch_needs_has_no_lines(tmp_path: Path) -> None:
    trained, other = analyse(capture_of(record(tmp_path, strange=True))).functions
    assert trained.calls == 2 and (other.owner.file, other.unmatched_wall) == ("", 4_000_000)
