"""FLOPs of single operations and of bodies, against hand counts. No TensorFlow."""

from __future__ import annotations

from typing import Any

import pytest
from ops_builder import Builder, only
from tfperfkit_probes.ops.summary import Summary

from tfperfkit.graph.costs import cost

F = "float32"


@pytest.mark.parametrize(
    ("kind", "takes", "makes", "attributes", "count"),
    [
        ("MatMul", (f"{F}[3,4]", f"{F}[4,5]"), f"{F}[3,5]", {}, 2 * 3 * 4 * 5),
        ("MatMul", (f"{F}[4,3]", f"{F}[4,5]"), f"{F}[3,5]", {"transpose_a": True}, 2 * 3 * 4 * 5),
        ("BatchMatMulV2", (f"{F}[7,3,4]", f"{F}[7,4,5]"), f"{F}[7,3,5]", {}, 7 * 2 * 3 * 4 * 5),
        ("BatchMatMulV2", (f"{F}[7,4,3]", f"{F}[7,4,5]"), f"{F}[7,3,5]", {"adj_x": True}, 7 * 2 * 3 * 4 * 5),
        ("Einsum", (f"{F}[2,3,4]", f"{F}[4,5]"), f"{F}[2,3,5]", {"equation": "abc,cd->abd"}, 2 * 2 * 3 * 4 * 5),
        ("Conv2D", (f"{F}[1,8,8,3]", f"{F}[3,3,3,16]"), f"{F}[1,8,8,16]", {}, 2 * 64 * 16 * 27),
        ("Conv2DBackpropInput", ("int32[4]", f"{F}[3,3,3,16]", f"{F}[1,8,8,16]"), f"{F}[1,8,8,3]", {}, 2 * 1024 * 27),
        ("Conv2DBackpropFilter", (f"{F}[1,8,8,3]", "int32[4]", f"{F}[1,8,8,16]"), f"{F}[3,3,3,16]", {}, 2 * 1024 * 27),
        ("DepthwiseConv2dNative", (f"{F}[1,8,8,3]", f"{F}[3,3,3,2]"), f"{F}[1,8,8,6]", {}, 2 * 64 * 6 * 9),
        ("MaxPool", (f"{F}[1,8,8,3]",), f"{F}[1,4,4,3]", {"ksize": [1, 2, 2, 1]}, 48 * 4),
        ("AddN", (f"{F}[10]",) * 4, f"{F}[10]", {}, 30),
        ("Sum", (f"{F}[10,10]", "int32[1]"), f"{F}[10]", {}, 100),
        ("Tanh", (f"{F}[10]",), f"{F}[10]", {}, 10),
        ("AddV2", ("int32[10]", "int32[10]"), "int32[10]", {}, 0),
        ("Transpose", (f"{F}[3,4]", "int32[2]"), f"{F}[4,3]", {}, 0),
        ("AssignSubVariableOp", ("resource[]", f"{F}[6]"), "", {}, 6),
        ("MatMul", (f"{F}[None,4]", f"{F}[4,5]"), f"{F}[None,5]", {}, None),
        ("Tanh", (f"{F}[?]",), f"{F}[?]", {}, None),
    ],
)
def test_of_one_operation(kind: str, takes: tuple[str, ...], makes: str, attributes: Any, count: float | None) -> None:
    graph, node = only(kind, takes, makes, **attributes)
    assert cost(graph, node) == count


def test_an_open_first_dimension_is_filled() -> None:
    graph, node = only("MatMul", (f"{F}[None,4]", f"{F}[4,5]"), f"{F}[None,5]")
    assert cost(graph, node, 8) == 2 * 8 * 4 * 5
    assert str(node.outputs[0]) == f"{F}[None,5]"  # and stays as it was


def loop(limit: str) -> tuple[Builder, Builder, Builder]:
    """while counter < limit: x = x + x, counter += 2"""
    condition, body, outer = Builder("cond_1"), Builder("body_1"), Builder()
    for inner in (condition, body):
        for name, makes in (("counter", "int32[]"), ("limit", "int32[]"), ("x", f"{F}[10]")):
            inner.add("Placeholder", name, makes=makes)
    condition.add("Less", "Less", ("counter", "limit"), "bool[]")
    condition.add("Identity", "Identity", ("Less",), "bool[]")
    condition.results.append("Identity")
    body.add("Const", "two", (), "int32[]", value=2)
    body.add("AddV2", "add", ("counter", "two"), "int32[]")
    body.add("AddV2", "twice", ("x", "x"), f"{F}[10]")
    for number, name in enumerate(("add", "limit", "twice")):
        body.results.append(body.add("Identity", f"Identity_{number}", (name,)))
    outer.add("Placeholder", "x", makes=f"{F}[10]")
    outer.add("Const", "start", (), "int32[]", value=0)
    outer.add("Const" if limit else "Placeholder", "end", (), "int32[]", **({"value": int(limit)} if limit else {}))
    outer.add("While", "while", ("start", "end", "x"), f"int32[];int32[];{F}[10]", cond="cond_1", body="body_1")
    return outer, condition, body


@pytest.mark.parametrize(("limit", "turns"), [("10", 5), ("9", 5), ("0", 0), ("", 1)])
def test_a_loop_counts_its_turns(limit: str, turns: int) -> None:
    outer, condition, body = loop(limit)
    summary = Summary(outer.graph(condition, body), None)
    assert summary.flops == 10 * turns
    assert summary.exact is bool(limit)
    assert summary.ops["AddV2"] == 2  # the body stands once


def test_of_two_branches_the_costlier_counts() -> None:
    cheap, dear, outer = Builder("cheap"), Builder("dear"), Builder()
    for inner, times in ((cheap, 1), (dear, 3)):
        inner.add("Placeholder", "x", makes=f"{F}[10]")
        for number in range(times):
            inner.add("Tanh", f"tanh_{number}", ("x",), f"{F}[10]")
    outer.add("Placeholder", "x", makes=f"{F}[10]")
    outer.add("StatelessIf", "if", ("x",), f"{F}[10]", then_branch="cheap", else_branch="dear")
    summary = Summary(outer.graph(cheap, dear), None)
    assert summary.flops == 30
    assert summary.ops["Tanh"] == 4


def test_a_gradient_and_what_it_keeps() -> None:
    here = (("train.py", 5, "step"),)
    builder = Builder()
    builder.add("Placeholder", "x", makes=f"{F}[4,4]")
    builder.add("Tanh", "model/dense/Tanh", ("x",), f"{F}[4,4]", here)
    builder.add("TanhGrad", "gradient_tape/model/dense/TanhGrad", ("model/dense/Tanh", "x"), f"{F}[4,4]", here)
    summary = Summary(builder.graph(), None)
    assert summary.has_gradients and summary.activation_bytes == 4 * 4 * 4
    (line,) = summary.by_line()
    assert (line.flops, line.backward_flops) == (16 + 48, 48)
    (layer,) = summary.by_layer()
    assert (layer.layer, layer.flops, layer.backward_flops) == ("model/dense", 16, 48)
    assert summary.moved_bytes == (2 + 3) * 64
