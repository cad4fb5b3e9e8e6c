"""OPS006 of a switch that has every result checked."""

from __future__ import annotations

from typing import Any

import pytest
from computed_builder import compiled, ran
from evidence_builder import one
from tfperfkit_rules.graph.checks_on import checks_on

SOURCE = "import tensorflow as tf\ntf.debugging.enable_check_numerics()\n"
CHECKED = (ran("MatMul", 2.0), ran("DebugNumericSummaryV2", 1.0, runs=100.0), ran("CheckNumericsV2", 1.0, runs=100.0))


def evidence(*, on: bool | None = True, rows: Any = CHECKED, idle_ms: float = 4.0) -> Any:
    return compiled(rows, idle_ms=idle_ms, settings={} if on is None else {"check_numerics": on}, source=SOURCE)


def test_the_checks_and_their_starts_are_priced() -> None:
    found = one(checks_on(evidence()))
    assert (found.code, found.where[0].line, found.severity) == ("OPS006", 2, "low")
    assert "200 checks" in found.title and "STP002" in found.absorbs
    assert found.share_of_step == pytest.approx((2.0 + 200 * 0.004) / 9.04, rel=0.02)
    low, _ = found.gain.bounds or (0.0, 0.0)
    assert low == pytest.approx(1 / (1 - 1.0 / 9.04), rel=0.02)


def test_waiting_is_no_start_of_a_check() -> None:
    long, short = (one(checks_on(evidence(idle_ms=idle))) for idle in (400.0, 4.0))
    assert long.share_of_step < short.share_of_step / 10


@pytest.mark.parametrize("on", [False, None])
def test_it_is_silent_where_the_switch_is_off(on: bool | None) -> None:
    assert not list(checks_on(evidence(on=on)))
    assert not list(checks_on(evidence(rows=(ran("MatMul", 2.0),))))
