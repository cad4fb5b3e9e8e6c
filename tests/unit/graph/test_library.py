"""Recorded graphs by the names that operations call them by."""

from __future__ import annotations

import json

import msgspec
from ops_builder import Builder

from tfperfkit.graph.flow import Flow
from tfperfkit.graph.library import Library
from tfperfkit.graph.recorded import RecordedFunction
from tfperfkit.graph.view import View
from tfperfkit.storage.stream_writer import encoder


def library(*graphs: tuple[Builder, str]) -> Library:
    """Record graphs, each with the name that TensorFlow gives it in the end."""
    contents = [msgspec.structs.replace(builder.contents(), function=name) for builder, name in graphs]
    return Library(json.loads(encoder.encode(each)) for each in contents)


def body(name: str) -> Builder:
    made = Builder(name)
    made.add("Placeholder", "matrix", makes="float32[64,64]")
    made.add("Cholesky", "factor", ("matrix",), "float32[64,64]")
    made.results = ["matrix"]
    return made


def step(called: str) -> Builder:
    made = Builder("__inference_step_1")
    made.add("Placeholder", "x", makes="float32[64,64]")
    made.add("While", "while", ("x",), "float32[64,64]", body=called, cond="while_cond_2")
    return made


def test_a_loop_that_is_differentiated_has_its_body() -> None:
    # Its gradient renames the body (while_v2.py: ``body_graph.name += "_rewritten"``).
    found = library((step("while_body_1_rewritten"), "step"), (body("while_body_1"), "while_body_1_rewritten"))
    root = found.graph("__inference_step_1")
    assert root is not None and root.body("while_body_1_rewritten") is found.graph("while_body_1")
    assert [each.view.in_loop for each in RecordedFunction(root).bodies] == [False, True]


def test_a_loop_hands_on_more_than_its_body_is_recorded_to_give() -> None:
    root = Builder("__inference_step_1")
    root.add("Placeholder", "x", makes="float32[64,64]")
    inputs = ("x", "x", "x")
    root.add("While", "while", inputs, "float32[64,64];float32[64,64];variant[]", body="body", cond="condition")
    inner = body("body")
    inner.add("Placeholder", "other", makes="float32[64,64]")
    inner.results = ["matrix", "other"]  # the gradient's list came later
    condition = body("condition")
    found = library((root, "step"), (inner, "body"), (condition, "condition")).graph("__inference_step_1")
    assert found is not None
    assert Flow(View(found, None)).same(["x"]).states["while", 2] is False


def test_a_graph_is_known_by_its_own_name_first() -> None:
    found = library((body("a"), "b"), (body("b"), "a"))
    assert [graph.name for name in "ab" if (graph := found.graph(name)) is not None] == ["a", "b"]
    assert found.graph("c") is None
