"""The work of one iteration of a graph's loop, on made graphs. No TensorFlow."""

from __future__ import annotations

import pytest
from ops_builder import Builder
from tfperfkit_probes.ops.loops import loops_of

F = "float32"
HERE = (("train.py", 7, "prepare"),)


def counting(
    body_type: str,
    kind: str = "Sin",
    *,
    end: int | None = 9,
    twice: bool = False,
    kind_of_limit: str = "Less",
    start: int = 0,
    step: int = 1,
) -> list[Builder]:
    """``for i in tf.range(end): x = sin(x)``; ``twice``: with the check of a most number of turns as well."""
    condition, body, outer = Builder("cond_1"), Builder("body_1"), Builder()
    for each in (condition, body):
        each.add("Placeholder", "i", makes="int32[]")
        each.add("Placeholder", "n", makes="int32[]")
        each.add("Placeholder", "x", makes=body_type)
    condition.add(kind_of_limit, "less", ("i", "n"), "bool[]")
    if twice:
        condition.add("Const", "most", (), "int32[]", value=5)
        condition.add("Less", "less_1", ("i", "most"), "bool[]")
        condition.add("LogicalAnd", "both", ("less", "less_1"), "bool[]")
    condition.results.append("both" if twice else "less")
    body.add("Const", "one", (), "int32[]", value=step)
    body.add("AddV2", "add", ("i", "one"), "int32[]")
    body.add(kind, "work", ("x",), body_type)
    body.results.extend(("add", "n", "work"))
    outer.add("Placeholder", "x", makes=body_type)
    outer.add("Const", "start", (), "int32[]", value=start)
    if end is None:
        outer.add("Placeholder", "end", makes="int32[]")
    else:
        outer.add("Const", "end", (), "int32[]", value=end)
    outer.add(
        "While", "while", ("start", "end", "x"), f"int32[];int32[];{body_type}", HERE, cond="cond_1", body="body_1"
    )
    return [outer, condition, body]


def test_a_turn() -> None:
    outer, *bodies = counting(f"{F}[10]")
    ((loop,), measured) = loops_of(outer.graph(*bodies), None)
    assert (loop.turns, loop.goes, loop.flops, loop.whole_flops) == (9, 1.0, 10, 90)
    assert loop.operations == pytest.approx(3, abs=0.2), "adding, the work, and the condition"
    assert loop.measured and measured and not loop.trains and loop.types == {"Sin": 1}
    assert loop.where is not None and loop.where.line == 7


def test_turns_that_are_counted_twice_or_not_known() -> None:
    outer, *bodies = counting(f"{F}[10]", twice=True)
    assert loops_of(outer.graph(*bodies), None)[0][0].turns == 5
    outer, *bodies = counting(f"{F}[10]", twice=True, end=None)
    assert loops_of(outer.graph(*bodies), None)[0][0].turns is None


def test_what_sizes_do_not_tell() -> None:
    for kind, body_type in (("Sin", f"{F}[?]"), ("EagerPyFunc", f"{F}[10]"), ("Sin", "string[10]")):
        outer, *bodies = counting(body_type, kind)
        ((loop,), _) = loops_of(outer.graph(*bodies), None)
        assert not loop.measured
    outer, *bodies = counting(f"{F}[None,4]")
    assert loops_of(outer.graph(*bodies), 8)[0][0].elements > 32, "an open size is the first call's"


def test_small_matrices_and_shapes_are_known_work() -> None:
    """Invert 4 x 4 matrices in each iteration of a filter; a gradient asks which axes were broadcast."""
    outer, *bodies = counting(f"{F}[4,4]", "MatrixInverse")
    ((loop,), measured) = loops_of(outer.graph(*bodies), None)
    assert loop.measured and measured and loop.flops >= 4 * 4 * 4
    ((large,), _) = loops_of((made := counting(f"{F}[500,500]", "MatrixInverse"))[0].graph(*made[1:]), None)
    assert large.flops > 1e8, "no small turn"
    outer, condition, body = counting(f"{F}[10]")
    body.add("BroadcastGradientArgs", "axes", ("i", "n"), "int32[None];int32[None]")
    assert loops_of(outer.graph(condition, body), None)[0][0].measured


def test_a_loop_that_trains() -> None:
    outer, *bodies = counting(f"{F}[10]", "IteratorGetNext")
    assert loops_of(outer.graph(*bodies), None)[0][0].trains


@pytest.mark.parametrize(("kind", "turns"), [("Greater", 8), ("GreaterEqual", 9), ("Less", None)])
def test_a_loop_that_counts_down(kind: str, turns: int | None) -> None:
    """``for t in tf.range(8, 0, -1)``, as sums over what follows go through time."""
    outer, condition, body = counting(f"{F}[10]", kind_of_limit=kind, start=8, end=0, step=-1)
    assert loops_of(outer.graph(condition, body), None)[0][0].turns == turns


def test_a_loop_that_takes_from_its_counter() -> None:
    """``tf.while_loop`` with ``i - 1``."""
    outer, condition, body = counting(f"{F}[10]", kind_of_limit="GreaterEqual", start=8, end=0)
    body.definition.node[4].op = b"Sub"
    assert loops_of(outer.graph(condition, body), None)[0][0].turns == 9
    body.definition.node[4].input[:] = [b"one", b"i"]
    assert loops_of(outer.graph(condition, body), None)[0][0].turns is None


def test_a_length_that_keras_takes_the_largest_of_and_the_loop_of_its_gradient() -> None:
    outer, *bodies = counting(f"{F}[10]", end=None)
    outer.definition.node[2].op = b"Const"
    outer.definition.node[2].attr.add(key=b"value").value.tensor.int_val.append(40)
    outer.add("Range", "none", (), "int32[0]")
    outer.add("Max", "largest", ("end", "none"), "int32[]")
    outer.definition.node[3].input[1] = b"largest"
    most = ("start", "while:0", "x")
    outer.add("While", "while_grad", most, f"int32[];int32[];{F}[10]", HERE, cond="cond_1", body="body_1")
    found, _ = loops_of(outer.graph(*bodies), None)
    assert [loop.turns for loop in found] == [40, 40]
