"""The gain of a finding once those before it are fixed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tfperfkit.diagnosis.together import add_gains_after
from tfperfkit.gain import AtLeast, between
from tfperfkit.model import Finding, Measurement
from tfperfkit.report.findings import once_words
from tfperfkit.report.saved import saved_after


def costs(code: str, share: float, low: float, high: float, **fields: Any) -> Finding:
    """Return a finding whose fix takes between ``low`` and ``high`` (shares) of the step away."""
    given: dict[str, Any] = {"family": "input", "severity": "high", **fields}
    return Finding(
        code=code,
        title=code,
        share_of_step=share,
        gain=between(1 / (1 - low), 1 / (1 - high)),
        where=(),
        evidence=(Measurement("time", 1.0, "ms", "breakdown"),),
        advice="Change it.",
        **given,
    )


def test_a_small_cost_beside_a_large_one_is_worth_more_once_that_is_gone() -> None:
    # 100 ms: 60 to 70 are a load, 20 are dispatching operations. Without the load 40 (30) ms, and then 20 (10).
    load, eager = add_gains_after((costs("INP002", 0.65, 0.6, 0.7), costs("EAG001", 0.2, 0.2, 0.2, family="eager")))
    assert load.once is None
    assert eager.once is not None
    assert eager.once.codes == ("INP002",)
    assert eager.once.gain.bounds == pytest.approx((2.0, 3.0))
    assert eager.once.gain.likely == pytest.approx(2.4), "the centre of what is saved"
    assert once_words(eager.once) == "2.4x (2.0x to 3.0x) once INP002 is fixed"


def test_where_nothing_may_be_left_only_the_lower_end_is_reported() -> None:
    _, eager = add_gains_after((costs("INP002", 0.75, 0.7, 0.85), costs("EAG001", 0.17, 0.15, 0.2, family="eager")))
    assert eager.once is not None
    assert eager.once.gain.bounds is None and eager.once.gain.likely is None
    assert once_words(eager.once) == "at least 2.0x once INP002 is fixed"


def test_of_what_is_known_from_below_only_the_lower_end_is_reported() -> None:
    load = costs("INP002", 0.65, 0.6, 0.7)
    lines = msgspec.structs.replace(costs("LIN001", 0.2, 0.2, 0.3, family="lines"), gain=AtLeast(1.25))
    _, found = add_gains_after((load, lines))
    assert found.once is not None and found.once.gain.bounds is None
    assert found.once.gain.low == pytest.approx(2.0)


def test_all_those_before_it_count() -> None:
    first, second = costs("INP002", 0.5, 0.5, 0.5), costs("EAG001", 0.2, 0.2, 0.2, family="eager")
    *_, third = add_gains_after((first, second, costs("RET001", 0.1, 0.1, 0.1, family="retrace")))
    assert third.once is not None
    assert third.once.codes == ("INP002", "EAG001")
    assert third.once.gain.likely == pytest.approx(0.3 / 0.2)
    assert once_words(third.once) == "1.5x once INP002 and EAG001 are fixed"


@pytest.mark.parametrize(
    "other",
    [
        costs("INP001", 0.2, 0.2, 0.2),  # one family: it may be the same time
        costs("EAG001", 0.6, 0.5, 0.5, family="eager"),  # together more than a step: some of it is the same time
        costs("EAG001", 0.2, 0.2, 0.2, family="eager", work="predict.py:7"),  # another work
        costs("RET001", 0.2, 0.2, 0.2, family="retrace", basis="run"),  # of the run, not of its steps
        costs("SYN001", 0.2, 0.2, 0.2, family="sync", severity="info"),  # a remark
    ],
    ids=["family", "sum", "work", "basis", "remark"],
)
def test_what_may_be_the_same_time_or_is_of_something_else_says_nothing(other: Finding) -> None:
    assert add_gains_after((costs("INP002", 0.5, 0.5, 0.5), other))[1].once is None


def test_a_further_finding_saves_no_more_than_the_first_leaves() -> None:
    """Of 20 s the first takes 12 to 16 away, and the second costs 10: 6 of these may be the first one's."""
    first, second = costs("INP002", 0.7, 0.6, 0.8), costs("INP001", 0.5, 0.25, 0.5)
    second = msgspec.structs.replace(second, saves_s=(7.0, 10.0), costs_s=10.0)
    _, told = add_gains_after((first, second))
    assert told.after is not None and told.after.numbers == (1,)
    assert told.after.saves_s == pytest.approx((1.0, 8.0))
    assert saved_after(told) == "saves 1.0-8.0 s after the first fix"


def test_different_time_is_saved_whole_after_the_first() -> None:
    first, second = costs("INP002", 0.65, 0.6, 0.7), costs("EAG001", 0.2, 0.1, 0.2, family="eager", saves_s=(1.0, 2.0))
    _, told = add_gains_after((first, second))
    assert told.once is not None and told.after is not None and told.after.saves_s == (1.0, 2.0)


def test_another_work_is_not_after_a_fix() -> None:
    first, second = costs("INP002", 0.65, 0.6, 0.7), costs("EAG001", 0.2, 0.1, 0.2, work="a.py:3", saves_s=(1.0, 2.0))
    assert add_gains_after((first, second))[1].after is None
