"""A variable stays in a loop if no function that may run there changes it, whatever changed it before."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import site
from evidence_builder import FILE, MS
from ops_builder import Builder
from tfperfkit_probes.tfprof.model import OpRow
from tfperfkit_rules.measures.ran_here import choose_graphs, describe_unchanged
from work_builder import frame, sampled, work_evidence

from tfperfkit.graph.recorded import CalledFunction, RecordedFunction, RecordedGraphs
from tfperfkit.offers import ComputedStep, FunctionCalls, RanOperation, RanOperations
from tfperfkit.rule import Evidence, Offer

SOURCE = """\
import tensorflow as tf
for batch in reference:
    accumulate(batch)
for plate in plates:
    score(plate)
"""
BEFORE = -9_000 * MS


def called(name: str, line: int, *writes: str, first_ns: int = BEFORE, **fields: Any) -> CalledFunction:
    given: dict[str, Any] = {"object": line, "once": False, "nested": False, **fields}
    return CalledFunction(
        graph=name, function=name, file=FILE, line=line, first_ns=first_ns, writes=frozenset(writes), **given
    )


SCORE = called("score", 5, first_ns=10 * MS)
ACCUMULATE = called("accumulate", 3, "precision")


def loop(
    *functions: CalledFunction,
    source: str = SOURCE,
    marks: tuple[tuple[int, int, str], ...] = (),
    in_trace: tuple[str, ...] = ("score",),
    traced_ms: float = 2000.0,
    eager: str = "",
) -> Evidence:
    """The loop at line 4, of 80 iterations of 100 ms. ``marks``: of other calls, the line, the ms and the kind."""
    rows = [(5, 100 * number, "function") for number in range(1, 80)]
    rows += [*marks] if marks else [(3, -5000, "function")]
    known = dict.fromkeys((line, kind) for line, _, kind in rows)
    ids = {each: number for number, each in enumerate(known, 1)}
    sites = [msgspec.to_builtins(site(number, kind, line)) for (line, kind), number in ids.items()]
    markers = [[ids[line, kind], at * MS, at * MS + MS, 1] for line, at, kind in rows]
    graph = Builder("score")
    graph.captures = [graph.add("Placeholder", "m", (), "resource")]
    recorded = RecordedGraphs(
        {"score": RecordedFunction(graph.graph(), variables={"m": "precision"})}, (SCORE, *functions)
    )
    evidence = work_evidence(
        source,
        [sampled(80, "graph", frame(5))],
        loop=4,
        iterations=80,
        ops=[OpRow(name=eager, type=eager, where="eager", count=1, self_ms=0.1, share=0.1)] if eager else [],
        offers={"ops": [recorded]},
        records={"sites": sites, "markers": markers},
    )
    assert evidence.account is not None
    step = ComputedStep(ms=90.0, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=(), traced_ms=traced_ms)
    ran = RanOperation(name=eager, type=eager, count=1, self_ms=0.1, where="eager")
    offers = [
        Offer("lines", ComputedStep, step),
        Offer("tfprof", FunctionCalls, FunctionCalls(per_step=dict.fromkeys(in_trace, 1.0))),
        Offer("tfprof", RanOperations, RanOperations(steps=0, rows=(ran,))),
    ]
    return evidence.within(account=evidence.account, samples=evidence.samples, offers=offers, without=(ComputedStep,))


def stays(evidence: Evidence) -> bool:
    graphs = choose_graphs(evidence)
    assert graphs is not None
    return "m" in graphs.functions["score"].unchanged and "m" in graphs.functions["score"].idle


def test_a_variable_that_only_a_function_before_the_loop_changes_stays() -> None:
    evidence = loop(ACCUMULATE)
    assert stays(evidence)
    assert describe_unchanged(evidence, "score") == "variables that no function called in this loop assigns"


def test_one_that_a_function_changed_once_before_the_loop_stays() -> None:
    assert stays(loop(called("fit", 1, "precision", once=True), ACCUMULATE))


def test_a_function_that_only_others_call_is_part_of_these() -> None:
    assert stays(loop(ACCUMULATE, called("inner", 30, "precision", first_ns=None, nested=True)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        {"in_trace": ("score", "accumulate")},
        {"marks": ((3, 4000, "function"),)},  # it was called between two iterations
        {"marks": ((3, -5000, "function"), (3, 4000, "function"))},
        {"marks": ((3, -5000, "function"), (9, 4000, "function"))},  # of a function that is not known
        {"marks": ((3, -5000, "function"), (5, 4000, "apply"))},  # an optimizer, by Python
        {"eager": "AssignVariableOp"},
        {"traced_ms": 150.0},  # less than two iterations
        {"source": SOURCE + "    if plate is last:\n        matrix.assign(other)\n"},
        {"source": SOURCE + "    sync()\ndef sync():\n    net.set_weights(other)\n"},
    ],
)
def test_it_may_change_in_the_loop(changed: dict[str, Any]) -> None:
    evidence = loop(ACCUMULATE, **changed)
    assert not stays(evidence)
    assert describe_unchanged(evidence, "score") == "variables that nothing changes"


@pytest.mark.parametrize(
    "other",
    [
        called("accumulate", 3, "precision", first_ns=4000 * MS),
        called("score", 5, ""),  # a variable that is not known
        called("learn", 40, "precision"),  # its calls were not observed: another thread makes them
        called("score", 5, "precision"),  # another trace of the function itself
        called("accumulate", 3, "precision", first_ns=None),  # type: ignore[arg-type]
    ],
)
def test_another_function_may_change_it(other: CalledFunction) -> None:
    assert not stays(loop(other))
