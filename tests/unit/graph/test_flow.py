"""Dataflow through calls, loops and branches, and of graphs that nobody made on purpose."""

from __future__ import annotations

import pytest
from ops_builder import Builder

from tfperfkit.graph.flow import Flow
from tfperfkit.graph.rows import MIXED, Rows
from tfperfkit.graph.view import View

ROWS = "float32[8,4]"


def flow_of(builder: Builder, *bodies: Builder) -> Flow:
    return Flow(View(builder.graph(*bodies), None))


def body(name: str, *kinds: str) -> Builder:
    """Build a function of x and of a variable's handle: operations one after the other."""
    made = Builder(name)
    last = made.add("Placeholder", "x", makes=ROWS)
    made.add("Placeholder", "handle", makes="resource[]")
    for number, kind in enumerate(kinds):
        given = ("handle", last) if kind.startswith("Assign") else ("handle",) if kind == "ReadVariableOp" else (last,)
        name = made.add(kind, f"{kind}{number}", given, "" if kind.startswith("Assign") else ROWS)
        last = last if kind.startswith("Assign") else name
    made.results = [last, "handle"]
    return made


def calling(kind: str, **functions: str) -> Builder:
    """Build a graph that calls, with x and a variable."""
    made = Builder()
    x, handle = made.add("Placeholder", "x", makes=ROWS), made.add("Placeholder", "handle", makes="resource[]")
    given = (x, handle)
    if kind == "If":
        given = (made.add("Placeholder", "asked", makes="bool[]"), *given)
    made.add(kind, "called", given, f"{ROWS};resource[]", **functions)
    made.add("ReadVariableOp", "read", (handle,), ROWS)
    return made


@pytest.mark.parametrize(("kinds", "same"), [(("Relu",), True), (("RandomUniform",), False), (("MyOp",), False)])
def test_a_call_gives_the_same_of_the_same_unless_its_body_varies(kinds: tuple[str, ...], same: bool) -> None:
    flow = flow_of(calling("StatefulPartitionedCall", f="inner"), body("inner", *kinds))
    assert flow.same(("x", "handle")).states["called", 0] is same


def test_a_variable_that_a_call_assigns_to_is_not_the_same_afterwards() -> None:
    made = calling("StatefulPartitionedCall", f="inner")
    for kinds, same in ((("ReadVariableOp",), True), (("AssignAddVariableOp",), False)):
        assert flow_of(made, body("inner", *kinds)).same(("x", "handle")).states["read", 0] is same


@pytest.mark.parametrize(("given", "same"), [(("x", "handle", "asked"), True), (("x", "handle"), False)])
def test_a_condition_that_varies_chooses_what_varies(given: tuple[str, ...], same: bool) -> None:
    made = calling("If", then_branch="one", else_branch="other")
    states = flow_of(made, body("one", "Relu"), body("other", "Neg")).same(given).states
    assert states["called", 0] is same


@pytest.mark.parametrize(("goes_on", "follows"), [("asked", True), ("sum", False)])
def test_rows_stay_apart_in_a_loop_whose_end_does_not_depend_on_them(goes_on: str, follows: bool) -> None:
    condition = Builder("cond")
    x = condition.add("Placeholder", "x", makes=ROWS)
    condition.add("Placeholder", "handle", makes="resource[]")
    asked = condition.add("ReadVariableOp", "asked", ("handle",), "bool[]")
    axes = condition.add("Const", "axes", (), "int32[]", value=0)
    total = condition.add("Max", "total", (x, axes), "float32[4]")
    condition.results = [asked if goes_on == "asked" else condition.add("All", "sum", (total, axes), "bool[]")]
    made = calling("While", body="turn", cond="cond")
    flow = flow_of(made, body("turn", "Tanh", "Relu"), condition)
    assert flow.rows({("x", 0): 0}).states["called", 0].follows is follows


def test_a_function_that_was_not_recorded_or_calls_itself_is_unknown() -> None:
    for bodies in ((), (calling("StatefulPartitionedCall", f="inner"),)):
        made = calling("StatefulPartitionedCall", f=bodies[0].name if bodies else "inner")
        flow = flow_of(made, *bodies)
        assert flow.same(("x", "handle")).states["called", 0] is False
        assert flow.rows({("x", 0): 0}).states["called", 0] == MIXED


def test_a_chain_of_100_000_operations() -> None:
    made = Builder()
    last = made.add("Placeholder", "x", makes=ROWS)
    for number in range(99_999):
        last = made.add(("Relu", "Tanh", "Neg")[number % 3], f"n{number}", (last,), ROWS)
    flow = flow_of(made)
    assert flow.same(("x",)).states[last, 0]
    assert flow.rows({("x", 0): 0}).states[last, 0] == Rows(axis=0)


def test_loops_in_loops_end() -> None:
    """Each loop repeats its body until nothing changes: not as often as loops are nested."""
    depth = 30
    made, bodies = calling("While", body="b0", cond="c0"), []
    for level in range(depth):
        inner = calling("While", body=f"b{level + 1}", cond=f"c{level + 1}")
        inner.name, inner.results = f"b{level}", ["called", "handle"]
        bodies += [inner, body(f"c{level}", "Relu")]
    bodies += [body(f"b{depth}", "Neg"), body(f"c{depth}", "Relu")]
    assert flow_of(made, *bodies).same(("x", "handle")).states["called", 0] in (True, False)
