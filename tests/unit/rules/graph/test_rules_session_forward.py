"""GRF001 of sessions: several runs with one feed, for what one run gives."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import site
from evidence_builder import FILE, MS, one
from ops_builder import Builder
from tfperfkit_rules.graph.session_forward import session_forward
from work_builder import SESSION, frame, sampled, work_evidence

from tfperfkit.graph.sessions import SessionRuns
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.graph_contents import SessionRun

SOURCE = """\
import tensorflow.compat.v1 as tf
for bx, by in batches:
    a = session.run(first, {x: bx, y: by})
    b = session.run(second, {x: bx, y: by})
"""


def graph() -> Builder:
    made = Builder("session 1")
    made.add("Placeholder", "x", makes="float32[8,64]")
    made.add("VariableV2", "w", makes="float32[64,64]")
    for name in ("h", "other"):
        made.add("MatMul", name, ("x", "w"), "float32[8,64]")
    for name in ("loss", "right"):
        made.add("Neg", name, ("h",), "float32[8,64]")
        made.add("ApplyGradientDescent", f"train_{name}", ("w", name), "float32[64,64]")
    return made


def found(
    first: str = "loss",
    second: str = "right",
    took: tuple[float, float] = (5.0, 5.0),
    mark: str = "same",
    lines: tuple[int, int] = (3, 4),
) -> list[Finding]:
    stacks = [sampled(50, "graph", frame(line, SESSION)) for line in lines]
    rows, runs = [], []
    for iteration in range(100):
        for number, (name, line) in enumerate(zip((first, second), lines, strict=True)):
            begin = (iteration * 20 + number * 10) * MS
            rows.append([lines.index(line) + 1, begin, int(begin + took[number] * MS), 1])
            fed = f"{iteration} {number if mark == 'other' else 0}"
            asked = {"file": FILE, "line": line, "fetched": [name], "feeds": {"x": fed}}
            runs.append(SessionRun(graph="session 1", thread=1, begin_ns=begin + 1, **asked))
    made = [msgspec.to_builtins(site(number + 1, "session", line)) for number, line in enumerate(dict.fromkeys(lines))]
    offered = SessionRuns(runs, {"session 1": graph().graph()}.get)
    fields: dict[str, Any] = {"loop": 2, "iterations": 100, "records": {"sites": made, "markers": rows}}
    return list(session_forward(work_evidence(SOURCE, stacks, offers={"ops": [offered]}, **fields)))


@pytest.mark.parametrize(("first", "second"), [("loss", "right"), ("h", "right"), ("train_loss", "loss")])
def test_one_run_gives_both(first: str, second: str) -> None:
    finding = one(found(first, second))
    assert finding.title == "session.run called 2 times with one feed for the same network"
    assert (finding.code, finding.where) == ("GRF001", (SourceSpan(FILE, 3), SourceSpan(FILE, 4)))
    assert finding.gain.bounds == pytest.approx((1 / 0.7, 2.0), rel=0.01)
    assert ("update" in finding.detail) == (first == "train_loss")


def test_heads_that_one_line_asks_in_turn() -> None:
    finding = one(found(lines=(3, 3)))
    assert finding.where == (SourceSpan(FILE, 3),)
    assert finding.share_of_step == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    "different",
    [
        {"second": "other"},  # another network
        {"first": "train_loss", "second": "train_right"},  # one answers to the other
        {"mark": "other"},  # other values
        {"first": "train_loss", "second": "loss", "took": (9.0, 0.5)},  # its cost is negligible
    ],
)
def test_silence_where_one_run_may_not_do(different: dict[str, Any]) -> None:
    assert found(**different) == []
