"""The table of operations, and that nothing random counts as the same in every call."""

from __future__ import annotations

import pytest
from graph_causes import causes_in
from ops_builder import Builder, only
from tfperfkit_probes.ops.fixed import fixed
from tfperfkit_rules.graph.same_in_each import NeverChanging

from tfperfkit.graph import optable, repeats
from tfperfkit.graph.view import View

RANDOM = sorted(optable.names(kind="random"))
GENERATORS = sorted(name for name in optable.names(kind="generator") if optable.row(name).inputs[:1] == ("resource",))
SIZE = "float32[256,256]"


def test_an_operation_that_is_not_registered_is_unknown_and_may_do_anything() -> None:
    row = optable.row("MyCustomOp")
    assert (row.kind, row.known, row.stateful, row.varies) == ("unknown", False, True, True)


def test_what_tensorflow_calls_stateful_varies_unless_someone_wrote_down_why_not() -> None:
    steady = {name for name in optable.names(varies=False) if optable.row(name).stateful}
    looked_into = optable.names(kind=("call", "loop", "branch", "read", "variable-gather", "placeholder", "result"))
    assert steady == {name for name in looked_into if optable.row(name).stateful} | (
        optable.names(trait="steady") & steady
    )


def test_reviewed_rows_name_registered_operations() -> None:
    """Find a misspelled name, which would count as an unknown operation."""
    reviewed = {cells[0] for cells in optable._cells("reviewed.tsv") if "*" not in cells[0]}
    assert reviewed <= optable.names()
    assert {optable.row(name).differentiates for name in optable.names(differentiates=True)} <= optable.names()


@pytest.mark.parametrize("kind", [*RANDOM, *GENERATORS])
def test_noise_is_never_the_same_in_every_call(kind: str) -> None:
    builder = Builder()
    handle = builder.add("Placeholder", "handle", makes="resource[]")
    builder.captures = [builder.add("Placeholder", "table", makes=SIZE)]
    builder.arguments = ["handle"]
    given = (handle, "table") if kind in GENERATORS else ("table",)
    noise = builder.add(kind, "noise", given, SIZE)
    builder.add("MatMul", "product", (noise, "table"), SIZE)
    builder.add("MatrixSolve", "solved", ("product", noise), SIZE)
    assert causes_in(builder.graph(), None) == []
    assert repeats.draws([kind])


@pytest.mark.parametrize("kind", RANDOM)
def test_two_draws_are_not_alike(kind: str) -> None:
    builder = Builder()
    builder.add("Placeholder", "shape", makes="int32[2]")
    for name in ("one", "other"):
        builder.add(kind, name, ("shape",), SIZE)
    view = View(builder.graph(), None)
    assert view.alike.make_key(("one", 0)) != view.alike.make_key(("other", 0))


@pytest.mark.parametrize("kind", RANDOM)
def test_noise_is_not_the_same_for_the_same_example(kind: str) -> None:
    builder = Builder()
    builder.add("Placeholder", "x", makes="float32[None,8]")
    builder.add("Placeholder", "head", makes="resource[]")
    builder.add("ReadVariableOp", "weights", ("head",), "float32[8,8]")
    noise = builder.add(kind, "noise", ("x",), "float32[None,8]")
    builder.add("MatMul", "outputs", (noise, "weights"), "float32[None,8]")
    builder.add("MatMul", "gradient_tape/outputs/MatMul", ("x", "outputs"), "float32[8,8]")
    builder.add("AssignSubVariableOp", "update", ("head", "gradient_tape/outputs/MatMul"))
    assert fixed(builder.record(owner="keras"), builder.graph()) is None


def test_seeded_noise_is_the_same_for_the_same_seed_only() -> None:
    for seed, found in (("seed", True), ("drawn", False)):
        builder = Builder()
        builder.captures = [builder.add("Placeholder", "seed", makes="int32[2]")]
        builder.arguments = []
        builder.add("RandomUniformInt", "drawn", ("seed",), "int32[2]")
        noise = builder.add("StatelessRandomUniform", "noise", (seed, seed), SIZE)
        builder.add("MatMul", "product", (noise, noise), SIZE)
        assert any(isinstance(each, NeverChanging) for each in causes_in(builder.graph(), None)) is found


def test_the_users_own_scope_makes_no_gradient() -> None:
    builder = Builder()
    builder.add("Placeholder", "x", makes=SIZE)
    builder.add("MatMul", "gradients/product", ("x", "x"), SIZE)
    builder.add("MatMul", "gradients_1/gradients/product_grad/MatMul", ("x", "x"), SIZE)
    builder.add("MatMul", "gradients/gradients/gradients/product_grad/MatMul", ("x", "x"), SIZE)
    builder.add("AddN", "gradients/gradients/AddN", ("x",), SIZE)
    nodes = builder.graph().nodes
    backward = [name for name, node in nodes.items() if node.backward]
    assert backward == [
        "gradients_1/gradients/product_grad/MatMul",
        "gradients/gradients/gradients/product_grad/MatMul",
        "gradients/gradients/AddN",
    ]


def test_gradients_of_functions_and_loops_and_gradient_kernels_are_backward() -> None:
    builder = Builder("__inference___backward_layer_7_12")
    builder.add("Placeholder", "x", makes=SIZE)
    builder.add("MatMul", "gradients/MatMul_grad/MatMul", ("x", "x"), SIZE)
    assert builder.graph().nodes["gradients/MatMul_grad/MatMul"].backward
    _, node = only("ReluGrad", (SIZE, SIZE), SIZE)
    assert node.backward
