"""GRF006 and GRF007: updates of whole embeddings, decompositions of matrices; silent where they are small or dense."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from computed_builder import compiled, ran
from eager_builder import site, sites
from graph_causes import causes_in, code_of, offer_causes
from ops_builder import Builder
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_rules.graph.dense_updates import dense_updates
from tfperfkit_rules.graph.slow_kernels import Decomposition, SlowKernels
from tfprof_builder import brief

from tfperfkit.model import SourceSpan
from tfperfkit.offers import FunctionCalls

SCRIPT = "model.compile(optimizer='adam')\nmodel.fit(x, y)\n"
UPDATES = tuple(ran("Mul", 0.5, "update") for _ in range(10))
MADE_DENSE = ran("UnsortedSegmentSum", 1.0, "update")


def trains(*operations: Any, table: int = 900, **fields: Any) -> Any:
    known = brief(graph="__inference_step_1", parameter_bytes=1000, embedding_bytes=table)
    offers = (FunctionCalls(per_step={"__inference_step_1": 1.0}), OpsData(functions=[], all=(known,)))
    return compiled(operations, source=SCRIPT, records=sites(site(1, "batch", 2)), more=offers, **fields)


def test_updates_of_a_large_table_are_told_where_the_optimizer_is_given() -> None:
    (finding,) = dense_updates(trains(*UPDATES, MADE_DENSE))
    assert finding.code == "GRF006" and finding.where[0] == SourceSpan("train.py", 1)
    assert finding.share_of_step == pytest.approx(0.9 * 6.0 / 7.14, abs=0.01)
    assert finding.gain.bounds is not None and finding.gain.bounds[0] > 1.5


def test_a_small_table_and_updates_by_rows_are_left_in_peace() -> None:
    assert not list(dense_updates(trains(*UPDATES, MADE_DENSE, table=50)))
    assert not list(dense_updates(trains(*UPDATES)))
    assert not list(dense_updates(trains(ran("Conv2D", 90.0), *UPDATES, MADE_DENSE)))
    assert not list(dense_updates(compiled((*UPDATES, MADE_DENSE), source=SCRIPT)))  # what is trained is not known


SVD = Decomposition(where=SourceSpan("train.py", 2), operations=["Svd"], left=0.0, type="Svd")


def decomposes(*operations: Any) -> Any:
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    more = (OpsData(functions=[], all=(function,)), offer_causes("__inference_step_1", SVD))
    calls = FunctionCalls(per_step={"__inference_step_1": 1.0})
    return [*SlowKernels()(compiled(operations, source=SCRIPT, more=(calls, *more)))]


def test_a_decomposition_is_reported_at_its_line() -> None:
    svd = msgspec.structs.replace(ran("Svd", 4.0), file="train.py", line=2, of="Svd")
    (finding,) = decomposes(svd, ran("MatMul", 1.0, flops=1e6))
    assert finding.where[0].line == 2 and "Svd" in finding.title
    assert finding.gain.likely is None and finding.gain.high is not None
    assert finding.gain.high >= 1 / (1 - finding.share_of_step) - 1e-9


def test_a_small_decomposition_and_products_are_not() -> None:
    small = msgspec.structs.replace(ran("Svd", 0.1), of="Svd")
    assert not decomposes(small, ran("MatMul", 5.0, flops=1e6))
    assert not decomposes(ran("MatMul", 5.0, flops=1e6))


def test_decompositions_are_found_in_any_graph() -> None:
    made = Builder("step")
    made.add("Placeholder", "x", makes="float32[8,40,40]")
    made.add("Svd", "svd", ("x",), "float32[8,40]")
    made.add("MatMul", "product", ("x", "x"), "float32[8,40,40]")
    (cause,) = (each for each in causes_in(made.graph()) if isinstance(each, Decomposition))
    assert cause.operations == ["svd"] and code_of(cause) == "GRF007"
