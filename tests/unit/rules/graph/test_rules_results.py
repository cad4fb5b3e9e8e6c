"""GRF031: a result that no call in the source reads; GRF029, GRF030 and GRF032 as headroom where they take little."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from computed_builder import compiled, ran
from graph_causes import offer_causes
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.clipped_norms import ClippedGradients, ClippedNorms
from tfperfkit_rules.graph.small_updates import OneByOne, SmallUpdates
from tfperfkit_rules.graph.unread_results import ResultAlone, UnreadResult
from tfperfkit_rules.graph.weight_averages import AveragedWeights, WeightAverages
from tfprof_builder import brief

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.graph.recorded import RecordedGraphs
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedStep, FunctionCalls

GRAPH = "__inference_step_1"
WHERE = SourceSpan("train.py", 5, "step")
#: By their codes.
CAUSES: dict[str, Cause] = {
    "GRF031": ResultAlone(where=WHERE, operations=["Svd"], left=0.0, number=1, results=2, graph=GRAPH),
    "GRF030": AveragedWeights(where=WHERE, operations=["Svd"], left=0.0, variables=3, numbers=9),
    "GRF029": ClippedGradients(where=WHERE, operations=["Svd"], left=0.0, gradients=3, together=1),
    "GRF032": OneByOne(
        where=WHERE, operations=["Svd"], left=0.0, variables=3, numbers=9.0, each=28.0, alike=3, shapes=1
    ),
}
STEP = """\
import tensorflow as tf

@tf.function
def step(x):
    return tf.reduce_sum(x), tf.linalg.svd(x)

for x in data:
    {call}
"""
PREDICT = "first, second = model.predict(x)\nprint(first)\n"


def evidence(source: str, ms: float = 4.0, kind: str = "GRF031", **fields: Any) -> Any:
    named = {"function": "step", "owner": "user", "graph": GRAPH} | fields
    function = msgspec.structs.replace(brief(first_execution_ms=5.0), **named)
    row = msgspec.structs.replace(ran("Svd", ms), of="Svd")
    found = offer_causes(named["graph"], CAUSES[kind])
    more = (FunctionCalls(per_step={GRAPH: 1.0}), OpsData(functions=[], all=(function,)), found)
    return compiled((row, ran("MatMul", 4.0, flops=1e6)), more=more, source=source)


def told(evidence: Any) -> list[Finding]:
    rules = (UnreadResult(), WeightAverages(), ClippedNorms(), SmallUpdates())
    return [finding for rule in rules for finding in rule(evidence)]


@pytest.mark.parametrize(
    "call",
    [
        "loss, _ = step(x)",
        "print(step(x)[0])",
        "print(step(x)[-2])",
        "step(x)",
        "made = step(x)\n    print(made[0])",
        "loss, spectrum = step(x)\n    print(loss)",
    ],
)
def test_a_result_that_no_call_reads(call: str) -> None:
    (finding,) = told(evidence(STEP.format(call=call)))
    assert (finding.code, rank([finding])[0].severity) == ("GRF031", "high")
    assert [place.line for place in finding.where[:2]] == [5, 8]


@pytest.mark.parametrize(
    "call",
    [
        "loss, spectrum = step(x)\n    print(spectrum)",
        "kept.append(step(x))",
        "made = step(x)\n    print(made)",
        "print(step(x)[number])",
        "loss, _ = step(x)\n    run(step)",
        "loss, _ = step(x)\n    print(step(x)[1])",
        "pass",
    ],
)
def test_a_result_that_may_be_read(call: str) -> None:
    assert not told(evidence(STEP.format(call=call)))


def test_results_by_key_and_a_function_under_another_name() -> None:
    source = STEP.format(call='print(train(x)["loss"])').replace("@tf.function\n", "")
    source = source.replace(
        "tf.reduce_sum(x), tf.linalg.svd(x)", '{"loss": tf.reduce_sum(x), "values": tf.linalg.svd(x)}'
    )
    named = source.replace("for x", "train = tf.function(step)\nfor x")
    assert [finding.code for finding in told(evidence(named))] == ["GRF031"]
    assert not told(evidence(named.replace('["loss"]', '["values"]')))


def test_what_a_function_computes_for_one_that_calls_it_is_not_its_callers() -> None:
    assert not told(evidence(STEP.format(call="loss, _ = step(x)"), graph="__inference_outer_2"))


def test_an_output_of_a_model_that_predict_gives_and_nobody_reads() -> None:
    keras = {"owner": "keras", "function": "one_step_on_data_distributed"}
    (finding,) = told(evidence(PREDICT, **keras))
    assert (finding.where[0].line, "keras.Model(model.input" in finding.advice) == (1, True)
    assert not told(evidence(PREDICT + "print(second)\n", **keras))


@pytest.mark.parametrize(("kind", "less"), [("GRF030", 0.8), ("GRF029", 0.8), ("GRF032", 1.1)])
def test_what_is_done_on_purpose_is_a_finding_where_it_takes_much(kind: str, less: float) -> None:
    (much,) = told(evidence("", ms=4.0, kind=kind))
    (some,) = told(evidence("", ms=less, kind=kind))
    assert (much.headroom, some.headroom, some.severity) == (False, True, "info")
    assert not told(evidence("", ms=0.2, kind=kind))


def test_updates_that_take_less_than_a_call_may_are_left_alone() -> None:
    made = evidence("", ms=4.0, kind="GRF032")
    step = made.offer(ComputedStep)
    small = compiled(
        tuple(row.times(0.1) for row in step.operations),
        more=(made.offer(FunctionCalls), made.offer(OpsData), made.offer(RecordedGraphs)),
        around_ms=0.1,
    )
    assert told(made) and not told(small)


def test_what_a_step_waits_is_not_the_starts_of_a_few_updates() -> None:
    made = evidence("", ms=0.01, kind="GRF032")
    step, more = made.offer(ComputedStep), (made.offer(FunctionCalls), made.offer(OpsData))
    updates = msgspec.structs.replace(step.operations[0], stage="update")
    cause = msgspec.structs.replace(CAUSES["GRF032"], updates=["Svd"])
    busy = compiled((updates,), idle_ms=40.0, more=(*more, offer_causes(GRAPH, cause)))
    assert not told(busy)


def test_layers_alike_could_be_one() -> None:
    (finding,) = told(evidence("", ms=4.0, kind="GRF032"))
    assert finding.code == "GRF032" and "3 of the variables share a shape" in finding.advice
