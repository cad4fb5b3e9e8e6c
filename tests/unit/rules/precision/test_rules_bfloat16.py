"""PRC004: 16-bit products as headroom, where this machine was measured to be faster in them and little else runs."""

from __future__ import annotations

from typing import Any

import pytest
from computed_builder import compiled, ran
from tfperfkit_rules.precision.bfloat16 import bfloat16

PRODUCTS = (ran("MatMul", 6.0), ran("_FusedMatMul", 3.0), ran("MatMul", 9.0, "backward"), ran("Mul", 2.0, "update"))


def told(rows: Any = PRODUCTS, times: float | None = 2.0, **fields: Any) -> list[Any]:
    machine = {"bfloat16_times": times} if times is not None else {}
    return list(bfloat16(compiled(rows, machine=machine | fields.pop("machine", {}), **fields)))


def test_products_that_are_faster_in_16_bits_are_headroom() -> None:
    (finding,) = told()
    assert (finding.code, finding.headroom, finding.severity) == ("PRC004", True, "info")
    lower, upper = finding.gain.bounds
    assert 1.2 < lower < finding.gain.likely < upper < 2.5
    (faster,) = told(times=8.0)
    assert faster.gain.bounds[1] > upper


@pytest.mark.parametrize(
    "fields",
    [
        {"times": None},  # no such instructions, or not measured
        {"times": 0.6},  # computed without them
        {"times": 1.2},
        {"rows": (ran("MatMul", 9.0), ran("Relu", 3.0))},  # what gets slower outweighs it
        {"rows": (ran("MatMul", 9.0), ran("Conv2D", 6.0))},
        {"rows": (ran("MatMul", 1.0), ran("AssignSubVariableOp", 9.0, "update"))},
        {"settings": {"dtype_policy": "mixed_bfloat16"}},  # done
        {"machine": {"devices": ["/device:GPU:0"]}},
        {"steps": 20},
    ],
)
def test_else_nothing_is_said(fields: dict[str, Any]) -> None:
    assert not told(**fields)
