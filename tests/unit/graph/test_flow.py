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


def independent(kind: str, rows: int = 8, takes: str = ROWS, makes: str = ROWS, **attributes: object) -> bool:
    """Ask of an operation of x, and of a constant if it has a value."""
    made = Builder()
    x = made.add("Placeholder", "x", makes=takes)
    if "value" in attributes:
        made.add("Const", "constant", (), "int32[]", value=attributes.pop("value"))
        made.add(kind, "made", (x, "constant"), makes, **attributes)
    else:
        made.add(kind, "made", (x,), makes, **attributes)
    return flow_of(made).independent_rows("made", rows)


def test_rows_of_the_arguments_stay_apart_where_each_is_made_of_one() -> None:
    assert independent("Relu")
    assert not independent("Relu", rows=9)
    assert not independent("RandomUniform")
    assert not independent("Relu", takes="float32[]", makes="float32[]")
    assert not independent("Sum", value=0, makes="float32[4]")
    assert independent("Sum", value=1, makes="float32[8]")


def test_independent_rows_are_those_of_the_first_axis_one_for_each() -> None:
    for shape, wanted in (([8, 2, 2], True), ([32], False), ([2, 16], False)):
        made = Builder()
        made.add("Placeholder", "x", makes=ROWS)
        made.add("Const", "shape", (), f"int32[{len(shape)}]", value=0)
        made.add("Reshape", "made", ("x", "shape"), f"float32{shape}".replace(" ", ""))
        assert flow_of(made).independent_rows("made", 8) is wanted, shape


def test_an_argument_of_another_size_may_have_to_do_with_any_row() -> None:
    made = Builder()
    for name, kind in (("x", ROWS), ("other", "float32[1,4]"), ("handle", "resource[]")):
        made.add("Placeholder", name, makes=kind)
    made.add("ReadVariableOp", "weights", ("handle",), "float32[1,4]")
    made.captures.append("handle")
    made.add("AddV2", "with_other", ("x", "other"), ROWS)
    made.add("AddV2", "with_weights", ("x", "weights"), ROWS)
    made.add("IdentityN", "both", ("weights", "with_weights"), f"float32[1,4];{ROWS}")
    flow = flow_of(made)
    assert not flow.independent_rows("with_other", 8)
    assert flow.independent_rows("with_weights", 8)
    assert [flow.independent_rows("both", 8, output) for output in (0, 1)] == [False, True]
    assert not flow.independent_rows("both", 8)
    assert not flow.independent_rows("weights", 8)  # it has no rows
    assert not flow.independent_rows("absent", 8)


def test_what_follows_row_by_row_and_treats_each_alike() -> None:
    made = Builder()
    x = made.add("Placeholder", "x", makes=ROWS)
    made.add("Placeholder", "other", makes=ROWS)
    start = made.add("Tanh", "start", (x,), ROWS)
    made.add("Relu", "follows", (start,), ROWS)
    made.add("Relu", "before", (x,), ROWS)
    made.add("AddV2", "with_other", ("follows", "other"), ROWS)
    made.add("Const", "axis", (), "int32[]", value=0)
    made.add("Max", "of_all", ("follows", "axis"), "float32[4]")
    made.add("IdentityN", "one_of_two", ("before", "follows"), f"{ROWS};{ROWS}")
    view = View(made.graph(), None)
    found = Flow(view).following(view.nodes["start"])
    assert [node.name for node in found.nodes] == ["start", "follows", "one_of_two"]
    assert (found.flops, found.bytes) == (0, 0)  # those in bodies alone count
    assert [node.name for node in Flow(view).following(view.nodes["x"]).nodes][:3] == ["start", "follows", "before"]


def counted(limit: int | None) -> Builder:
    """Build a condition of x and a counter, which is less than a limit; or of nothing that is known."""
    made = Builder("cond")
    made.add("Placeholder", "x", makes=ROWS)
    counter = made.add("Placeholder", "counter", makes="int32[]")
    end = made.add("Const", "limit", (), "int32[]", value=limit or 0)
    made.results = [made.add("Less" if limit else "Equal", "goes_on", (counter, end), "bool[]")]
    return made


@pytest.mark.parametrize(("limit", "times"), [(1, 1), (5, 5), (None, 1)])
def test_the_costs_of_what_follows_count_each_iteration_of_a_loop(limit: int | None, times: int) -> None:
    """Once where it is not known how many the loop makes."""
    turn = Builder("turn")
    x, counter = turn.add("Placeholder", "x", makes=ROWS), turn.add("Placeholder", "counter", makes="int32[]")
    one = turn.add("Const", "one", (), "int32[]", value=1)
    inner = turn.add("PartitionedCall", "inner", (x,), ROWS, f="relu")
    turn.results = [inner, turn.add("AddV2", "next", (counter, one), "int32[]")]
    relu = Builder("relu")
    relu.results = [relu.add("Relu", "made", (relu.add("Placeholder", "x", makes=ROWS),), ROWS)]
    made = Builder()
    made.add("Placeholder", "x", makes=ROWS)
    made.add("Const", "zero", (), "int32[]", value=0)
    made.add("While", "loop", ("x", "zero"), f"{ROWS};int32[]", body="turn", cond="cond")
    view = View(made.graph(turn, relu, counted(limit)), None)
    found = Flow(view).following(view.nodes["x"])
    assert sorted(node.name for node in found.nodes) == ["inner", "loop", "made"]
    assert (found.flops, found.bytes) == (times * 8 * 4, times * 2 * 8 * 4 * 4)


def test_names_of_what_is_the_same_have_all_outputs_the_same() -> None:
    made = Builder()
    x = made.add("Placeholder", "x", makes=ROWS)
    made.add("Placeholder", "other", makes=ROWS)
    made.add("Relu", "same", (x,), ROWS)
    made.add("IdentityN", "both", (x, "other"), f"{ROWS};{ROWS}")
    assert flow_of(made).same_names(("x",)) >= {"x", "same"}
    assert not flow_of(made).same_names(("x",)) & {"other", "both"}
    assert flow_of(made).same_names(("x", "other")) >= {"x", "other", "same"}
