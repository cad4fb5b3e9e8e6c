"""The time of calls that could serve for each other, in a function of Keras' around the step, on made records."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tfperfkit_probes.lines.graph.origin import Node, Origin, Owner
from tfperfkit_probes.lines.graph.repeated import repeated_passes
from tfperfkit_probes.lines.graph.tree import FunctionTime

from tfperfkit.graph.repeats import LayerCall
from tfperfkit.graph.traced import TracedGraph, TracedGraphs
from tfperfkit.records.graph_contents import Layer

FIRST, SECOND = Node("line", "train_step", "gan.py", 18), Node("line", "train_step", "gan.py", 22)


def graph(number: int, name: str) -> TracedGraph:
    calls = [LayerCall(0, "generator", 7, 1, 1, False), LayerCall(0, "generator_1", 7, 2, 2, False)]
    return TracedGraph(id=number, name=name, operations=[], types=[], stacks=[], stages="", layer_calls=calls)


def passes(before: str, *graphs: TracedGraph) -> list[Any]:
    """The generator runs twice, 3 ms each, once for either network; ``before``: what stands before the names."""
    function = FunctionTime(Owner("gan.py", 30, "Model.fit"))
    for scope, line in (("generator", FIRST), ("generator_1", SECOND)):
        function.operations[1, "step", f"{before}{scope}/Conv2D"] = (3e9, Origin((line,), "f"))
        function.operations[1, "step", f"{before}other_{scope}/Conv2D"] = (9e9, Origin((line,), "f"))
    records = TracedGraphs(
        functions={}, graphs=list(graphs), types=[], files=[], frames=[], stacks=[], areas=[],
        layers=[Layer("generator", "Sequential")],
    )  # fmt: skip
    lines: Any = SimpleNamespace(built=[SimpleNamespace(number=1, graphs=records)])
    return list(repeated_passes(lines, function, 1e-9))


def test_names_of_calls_may_stand_before_those_of_the_operations() -> None:
    for before in ("", "StatefulPartitionedCall/", "StatefulPartitionedCall_1/PartitionedCall/"):
        (found,) = passes(before, graph(1, "one_step_on_data"))
        assert (found.model, found.calls, found.forward_ms) == ("generator", 2, 6.0)
        assert [place.line for place in found.lines] == [18, 22]


def test_a_step_that_was_traced_for_two_functions_around_it_counts_once() -> None:
    assert len(passes("", graph(1, "one_step_on_data"), graph(2, "one_step_on_data"))) == 1


def test_operations_of_another_scope_are_not_counted() -> None:
    (found,) = passes("map/", graph(1, "one_step_on_data"))
    assert found.forward_ms == 0
