"""The data that lines of compiled functions need, computed from recorded graphs without TensorFlow."""

from __future__ import annotations

from typing import Any

import msgspec
from ops_builder import Builder

from tfperfkit.graph.built import build
from tfperfkit.graph.model import Graph
from tfperfkit.graph.tracebacks import call_path, list_stacks
from tfperfkit.graph.traced import TracedGraphs
from tfperfkit.records.graph_contents import CONTROL_FLOW, LAYER_CALL, Added, GraphContents, Layer, Traceback

F = "float32[4,8]"
FRAMES = [(0, 1, "main"), (0, 10, "step"), (0, 12, "step"), (1, 5, "call")]


def step() -> Builder:
    """Build a matmul in a layer, its gradient, and an assignment."""
    builder = Builder("__inference_step_1")
    x = builder.add("Placeholder", "x", makes=F)
    w = builder.add("Placeholder", "w", makes="resource[]")
    read = builder.add("ReadVariableOp", "dense/Read", (w,), "float32[8,2]")
    y = builder.add("MatMul", "dense/MatMul", (x, read), "float32[4,2]")
    gradient = builder.add("MatMul", "gradient_tape/MatMul", (x, y), "float32[8,2]", transpose_a=True)
    builder.add("AssignVariableOp", "adam/Assign", (w, gradient))
    return builder


def recorded(builder: Builder, **fields: Any) -> GraphContents:
    given: dict[str, Any] = {
        "function": "step",
        "files": ["train.py", "layers.py"],
        "frames": FRAMES,
        "tracebacks": [Traceback([0, 1]), Traceback([0, 1], "optimizers")],
        "stacks": [0, 0, 0, 0, 0, 1],
        **fields,
    }
    return msgspec.structs.replace(builder.contents(), **given)


def built(*contents: GraphContents) -> TracedGraphs:
    graphs: dict[str, Graph] = {}
    graphs.update({each.name: Graph(each, graphs.get) for each in contents})
    return build({each.name: each.name for each in contents}, graphs.get)


def test_stages_and_what_a_gradient_differentiates() -> None:
    graphs = built(recorded(step(), gradients=[Added(4, 5, "__inference_step_1", "dense/MatMul")]))
    (graph,) = graphs.graphs
    assert graph.name == "step" and graph.stages == "ffffbu"
    assert graph.forward == {4: (0, "dense/MatMul")}


def test_what_a_gradient_function_added_is_backward_whatever_its_name() -> None:
    """Build a custom gradient where its author likes. An argument is the graph's, whoever used it first."""
    contents = recorded(step(), gradients=[Added(1, 2, "", ""), Added(3, 4, "__inference_step_1", "x")])
    found = [node.name for node in Graph(contents, lambda _: None).nodes.values() if node.backward]
    assert found == ["dense/MatMul", "gradient_tape/MatMul"]


def test_constants_arguments_and_gradients_have_no_stack_of_their_own() -> None:
    graphs = built(recorded(step(), gradients=[Added(4, 5, "", "")]))
    assert graphs.graphs[0].stacks == [-1, -1, 0, 0, -1, 1]
    assert graphs.areas == ["", "optimizers"]


def test_layers_by_their_scopes() -> None:
    layers = [Layer("dense", "Dense", "2", 7)]
    graphs = built(recorded(step(), layers=layers, scopes=[("dense", 0)]))
    assert graphs.layers == layers and graphs.graphs[0].layers == [("dense", 0)]


def test_the_work_of_a_product_and_the_tensors_that_it_takes() -> None:
    graphs = built(recorded(step()))
    graph = graphs.graphs[0]
    assert graph.work == {3: (2.0 * 4 * 2 * 8, 0), 4: (2.0 * 8 * 2 * 4, 0)}
    assert [graphs.tensors[number] for number in graph.takes[3]] == [F, "float32[8,2]"]
    assert [graphs.tensors[number] for number in graph.makes[3]] == ["float32[4,2]"]
    assert 0 not in graph.takes, "an argument moves nothing"


def test_one_open_size_is_the_batch() -> None:
    builder = Builder()
    x = builder.add("Placeholder", "x", makes="float32[None,8]")
    w = builder.add("Placeholder", "w", makes="float32[8,2]")
    builder.add("MatMul", "MatMul", (x, w), "float32[None,2]")
    builder.add("MatMul", "unknown", (x, w), "float32[?]")
    assert built(builder.contents()).graphs[0].work == {2: (2.0 * 2 * 8, 1)}


def test_a_compiled_function_that_is_called_twice_on_the_same_tensor() -> None:
    outer, inner = Builder("__inference_step_1"), Builder("__inference_model_2")
    inner.add("Tanh", "Tanh", (inner.add("Placeholder", "x", makes=F),), F)
    x = outer.add("Placeholder", "x", makes=F)
    for name in ("call", "call_1"):
        outer.add("PartitionedCall", name, (x,), F, f=inner.name)
    graphs = built(outer.contents(), inner.contents())
    first, second = graphs.graphs[0].layer_calls
    assert graphs.layers[first.layer] == Layer("model", "tf.function")
    assert (first.scope, second.scope) == ("call", "call_1") and first.inputs == second.inputs
    assert graphs.graphs[0].calls == {1: [inner.name], 2: [inner.name]}


def test_an_operation_that_no_table_has_is_kept() -> None:
    builder = Builder()
    builder.add("NobodyKnowsThisOp", "custom", (builder.add("Placeholder", "x", makes=F),), F, f="missing")
    graph = built(builder.contents()).graphs[0]
    assert graph.operations == ["x", "custom"] and graph.calls == {1: ["missing"]}


def test_a_graph_that_was_not_recorded_is_left_out() -> None:
    contents = recorded(step())
    graphs = build({"gone": "gone", contents.name: contents.name}, {contents.name: Graph(contents, lambda _: None)}.get)
    assert graphs.functions == {contents.name: 0} and len(graphs.graphs) == 1


def test_the_body_of_a_loop_is_its_own_function_to_the_user() -> None:
    contents = recorded(step(), tracebacks=[Traceback([0, 1, CONTROL_FLOW, 2, LAYER_CALL, 3])], stacks=[0] * 6)
    (traceback,) = contents.tracebacks
    assert call_path(contents, traceback) == [
        ("train.py", 1, "main"),
        ("train.py", 12, "step"),
        None,
        ("layers.py", 5, "call"),
    ]
    inner, loop, *_ = list_stacks(contents)[0][1:]
    assert (inner, loop) == (("train.py", 12, "step"), ("train.py", 10, "step"))


def test_frames_of_other_packages_lead_to_no_line_of_the_users() -> None:
    contents = recorded(step(), tracebacks=[Traceback([3], foreign=True)], stacks=[0] * 6)
    assert call_path(contents, contents.tracebacks[0]) == []
    assert list_stacks(contents) == [(("layers.py", 5, "call"),)]


def test_runs_of_before_hold_their_stacks_as_places() -> None:
    builder = Builder()
    builder.add("Tanh", "Tanh", makes=F, stack=(("train.py", 3, "f"),))
    assert list_stacks(builder.contents()) == [(("train.py", 3, "f"),)]
