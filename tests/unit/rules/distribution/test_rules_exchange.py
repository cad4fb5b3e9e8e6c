"""DST001 to DST003 on made-up exchanges: each with its fault and healthy twins."""

from __future__ import annotations

from typing import Any

import pytest
from computed_builder import ran
from evidence_builder import FILE, make_evidence
from tfperfkit_probes.ops.model import Exchanged, Marks, Table
from tfperfkit_rules.distribution import RULES
from tfprof_builder import brief, graphs

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedStep

RUN, LOOKUP, DENSE = SourceSpan(FILE, 40, "train_step"), SourceSpan(FILE, 32, "call"), SourceSpan(FILE, 35, "step")
SMALL = Table(rows=1000, width=64, number_bytes=4, taken=10_240, where=LOOKUP)
LARGE = Table(rows=40_000, width=32, number_bytes=4, taken=1024, where=LOOKUP)
WHOLE = Table(rows=40_000, width=32, number_bytes=4, taken=1024, where=LOOKUP, made_dense=DENSE)


def sums(ops: float = 1.0, size: float | None = 16_900.0, rounds: int = 1, **fields: Any) -> Exchanged:
    given = {"type": "CollectiveReduceV2", "dtype": "float32", "devices": 2, "replicas": 2, "where": RUN, **fields}
    return Exchanged(ops=ops, bytes=size, rounds=rounds, **given)


GATHER = sums(size=None, type="CollectiveGatherV2")


def findings(
    *sent: Exchanged, tables: tuple[Table, ...] = (), parameters: int = 0, took: float = 20.0
) -> list[Finding]:
    function = brief(parameter_bytes=parameters, marks=Marks(exchanged=list(sent), tables=list(tables)))
    data = {"ops": graphs(function)}
    evidence = make_evidence(parts_ms={"graph": 80.0 - took, "collectives": took, "python": 20.0}, data=data)
    return [finding for rule in RULES for finding in rule(evidence)]


def test_rows_that_are_more_than_their_table() -> None:
    (found,) = findings(GATHER, sums(), tables=(SMALL,))
    assert (found.code, found.family) == ("DST001", "distribution")
    assert found.share_of_step == pytest.approx(0.2) and found.gain.bounds is not None
    assert [place.line for place in found.where] == [40, 32]
    assert {each.name: each.value for each in found.evidence}["replicas"] == 2


def test_updates_by_rows_are_a_part_of_what_is_computed() -> None:
    rows = (ran("ResourceScatterAdd", 20.0, "update"), ran("MatMul", 60.0))
    step = ComputedStep(ms=80.0, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=rows)
    data = {"ops": graphs(brief(parameter_bytes=0, marks=Marks(exchanged=[GATHER, sums()], tables=[SMALL])))}
    parts = {"graph": 80.0, "collectives": 10.0, "python": 10.0}
    evidence = make_evidence(parts_ms=parts, data=data, offers={"lines": (step,)})
    (found,) = [finding for rule in RULES for finding in rule(evidence)]
    assert found.share_of_step == pytest.approx(0.3) and found.parts == ("collectives", "graph")
    (found,) = findings(GATHER, sums(), tables=(SMALL,))
    assert found.parts == ("collectives",)


def test_without_a_trace_it_is_a_remark() -> None:
    (found,) = findings(GATHER, sums(), tables=(SMALL,), took=0.0)
    assert (rank([found])[0].severity, found.gain.likely, found.share_of_step) == ("info", None, 0.0)


def test_few_rows_of_a_large_table_are_gathered_in_peace() -> None:
    assert findings(GATHER, sums(), tables=(LARGE,)) == []
    assert findings(GATHER, sums()) == []  # sizes that are not known


def test_a_large_table_that_is_summed_whole() -> None:
    (found,) = findings(sums(size=5.2e6), tables=(WHOLE,), parameters=2 * 5_200_000)
    assert found.code == "DST002" and found.where[0] == DENSE


def test_a_small_table_that_is_summed_or_one_that_is_not_exchanged() -> None:
    small = Table(rows=1000, width=64, number_bytes=4, taken=10_240, where=LOOKUP, made_dense=DENSE)
    assert findings(sums(size=272_900.0), tables=(small,), parameters=545_800) == []
    assert findings(sums(size=16_900.0), tables=(WHOLE,), parameters=2 * 5_200_000) == []


def test_a_sum_for_each_gradient() -> None:
    (found,) = findings(sums(ops=82.0, size=1_000_000.0))
    assert found.code == "DST003" and found.where[0] == RUN
    assert found.share_of_step == pytest.approx(0.2 * 81 / 82)


def test_sums_that_follow_from_one_another_or_are_large_or_few() -> None:
    assert findings(sums(ops=40.0, rounds=40)) == []  # batch normalisation over all replicas
    assert findings(sums(ops=10.0, size=10 * 8e6)) == []
    assert findings(sums(ops=6.0)) == []
