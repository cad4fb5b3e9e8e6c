"""The part of the operations in compiled functions that only moves data."""

from __future__ import annotations

import pytest

from tfperfkit.analysis.gather import _moved
from tfperfkit.offers import RanOperation, RanOperations

RAN = RanOperations(
    steps=2,
    rows=(
        RanOperation(name="a", type="MatMul", where="graph", count=2, self_ms=6.0),
        RanOperation(name="b", type="_Recv", where="graph", count=2, self_ms=3.0),
        RanOperation(name="c", type="CollectiveReduceV2", where="graph", count=2, self_ms=1.0),
        RanOperation(name="d", type="Copy", where="eager", count=2, self_ms=5.0),
    ),
)


def test_shares_of_the_time_in_compiled_functions() -> None:
    assert _moved(RAN, ["/device:CPU:0", "/device:GPU:0"]) == pytest.approx({"copies": 0.3, "collectives": 0.1})


def test_nothing_is_copied_between_devices_where_there_is_one() -> None:
    assert _moved(RAN, ["/device:CPU:0"]) == pytest.approx({"collectives": 0.1})
