"""A call's rows come from the source, else from the shapes that the traces of a compiled function recorded."""

from __future__ import annotations

import pytest

from tfperfkit.ledger.call_amounts import CallAmount, find_amount
from tfperfkit.offers import CallShape, CallShapes
from tfperfkit.records.samples import Frame
from tfperfkit.syntax.module import parse

FILE = "explain.py"
COMPILED = "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"
SHAPE = CallShape(file=FILE, line=2, argument="background", rows=6000)


def amount(source: str, *shapes: CallShape, api: str = COMPILED) -> CallAmount | None:
    frame = Frame(FILE, 1, "<module>", 2, (2, 2, 0, len(source.splitlines()[1])), (api,))
    return find_amount(frame, parse(tuple(source.splitlines())), CallShapes(calls=shapes))


def test_a_compiled_call_has_the_recorded_rows_if_the_source_does_not_tell() -> None:
    assert amount("rows = load()\nscore(rows)", SHAPE) == (6000, "background")
    assert amount("rows = np.zeros((7000, 4))\nscore(rows)", SHAPE) == (6000, "background")
    assert amount("import numpy as np; rows = np.zeros((7000, 4))\nscore(rows)", SHAPE) == (7000, "rows")


@pytest.mark.parametrize(
    ("shapes", "api"),
    [
        ((), COMPILED),
        ((SHAPE, CallShape(file=FILE, line=2, argument="x", rows=9000)), COMPILED),
        ((CallShape(file=FILE, line=3, argument="x", rows=9000),), COMPILED),
        ((CallShape(file=FILE, line=2, argument="x", rows=999),), COMPILED),
        ((SHAPE,), "scipy.spatial.distance:cdist"),
    ],
    ids=["none", "two functions on the line", "another line", "few rows", "not the compiled function's call"],
)
def test_nothing_is_said_of_rows_that_are_unknown_or_few(shapes: tuple[CallShape, ...], api: str) -> None:
    assert amount("rows = load()\nscore(rows)", *shapes, api=api) is None
