"""Results that a training function computes again although an example's never change, read off made-up graphs."""

from __future__ import annotations

import pytest
from ops_builder import Builder
from tfperfkit_probes.ops.fixed import fixed, fixed_work


def frozen(*, written: str = "head", noise: bool = False) -> Builder:
    """x -> base -> head, with an update of ``written``."""
    builder = Builder()
    builder.add("Placeholder", "x", makes="float32[None,8]")
    for name in ("base", "head"):
        builder.add("Placeholder", name, makes="resource[]")
        builder.add("ReadVariableOp", f"read_{name}", (name,), "float32[8,8]")
    inside = "x"
    if noise:
        builder.add("RandomUniform", "noise", (), "float32[8]")
        inside = builder.add("AddV2", "noisy", ("x", "noise"), "float32[None,8]")
    builder.add("MatMul", "features", (inside, "read_base"), "float32[None,8]")
    builder.add("MatMul", "outputs", ("features", "read_head"), "float32[None,8]")
    builder.add("MatMul", "gradient_tape/outputs/MatMul", ("features", "outputs"), "float32[8,8]")
    builder.add("AssignSubVariableOp", "update", (written, "gradient_tape/outputs/MatMul"))
    return builder


def test_what_depends_on_the_batch_and_on_frozen_variables_is_the_same() -> None:
    builder = frozen()
    found = fixed(builder.record(owner="keras"), builder.graph())
    assert found is not None
    assert found.operations == ("features",)
    assert found.kept_bytes == 8 * 4  # of one example
    assert "float32[?,8]" in found.arguments


@pytest.mark.parametrize("fields", [{"written": "base"}, {"noise": True}])
def test_what_is_trained_or_drawn_is_not(fields: dict[str, object]) -> None:
    builder = frozen(**fields)  # type: ignore[arg-type]
    assert fixed(builder.record(owner="keras"), builder.graph()) is None


def test_a_function_that_changes_nothing_trains_nothing() -> None:
    builder = Builder()
    builder.add("Placeholder", "x", makes="float32[4,8]")
    builder.add("Relu", "y", ("x",), "float32[4,8]")
    record = builder.record(owner="user")
    assert fixed_work([(record, builder.graph()), (record, None)]).functions == ()


def test_a_call_that_gets_a_variable_may_change_it() -> None:
    builder = frozen()
    builder.add("StatefulPartitionedCall", "called", ("features", "base"), "float32[None,8]")
    builder.add("MatMul", "after", ("called", "read_base"), "float32[None,8]")
    assert fixed(builder.record(owner="keras"), builder.graph()) is None


def test_a_function_that_only_assigns_is_counted() -> None:
    follows = Builder("__inference_follow_2")
    follows.add("Placeholder", "slow", makes="resource[]")
    follows.add("AssignVariableOp", "assign", ("slow", "slow"))
    trains = frozen()
    found = fixed_work([(trains.record(owner="user"), trains.graph()), (follows.record(owner="user"), follows.graph())])
    assert len(found.functions) == 1 and found.writers == 1


def test_behind_a_normalisation_that_follows_its_batches_examples_depend_on_each_other() -> None:
    """Freeze a base below a head that normalises: only the base gives the same for each example."""
    builder = frozen()
    builder.add("Placeholder", "moving", makes="resource[]")
    builder.add("ReadVariableOp", "read_moving", ("moving",), "float32[8]")
    builder.add("Mean", "mean", ("features",), "float32[8]")
    builder.add("Sub", "difference", ("read_moving", "mean"), "float32[8]")
    builder.add("AssignSubVariableOp", "follow", ("moving", "difference"))
    builder.add("Sub", "normalised", ("features", "mean"), "float32[None,8]")
    builder.add("Relu", "after", ("normalised",), "float32[None,8]")
    found = fixed(builder.record(owner="keras"), builder.graph())
    assert found is not None and found.operations == ("features",)


def test_a_metric_that_counts_examples_does_not() -> None:
    builder = frozen()
    builder.add("Placeholder", "count", makes="resource[]")
    builder.add("Size", "size", ("x",), "float32[]")
    builder.add("AssignAddVariableOp", "counted", ("count", "size"))
    assert fixed(builder.record(owner="keras"), builder.graph()) is not None
