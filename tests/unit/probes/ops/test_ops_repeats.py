"""Copies of whole examples along the first axis, through what mixes the rows of an example; sizes may be open."""

from __future__ import annotations

import pytest
from graph_causes import causes_in
from ops_builder import Builder
from tfperfkit_rules.graph.repeated_rows import RepeatedRows


class Ranker:
    """The graph of one session that is tiled to as many as there are candidates, before attention."""

    def __init__(self, count: str = "None", session: str = "None") -> None:
        self.made = Builder()
        self.rows = f"{count},{session}"
        self.count = count
        candidates = self.add("Placeholder", "candidates", (), f"int32[{count}]")
        session_ = self.add("Placeholder", "session", (), f"float32[1,{session},48]")
        zero, one = self.number("zero", 0), self.number("one", 1)
        shape = self.add("Shape", "shape", (candidates,), "int32[1]")
        first = self.add("Const", "first", (), "int32[1]", value=0)
        end = self.add("Const", "end", (), "int32[1]", value=1)
        n = self.add("StridedSlice", "n", (shape, first, end, end), "int32[]")
        copies = self.add("Pack", "copies", (n, one, one), "int32[3]")
        self.tiled = self.add("Tile", "tiled", (session_, copies), f"float32[{self.rows},48]")
        self.zero, self.one = zero, one

    def add(self, *given: object, **attributes: object) -> str:
        return self.made.add(*given, **attributes)  # type: ignore[arg-type]

    def number(self, name: str, value: int) -> str:
        return self.add("Const", name, (), "int32[]", value=value)

    def attention(self, x: str) -> str:
        """Queries, their likeness within each session, and the mean over it."""
        kernel = self.add("Placeholder", "kernel", (), "float32[48,48]")
        rows = f"float32[{self.rows},48]"
        query = self.add("Einsum", "query", (x, kernel), rows, equation="abc,cd->abd")
        square = f"float32[{self.rows},{self.rows.split(',')[1]}]"
        scores = self.add("Einsum", "scores", (query, x), square, equation="aqd,akd->aqk")
        soft = self.add("Softmax", "soft", (scores,), square)
        read = self.add("Einsum", "read", (soft, x), rows, equation="aqk,akd->aqd")
        return self.add("Mean", "mean", (read, self.one), f"float32[{self.count},48]")

    def dense(self, x: str) -> str:
        """As Keras multiplies more than two axes, where sizes are open."""
        shape = self.add("Shape", "sizes", (x,), "int32[3]")
        axes = self.add("Pack", "axes", (self.zero, self.one), "int32[2]")
        free = self.add("GatherV2", "free", (shape, axes, self.zero), "int32[2]")
        rows = self.add("Prod", "rows", (free, self.zero), "int32[]")
        flat = self.add("Pack", "flat", (rows, self.number("inner", 48)), "int32[2]")
        reshaped = self.add("Reshape", "reshaped", (x, flat), "float32[None,None]")
        kernel = self.add("Placeholder", "weights", (), "float32[48,96]")
        product = self.add("MatMul", "product", (reshaped, kernel), "float32[None,96]")
        width = self.add("Const", "width", (), "int32[1]", value=96)
        back = self.add("ConcatV2", "back", (free, width, self.zero), "int32[3]")
        return self.add("Reshape", "dense", (product, back), f"float32[{self.rows},96]")

    def found(self) -> list[RepeatedRows]:
        shapes = {"candidates": (400,), "session": (1, 40, 48)}
        return [each for each in causes_in(self.made.graph(), None, shapes=shapes) if isinstance(each, RepeatedRows)]


@pytest.mark.parametrize(("count", "session"), [("None", "None"), ("None", "40"), ("400", "40")])
def test_one_session_goes_through_attention_as_often_as_there_are_candidates(count: str, session: str) -> None:
    ranker = Ranker(count, session)
    mean = ranker.attention(ranker.tiled)
    items = ranker.add("Placeholder", "items", (), f"float32[{count},48]")
    ranker.add("Mul", "joined", (mean, items), f"float32[{count},48]")
    (found,) = ranker.found()
    assert found.operations == ["tiled", "query", "scores", "soft", "read", "mean"], "up to what joins the candidates"
    assert (found.rows, found.times) == (1, 400) and found.left == 1 / 400


@pytest.mark.parametrize(("count", "session"), [("None", "None"), ("None", "40"), ("400", "40")])
def test_the_axes_that_a_dense_layer_joins_and_takes_apart_again_are_followed(count: str, session: str) -> None:
    ranker = Ranker(count, session)
    ranker.add("Relu", "last", (ranker.dense(ranker.tiled),), f"float32[{ranker.rows},96]")
    (found,) = ranker.found()
    assert found.operations == ["tiled", "reshaped", "product", "dense", "last"]


def test_copies_that_get_noise_are_none() -> None:
    ranker = Ranker()
    noise = ranker.add("RandomStandardNormal", "noise", ("shape",), "float32[None,None,48]")
    ranker.attention(ranker.add("AddV2", "noisy", (ranker.tiled, noise), "float32[None,None,48]"))
    assert not ranker.found()


def test_a_product_over_the_copies_ends_them() -> None:
    ranker = Ranker()
    kernel = ranker.add("Placeholder", "kernel", (), "float32[48,48]")
    ranker.add("Einsum", "over", (ranker.tiled, kernel), "float32[None,48]", equation="abc,cd->bd")
    assert not ranker.found()
