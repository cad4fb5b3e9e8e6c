"""From the names that operations run under to the operations that were built."""

from __future__ import annotations

import pytest
from graphlines_builder import GraphsBuilder
from tfperfkit_probes.lines.graph.locate import Locator


@pytest.fixture
def locator() -> Locator:
    make = GraphsBuilder()
    at = make.stack((20, "step"))
    make.graph(
        "step",
        [
            ("MatMul", "MatMul", at, "f"),
            ("model/dense/MatMul", "MatMul", at, "f"),
            ("while", "While", at, "f"),
            ("StatefulPartitionedCall", "StatefulPartitionedCall", at, "f"),
            ("loss/Mean", "Mean", at, "f"),
            ("loss/Mean/reduction_indices", "Const", -1, "f"),
            ("cond", "If", at, "f"),
        ],
        function="__inference_step_9",
        calls={2: ["cond_1", "body_2"], 3: ["__inference_inner_5"], 6: ["then_3"]},
    )
    make.graph("cond_1", [("while/Less", "Less", at, "f")])
    make.graph(
        "body_2",
        [("while/MatMul", "MatMul", at, "f"), ("while/call", "PartitionedCall", at, "f")],
        calls={1: ["__inference_inner_5"]},
    )
    make.graph("inner", [("Tanh", "Tanh", at, "f")], function="__inference_inner_5")
    make.graph("then_3", [("cond/Relu", "Relu", at, "f")])
    return Locator(make.built().graphs)


@pytest.mark.parametrize(
    ("name", "chain"),
    [
        ("MatMul", ((0, 0),)),
        ("model/dense/MatMul", ((0, 1),)),
        # lowered: a loop's body, and a call within it that was inlined
        ("while/body/_12/while/MatMul", ((0, 2), (2, 0))),
        ("while/body/_12/while/call/Tanh", ((0, 2), (2, 1), (3, 0))),
        ("while/cond/_11/while/Less", ((0, 2), (1, 0))),
        ("cond/then/_3/cond/Relu", ((0, 6), (4, 0))),
        # inlined
        ("StatefulPartitionedCall/Tanh", ((0, 3), (3, 0))),
        # XLA names a body's operation as it was built there
        ("while/MatMul", ((0, 2), (2, 0))),
        ("cond/Relu", ((0, 6), (4, 0))),
        # what the lowering adds
        ("while/LoopCond", ((0, 2),)),
        ("while/exit/_9", ((0, 2),)),
        ("Func/StatefulPartitionedCall/input/_4", ((0, 3),)),
        # Grappler
        ("ArithmeticOptimizer/FoldTransposeIntoMatMul_model/dense/MatMul", ((0, 1),)),
        ("model/dense/ArithmeticOptimizer/FoldTransposeIntoMatMul_MatMul", ((0, 1),)),
        ("ConstantFolding/model/dense/MatMul-folded-0", ((0, 1),)),
        ("model/dense/MatMul-0-0-TransposeNHWCToNCHW-LayoutOptimizer", ((0, 1),)),
        ("model/dense/MatMul_unary_ops_composition", ((0, 1),)),
        ("ConstantFolding/loss/Mean-reduction_indices", ((0, 4),)),
        # new, but in a known scope
        ("model/dense/BiasAdd", ((0, 1),)),
    ],
)
def test_name_is_found(locator: Locator, name: str, chain: tuple[tuple[int, int], ...]) -> None:
    assert locator.find(0, name) == chain


@pytest.mark.parametrize("name", ["Unknown", "other/scope/Add", "", "ConstantFolding/", "a/" * 50])
def test_name_without_likeness_is_not_guessed(locator: Locator, name: str) -> None:
    assert locator.find(0, name) is None
