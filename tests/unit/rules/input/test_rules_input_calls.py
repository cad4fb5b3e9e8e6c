"""INP006 for a dataset that each call of a compiled function maps again, on a recorded run.

The rule is silent where the results may change between the calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from evidence_builder import one
from msgspec.structs import replace
from recorded_runs import study_recorded
from tfperfkit_probes.input.model import InputData, Pipeline
from tfperfkit_rules.input import passes_in_calls
from tfperfkit_rules.input.passes_in_calls import mapped_in_each_call

from tfperfkit.analysis.work.views import views
from tfperfkit.graph.library import Library
from tfperfkit.offers import RanOperation, RanOperations
from tfperfkit.rule import Evidence, Offer

NAME = "catalogue_embedded_each_call"


def work(*instead: Any) -> Evidence:
    """Return the loop of the recorded run; ``instead``: of the offers of these types."""
    _, evidence = study_recorded(NAME)
    sources = {file: evidence.source(file) for file in evidence.files()}
    (made,) = views(evidence, list(evidence.records("events")), sources, round(evidence.run.wall_s * 1e9))
    for record in instead:
        kind = type(record)
        made._offers = made._offers.instead(kind, Offer(made.offered_by(kind), kind, record))
    return made


def changed(evidence: Evidence, **of_the_map: Any) -> InputData:
    """Return the pipelines with another map that the script made before the loop."""
    data = evidence.offer(InputData)
    assert data is not None

    def change(pipeline: Pipeline) -> Pipeline:
        stages = [
            replace(stage, **of_the_map) if stage.mapped is not None and not stage.in_graph else stage
            for stage in pipeline.stages
        ]
        return replace(pipeline, stages=tuple(stages))

    return replace(data, pipelines=tuple(change(pipeline) for pipeline in data.pipelines))


def test_a_catalogue_that_each_call_embeds_again() -> None:
    found = one(mapped_in_each_call(work()))
    assert found.code == "INP006" and found.title.endswith("repeats the same work in every call of best_match")
    assert [place.line for place in found.where] == [19, 32]
    low, high = found.gain.bounds or (0, 0)
    assert 1.2 < low < high < 2.5


@pytest.mark.parametrize("of_the_map", [{"stateful_or_random": True}, {"is_python": True}, {"in_graph": True}])
def test_a_map_whose_results_differ_is_left_in_peace(of_the_map: dict[str, Any]) -> None:
    assert not list(mapped_in_each_call(work(changed(work(), **of_the_map))))


def test_a_cache_behind_the_map_is_there_already() -> None:
    data = work().offer(InputData)
    assert data is not None
    cached = [
        replace(pipeline, stages=(pipeline.stages[0], replace(pipeline.stages[2], kind="Cache"), *pipeline.stages[1:]))
        for pipeline in data.pipelines
        if pipeline.in_graph
    ]
    assert not list(mapped_in_each_call(work(replace(data, pipelines=tuple(cached)))))


@pytest.mark.parametrize("type", ["AssignSubVariableOp", "ResourceApplyAdam", "LookupTableInsertV2"])
def test_variables_and_tables_that_the_loop_changes(type: str) -> None:
    assert not list(mapped_in_each_call(work(with_operations([eager(type)]))))


def test_a_function_that_writes_variables_like_those_of_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function of the recorded run counts in an int32 variable; the map reads float32 ones."""

    def read(rows: Iterable[Any]) -> Library:
        return Library({**row, "types": [each.replace("float32", "int32") for each in row["types"]]} for row in rows)

    monkeypatch.setattr(passes_in_calls, "Library", read)
    assert not list(mapped_in_each_call(work()))


def test_operations_that_the_trace_does_not_list_may_change_variables() -> None:
    assert not list(mapped_in_each_call(work(replace(with_operations([]), rest_ms=1.0))))


def with_operations(more: Sequence[RanOperation]) -> RanOperations:
    ran = work().offer(RanOperations)
    assert ran is not None
    return replace(ran, rows=(*ran.rows, *more))


def eager(type: str) -> RanOperation:
    return RanOperation(name=type, type=type, count=8, self_ms=0.1, where="eager")
