"""GRF023 of sessions: a run computes again what depends on nothing that is fed, and on no variable that runs write."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import site
from evidence_builder import FILE, MS, one
from graph_causes import causes_in
from ops_builder import Builder
from tfperfkit_probes.ops.analysis import describe_request
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_probes.ops.unchanged import Unchanged
from tfperfkit_rules.graph.same_in_each import NeverChanging, SameInEachCall
from tfprof_builder import brief
from work_builder import SESSION, frame, sampled, work_evidence

from tfperfkit.graph.recorded import CalledFunction, RecordedFunction, RecordedGraphs
from tfperfkit.graph.sessions import RUN, SessionRuns
from tfperfkit.model import Finding
from tfperfkit.records.graph_contents import SessionRun

SOURCE = """\
import tensorflow.compat.v1 as tf
session.run(init)
for part in parts:
    session.run(scores, {x: part})
    session.run(update)
"""
SIZE = "float32[512,512]"


def graph(*, of: str = "read") -> Builder:
    """Make a tower over a variable, over what is fed or over random numbers, and a product with what is fed."""
    made = Builder("session 1")
    made.add("Placeholder", "x", (), SIZE)
    made.add("VarHandleOp", "items", (), "resource")
    made.add("ReadVariableOp", "read", ("items",), SIZE)
    made.add("RandomUniform", "noise", ("x",), SIZE)
    made.add("MatMul", "tower", (of, of), SIZE, ((FILE, 1, "<module>"),))
    made.add("MatMul", "scores", ("x", "tower"), SIZE, ((FILE, 1, "<module>"),))
    made.add("AssignVariableOp", "init", ("items", "noise"))
    made.add("AssignVariableOp", "update", ("items", "noise"))
    return made


def found(of: str = "read", *, updates: bool = False) -> list[Finding]:
    lines = {"init": 2, "scores": 4, "update": 5}
    rows = [("init", -50), *(("scores", 100 * number) for number in range(80))]
    rows += [("update", 4050)] if updates else []
    runs = [
        SessionRun(
            graph="session 1",
            file=FILE,
            line=lines[name],
            thread=1,
            begin_ns=at * MS,
            fetched=[name],
            feeds={"x": str(at)} if name == "scores" else {},
        )
        for name, at in rows
    ]
    whole = graph(of=of).graph()
    requests = SessionRuns(runs, {"session 1": whole}.get).requests
    known = [(describe_request(each), each.graph) for each in requests]
    unchanged = Unchanged(known)
    called = [
        CalledFunction(
            graph=each.name,
            function=RUN,
            file=FILE,
            line=record.frames[0].line,
            object=0,
            first_ns=-1,
            once=False,
            nested=False,
            writes=unchanged.find_written(record, each),
        )
        for record, each in known
    ]
    functions = {
        each.name: RecordedFunction(
            each,
            unchanged=unchanged.placeholders(record),
            variables={variable.placeholder: variable.key for variable in record.variables},
        )
        for record, each in known
    }
    scored = next(each.name for record, each in known if record.frames[0].line == 4)
    sites = [msgspec.to_builtins(site(line, "session", line)) for line in lines.values()]
    asked = brief(function=RUN, graph=scored, line=4, callers=[known[0][0].frames[0]])
    asked = msgspec.structs.replace(asked, callers=[record.frames[0] for record, each in known if each.name == scored])
    fields: dict[str, Any] = {
        "offers": {"ops": [RecordedGraphs(functions, called)]},
        "records": {"sites": sites, "markers": [[lines[name], at * MS, (at + 40) * MS, 1] for name, at in rows]},
        "functions": OpsData(functions=[], all=(asked,)),
    }
    stacks = [sampled(80, "graph", frame(4, SESSION))]
    return list(SameInEachCall()(work_evidence(SOURCE, stacks, loop=3, iterations=80, **fields)))


def test_a_tower_over_a_variable_is_computed_once() -> None:
    finding = one(found())
    assert (finding.code, finding.title) == ("GRF023", "Loop-invariant computation repeated in every session.run")
    assert finding.where[0].line == 1


@pytest.mark.parametrize("of", ["x", "noise"])
def test_a_tower_over_what_varies_is_not(of: str) -> None:
    assert not found(of)


def test_nor_one_over_a_variable_that_a_run_of_the_loop_writes() -> None:
    assert not found(updates=True)


def test_of_the_whole_run_the_initializer_writes_the_variable() -> None:
    cut = graph().graph().cut("part", ["x"], ["scores"], {"items", "read", "tower", "scores"})
    assert not any(isinstance(each, NeverChanging) for each in causes_in(cut))
    (kept,) = {each.where for each in causes_in(cut, None, frozenset({"items"})) if isinstance(each, NeverChanging)}
    assert kept is not None
