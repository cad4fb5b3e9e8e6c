"""Copies of whole sequences through a recurrent layer, a loop over their steps in a graph."""

from __future__ import annotations

import pytest
from graph_causes import causes_in
from ops_builder import Builder
from tfperfkit_rules.graph.repeated_rows import RepeatedRows

F = "float32"
#: 16 histories, 12 copies of each.
ROWS, STEPS, UNITS = 192, 40, 64
HERE = (("train.py", 18, "call"),)


class Encoder:
    """``tf.repeat(history, 12, axis=0)`` before a recurrent layer that gives its last state, and its states."""

    def __init__(self, *, noise: bool = False, own_state: bool = False) -> None:
        self.outer, self.body = Builder(), Builder("body_1")
        self.condition = Builder("cond_1")
        self._turn(noise)
        add = self.outer.add
        history = add("Placeholder", "history", (), f"{F}[16,1,{STEPS},8]")
        tiled = add("Tile", "tiled", (history, self.several("copies", 1, 12, 1, 1)), f"{F}[16,12,{STEPS},8]", HERE)
        joined = add("Reshape", "joined", (tiled, self.several("to", ROWS, STEPS, 8)), f"{F}[{ROWS},{STEPS},8]")
        swapped = self.several("swapped", 1, 0, 2)
        by_step = add("Transpose", "by_step", (joined, swapped), f"{F}[{STEPS},{ROWS},8]")
        steps = add("TensorListFromTensor", "steps", (by_step,), "variant[]")
        state = f"{F}[{ROWS},{UNITS}]"
        if own_state:
            start = add("Placeholder", "plans", (), state)
        else:
            nought = add("Const", "nought", (), f"{F}[]")
            start = add("Fill", "zeros", (self.several("size", ROWS, UNITS), nought), state)
        kernel = add("Placeholder", "kernel", (), f"{F}[72,{UNITS}]")
        made = add("TensorListReserve", "reserved", (), "variant[]")
        given = (self.number("begin", 0), self.number("end", STEPS), start, made, steps, kernel)
        makes = f"int32[];int32[];{state};variant[];variant[];{F}[72,{UNITS}]"
        add("While", "while", given, makes, HERE, body="body_1", cond="cond_1")
        stacked = add("TensorListStack", "stacked", ("while:3",), f"{F}[{STEPS},{ROWS},{UNITS}]")
        add("Transpose", "states", (stacked, swapped), f"{F}[{ROWS},{STEPS},{UNITS}]")
        weights = add("Placeholder", "weights", (), f"{F}[{UNITS},5]")
        last = add("MatMul", "last", ("while:2", weights), f"{F}[{ROWS},5]")
        add("Mul", "with_plans", (last, add("Placeholder", "scores", (), f"{F}[{ROWS},5]")), f"{F}[{ROWS},5]")

    def number(self, name: str, value: int) -> str:
        return self.outer.add("Const", name, (), "int32[]", value=value)

    def several(self, name: str, *values: int) -> str:
        parts = tuple(self.number(f"{name}/{at}", value) for at, value in enumerate(values))
        return self.outer.add("Pack", name, parts, f"int32[{len(values)}]")

    def _turn(self, noise: bool) -> None:
        state = f"{F}[{ROWS},{UNITS}]"
        for builder in (self.condition, self.body):
            for name, makes in (("i", "int32[]"), ("n", "int32[]"), ("h", state), ("made", "variant[]")):
                builder.add("Placeholder", name, (), makes)
            builder.add("Placeholder", "xs", (), "variant[]")
            builder.add("Placeholder", "w", (), f"{F}[72,{UNITS}]")
        self.condition.add("Less", "less", ("i", "n"), "bool[]")
        self.condition.results.append("less")
        add = self.body.add
        one = add("Const", "one", (), "int32[]", value=1)
        more = add("AddV2", "more", ("i", one), "int32[]")
        item = add("TensorListGetItem", "item", ("xs", "i"), f"{F}[{ROWS},8]")
        both = add("ConcatV2", "both", (item, "h", one), f"{F}[{ROWS},72]")
        new = add("Tanh", "new", (add("MatMul", "product", (both, "w"), state),), state)
        if noise:
            new = add("AddV2", "noisy", (new, add("RandomStandardNormal", "noise", (), state)), state)
        kept = add("TensorListSetItem", "kept", ("made", "i", new), "variant[]")
        self.body.results.extend((more, "n", new, kept, "xs", "w"))

    def found(self) -> list[RepeatedRows]:
        graph = self.outer.graph(self.body, self.condition)
        return [each for each in causes_in(graph, None) if isinstance(each, RepeatedRows)]


def test_copies_of_sequences_go_through_a_recurrent_layer() -> None:
    (found,) = Encoder().found()
    assert (found.rows, found.times) == (16, 12) and found.left == 1 / 12
    assert found.where is not None and found.where.line == 18
    inside = {"item", "both", "product", "new", "kept"}
    assert {"tiled", "joined", "by_step", "steps", "while", "stacked", "states", "last"} <= set(found.operations)
    assert inside - {"item", "kept"} <= set(found.operations) and "with_plans" not in found.operations
    assert found.takes_flops > STEPS * 2 * ROWS * 72 * UNITS, "of all turns"


@pytest.mark.parametrize("fields", [{"noise": True}, {"own_state": True}])
def test_silent_where_the_copies_become_different_in_a_turn(fields: dict[str, bool]) -> None:
    """By random numbers, by states that each copy begins with."""
    assert Encoder(**fields).found() == []
