"""The paths from a function's line to an operation."""

from __future__ import annotations

from graphlines_builder import FILE, GraphsBuilder
from tfperfkit_probes.lines.graph.calls import base_name
from tfperfkit_probes.lines.graph.model import Place
from tfperfkit_probes.lines.graph.origin import Origin, Origins

from tfperfkit.records.graph_contents import Layer


def words(origin: Origin | None) -> list[object]:
    """Return a path in short: line numbers, names of layers and parts."""
    assert origin is not None
    return [node.line if node.kind == "line" else node.name for node in origin.path]


def test_frames_above_the_function_are_left_out_and_helpers_kept() -> None:
    make = GraphsBuilder()
    at = make.stack((90, "main"), (20, "step"), ("helper.py", 5, "forward"))
    make.graph("step", [("MatMul", "MatMul", at, "f")], function="__inference_step_1")
    origin = Origins(make.built()).origin(0, "MatMul")
    assert words(origin) == [20, 5] and origin is not None
    assert [node.file for node in origin.path] == [FILE, "helper.py"] and origin.stage == "f"


def test_a_gradient_goes_to_the_line_of_what_it_differentiates() -> None:
    make = GraphsBuilder()
    forward, tape = make.stack((90, "main"), (20, "step")), make.stack((90, "main"), (30, "step"))
    make.graph(
        "step",
        [
            ("MatMul", "MatMul", forward, "f"),
            ("gradient_tape/MatMul/MatMul", "MatMul", tape, "b", (0, "MatMul")),
            ("gradient_tape/MatMul/MatMul_1", "MatMul", tape, "b", (0, "gradient_tape/MatMul/MatMul")),
            ("ones", "Fill", tape, "b"),
        ],
        function="__inference_step_1",
    )
    origins = Origins(make.built())
    backward = origins.origin(0, "gradient_tape/MatMul/MatMul")
    assert words(backward) == [20] and backward is not None and backward.stage == "b"
    assert words(origins.origin(0, "gradient_tape/MatMul/MatMul_1")) == [20]  # a gradient of a gradient
    assert words(origins.origin(0, "ones")) == [30]  # of nothing known: the line that asks for gradients


def test_layers_stand_where_they_are_called() -> None:
    make = GraphsBuilder()
    at = make.stack((90, "main"), (20, "step"), "layer", (7, "call"), "layer", area="layers")
    make.graph(
        "step",
        [("net/dense/MatMul", "MatMul", at, "f")],
        function="__inference_step_1",
        layers={"net": Layer("net", "Net"), "net/dense": Layer("dense", "Dense", "10")},
    )
    assert words(Origins(make.built()).origin(0, "net/dense/MatMul")) == [20, "net", 7, "dense"]


def test_a_model_that_was_traced_itself_is_around_its_own_lines() -> None:
    make = GraphsBuilder()
    own = make.stack((90, "main"), "layer", (12, "step"))
    inner = make.stack((90, "main"), "layer", (13, "step"), "layer", area="layers")
    make.graph(
        "step",
        [("net/Sort", "TopKV2", own, "f"), ("net/dense/MatMul", "MatMul", inner, "f")],
        function="__inference_step_1",
        layers={"net": Layer("net", "Net"), "net/dense": Layer("dense", "Dense", "10")},
    )
    origins = Origins(make.built())
    assert words(origins.origin(0, "net/Sort")) == [12]
    assert words(origins.origin(0, "net/dense/MatMul")) == [13, "dense"]


def test_parts_of_keras_end_a_path() -> None:
    make = GraphsBuilder()
    at = make.stack((90, "main"), (20, "step"), area="optimizers")
    make.graph("step", [("adam/Mul", "Mul", at, "u")], function="__inference_step_1")
    assert words(Origins(make.built()).origin(0, "adam/Mul")) == [20, "optimizer"]


def test_a_called_function_is_entered_from_each_of_its_callers() -> None:
    make = GraphsBuilder()
    first, second = make.stack((90, "main"), (20, "step")), make.stack((90, "main"), (21, "step"))
    inside = make.stack((90, "main"), (20, "step"), (40, "inner"))  # traced from the first call
    make.graph(
        "step",
        [
            ("call", "PartitionedCall", first, "f"),
            ("call_1", "PartitionedCall", second, "f"),
            ("grad", "PartitionedCall", second, "b", (0, "call_1")),
        ],
        function="__inference_step_1",
        calls={0: ["__inference_inner_2"], 1: ["__inference_inner_2"], 2: ["__inference___backward_inner_3"]},
    )
    make.graph("inner", [("Tanh", "Tanh", inside, "f")], function="__inference_inner_2")
    make.graph(
        "__backward_inner_3",
        [("gradients/Tanh_grad/TanhGrad", "TanhGrad", inside, "b")],
        function="__inference___backward_inner_3",
    )
    origins = Origins(make.built())
    assert words(origins.origin(0, "call/Tanh")) == [20, 40]
    assert words(origins.origin(0, "call_1/Tanh")) == [21, 40]
    backward = origins.origin(0, "grad/gradients/Tanh_grad/TanhGrad")
    assert words(backward) == [21, 40] and backward is not None and backward.stage == "b"


def test_what_two_lines_call_and_is_executed_by_itself_is_of_either() -> None:
    make = GraphsBuilder()
    first, second = make.stack((90, "main"), (20, "step")), make.stack((90, "main"), (21, "step"))
    inside = make.stack((90, "main"), (20, "step"), (40, "inner"))
    make.graph(
        "step",
        [("call", "PartitionedCall", first, "f"), ("call_1", "PartitionedCall", second, "f")],
        function="__inference_step_1",
        calls={0: ["__inference_inner_2"], 1: ["__inference_inner_2"]},
    )
    make.graph("inner", [("Tanh", "Tanh", inside, "f")], function="__inference_inner_2")
    origins = Origins(make.built())
    for origin in (origins.origin(0, "Tanh"), origins.origin(1, "Tanh", root=0)):  # a name without a way; XLA's module
        assert words(origin) == [20, 40] and origin is not None
        assert [node.detail for node in origin.path] == ["either, or line 21", ""]
    assert words(origins.origin(0, "call_1/Tanh")) == [21, 40]


def test_functions_of_one_name_are_told_apart() -> None:
    """As the ``call`` of Keras models is: what leads to the call goes by the call's own frames, not by the name."""
    make = GraphsBuilder()
    first, second = make.stack((90, "main"), (20, "call")), make.stack((90, "main"), (21, "call"))
    inside = make.stack((90, "main"), (20, "call"), (40, "call"))
    make.graph(
        "call",
        [("call", "PartitionedCall", first, "f"), ("call_1", "PartitionedCall", second, "f")],
        function="__inference_call_1",
        calls={0: ["__inference_call_2"], 1: ["__inference_call_2"]},
    )
    make.graph("call", [("Tanh", "Tanh", inside, "f")], function="__inference_call_2")
    origins = Origins(make.built(function="call"))
    assert words(origins.origin(0, "call_1/Tanh")) == [21, 40]


def test_what_a_conditional_update_runs_is_update() -> None:
    make = GraphsBuilder()
    at = make.stack((90, "main"), (20, "step"))
    make.graph("step", [("cond", "If", at, "u")], function="__inference_step_1", calls={0: ["then_1"]})
    make.graph("then_1", [("cond/Mul", "Mul", at, "f")])
    origin = Origins(make.built()).origin(0, "cond/then/_1/cond/Mul")
    assert origin is not None and origin.stage == "u"


def test_a_lambda_on_its_callers_line_is_one_row() -> None:
    make = GraphsBuilder()
    at = make.stack((90, "main"), (20, "step"), (20, "<lambda>"))
    make.graph("step", [("Mul", "Mul", at, "f")], function="__inference_step_1")
    assert words(Origins(make.built()).origin(0, "Mul")) == [20]


def test_keras_own_function_begins_at_the_call_of_fit() -> None:
    make = GraphsBuilder()
    at = make.stack((90, "main"), "layer", area="layers")
    make.graph(
        "one_step",
        [("dense/MatMul", "MatMul", at, "f")],
        function="__inference_one_step_1",
        layers={"dense": Layer("dense", "Dense")},
    )
    origins = Origins(
        make.built(function="one_step", file="/k/keras/trainer.py", line=5, owner="keras", keras_method="fit")
    )
    assert words(origins.origin(0, "dense/MatMul")) == [90, "dense"]
    assert origins.owner == (FILE, 90, "Model.fit")


def test_backward_functions_of_an_eager_tape_belong_to_the_function() -> None:
    traced = GraphsBuilder()
    at = traced.stack((90, "main"), (20, "step"))
    traced.graph("step", [("Tanh", "Tanh", at, "f")], function="__inference_step_1")
    later = GraphsBuilder()
    at = later.stack((90, "main"), (20, "step"))
    later.graph(
        "__backward_step_3",
        [("gradients/Tanh_grad/TanhGrad", "TanhGrad", at, "b")],
        function="__inference___backward_step_3_4",
    )
    later.graph("step", [("Tanh", "Tanh", at, "f")], function="__forward_step_5")
    origins = Origins(later.built(number=2, function="", file="", line=0, owner=""), traced.built())
    origin = origins.origin(0, "gradients/Tanh_grad/TanhGrad")
    assert words(origin) == [20] and origin is not None and origin.stage == "b"
    assert origins.owner == (FILE, 10, "step")


def test_called_from_is_cut_even_if_the_function_is_not_on_the_stack() -> None:
    make = GraphsBuilder()
    at = make.stack((80, "outer"), (90, "main"), (50, "other"))
    make.graph("step", [("Mul", "Mul", at, "f")], function="__inference_step_1")
    places = [Place(FILE, 80, "outer"), Place(FILE, 90, "main")]
    assert words(Origins(make.built(called_from=places)).origin(0, "Mul")) == [90, 50]


def test_base_names() -> None:
    assert base_name("__inference_train_step_1853") == "train_step"
    assert base_name("__inference___backward_step_3_4") == "step"
    assert base_name("__forward_step_5") == "step"
    assert base_name("plain") == "plain"


def test_functions_of_one_name_that_call_one_another() -> None:
    """Each layer's ``call`` is a tf.function: the frames that lead to the inner one appear once."""
    make = GraphsBuilder()
    outer = make.stack((20, "step"), (71, "call"))
    inner = make.stack((20, "step"), (71, "call"), (46, "call"))
    deep = make.stack((20, "step"), (71, "call"), (46, "call"), (25, "call"))
    make.graph(
        "step",
        [("Block", "StatefulPartitionedCall", outer, "f")],
        function="__inference_step_1",
        calls={0: ["__inference_call_2"]},
    )
    make.graph(
        "call",
        [("Unit", "StatefulPartitionedCall", inner, "f")],
        function="__inference_call_2",
        calls={0: ["__inference_call_3"]},
    )
    make.graph("call", [("Conv", "Conv2D", deep, "f")], function="__inference_call_3")
    assert words(Origins(make.built()).origin(0, "Block/Unit/Conv")) == [20, 71, 46, 25]
