"""GRF001 to GRF003 on the graph lines of made-up graphs: each with its fault and a healthy twin."""

from __future__ import annotations

from typing import Any

import pytest
from graphlines_builder import FILE, GraphsBuilder
from tfperfkit_probes.lines.graph.analysis import GraphLines
from tfperfkit_probes.lines.graph.data import graph_function
from tfperfkit_probes.lines.graph.origin import Node, Origin, Origins, Owner
from tfperfkit_probes.lines.graph.tree import FunctionTime, LayerTime
from tfperfkit_probes.lines.model import LinesData
from tfperfkit_rules.graph import RULES

from tfperfkit.graph.repeats import LayerCall
from tfperfkit.model import Finding
from tfperfkit.records.graph_contents import Layer
from tfperfkit.testing import evidence_of

PS = 1_000_000_000
GENERATOR, DISCRIMINATOR = 1, 2  # bits of two optimizers


def of_calls(*calls: tuple[int, int, int, bool], forward_ms: float = 10.0) -> list[Finding]:
    """Findings of a step of 100 ms that calls a model: (structure, inputs, serves, random), each ``forward_ms``."""
    make = GraphsBuilder()
    operations, rows, layers = [], [], {}
    net = Layer("net", "Net")
    for number, (structure, inputs, serves, random) in enumerate(calls):
        at = make.stack((90, "main"), (20, "step"), (50 + number, "forward"), "layer", area="layers")
        operations.append((f"net_{number}/MatMul", "MatMul", at, "f"))
        layers[f"net_{number}"] = net
        rows.append(LayerCall(0, f"net_{number}", structure, inputs, serves, random))
    make.graph("step", operations, function="__inference_step_1", layers=layers, layer_calls=rows)
    built = make.built()
    origins = Origins(built)
    function = FunctionTime(origins.owner, calls=1, wall=100.0 * PS)
    for name, *_ in operations:
        origin = origins.origin(0, name)
        assert origin is not None
        function.add(origin, forward_ms * PS, forward_ms * PS)
        function.operations[(1, "__inference_step_1", name)] = (forward_ms * PS, origin)
    return findings(function, [built])


def findings(function: FunctionTime, built: list[Any] | None = None, source: str = "") -> list[Finding]:
    lines = GraphLines(steps=1, wall=100 * PS, functions=[function], built=built or [])
    data = LinesData((), (graph_function(function, lines),), 0.0, "sampled", traced_step_ms=100.0)
    evidence = evidence_of(data={"lines": data}, sources={FILE: source})
    return [finding for rule in RULES for finding in rule(evidence)]


def test_a_pass_for_each_of_two_optimizers_is_reported_with_its_lines() -> None:
    (found,) = of_calls((5, 1, GENERATOR, False), (5, 2, DISCRIMINATOR, False))
    assert found.code == "GRF001"
    assert found.share_of_step == pytest.approx(0.1) and found.gain.likely == pytest.approx(1 / 0.895), "the centre"
    assert [(place.file, place.line) for place in found.where] == [(FILE, 50), (FILE, 51), (FILE, 20)]
    assert found.evidence[0].value == pytest.approx(10.0)


def test_a_pass_without_a_gradient_beside_one_with_is_reported() -> None:
    updates = [(9, 7, DISCRIMINATOR, False)]  # the other optimizer is served by another call of the model
    assert of_calls((5, 1, GENERATOR, False), (5, 2, 0, False), *updates)


def test_the_same_tensor_twice_is_reported() -> None:
    (found,) = of_calls((5, 1, GENERATOR, False), (5, 1, GENERATOR, False))
    assert found.code == "GRF001"


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([(5, 1, 3, False)], id="one pass serves both"),
        pytest.param([(5, 1, 3, False), (6, 2, 3, False)], id="real and fake images"),
        pytest.param([(5, 1, 1, True), (5, 1, 1, True)], id="dropout draws again on purpose"),
        pytest.param([(5, i, DISCRIMINATOR, False) for i in range(5)], id="five updates of a critic"),
        pytest.param([(5, i, 0, False) for i in range(5)] + [(5, 9, GENERATOR, False)], id="and one of its generator"),
        pytest.param([(5, 1, 0, False), (5, 2, 0, False)], id="no gradients at all"),
    ],
)
def test_passes_that_are_needed_are_not_reported(calls: list[tuple[int, int, int, bool]]) -> None:
    assert of_calls(*calls) == []


def test_a_cheap_pass_is_not_reported() -> None:
    assert of_calls((5, 1, GENERATOR, False), (5, 2, DISCRIMINATOR, False), forward_ms=1.0) == []


def with_part(part: str, ms: float, source: str = "", number: int = 33, name: str = "step") -> list[Finding]:
    function = FunctionTime(Owner(FILE, 10, name), calls=1, wall=100.0 * PS)
    line = Node("line", "step", FILE, number)
    function.add(Origin((line, Node("part", part)), "f"), ms * PS, ms * PS)
    return findings(function, source=source)


def test_metrics_that_fit_computes_are_reported_where_they_are_made() -> None:
    made = "import keras\nright = keras.metrics.BinaryAccuracy()\nroc = keras.metrics.AUC()\nmodel = keras.Model()\n"
    (found,) = with_part("metrics", 12.0, made + "model.fit(x, y)\n", 5)
    assert [place.line for place in found.where] == [3, 2, 5]
    (found,) = with_part("metrics", 12.0, made + "roc.update_state(x, y)\n", 5)
    assert [place.line for place in found.where] == [5]


@pytest.mark.parametrize("part", ["metrics", "summaries"])
def test_metrics_on_the_hot_path_are_reported(part: str) -> None:
    (found,) = with_part(part, 12.0)
    assert found.code == "GRF002" and found.share_of_step == pytest.approx(0.12)
    assert part == "metrics" or "step is a tf.Variable" in found.advice, "a Python number would be read while tracing"
    assert [(place.file, place.line) for place in found.where] == [(FILE, 33)]


def test_summaries_that_a_session_fetches_are_reported_where_it_runs() -> None:
    (found,) = with_part("summaries", 12.0, name="session.run")
    assert [place.line for place in found.where] == [33, 10] and "Fetch the merged summary" in found.advice


def test_cheap_metrics_and_other_parts_are_not_reported() -> None:
    assert with_part("metrics", 2.0) == [] and with_part("optimizer", 30.0) == []


def with_layers(*rates: float, kind: str = "Conv2D", ms: float = 20.0) -> list[Finding]:
    function = FunctionTime(Owner(FILE, 10, "step"), calls=1, wall=100.0 * PS)
    for number, rate in enumerate(rates):
        layer = function.layers[f"net/conv_{number}"] = LayerTime(kind, "8×8")
        layer.wall["f"] = layer.flops_wall = ms * PS
        layer.flops = rate * ms * 1e6
    return findings(function)


def test_a_layer_far_below_its_neighbours_is_reported() -> None:
    (found,) = with_layers(100.0, 90.0, 5.0)
    assert found.code == "GRF003" and found.severity == "info"
    assert "net/conv_2" in found.title and found.gain.likely is None


@pytest.mark.parametrize("rates", [(100.0, 90.0, 40.0), (100.0, 5.0), (100.0, 90.0, 110.0)])
def test_layers_alike_are_not_reported(rates: tuple[float, ...]) -> None:
    assert with_layers(*rates) == []


def test_a_slow_layer_that_takes_little_is_not_reported() -> None:
    assert with_layers(100.0, 90.0, 5.0, ms=2.0) == []
