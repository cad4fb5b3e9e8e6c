"""One rule says how loud a finding is."""

from __future__ import annotations

import msgspec
import pytest
from finding_builder import finding

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.diagnosis.severity import Saved, find_saved_of_run, rate
from tfperfkit.gain import Range, Unknown, UpTo
from tfperfkit.model import Basis


@pytest.mark.parametrize(
    ("least", "likely", "severity"),
    [
        (0.2, 0.3, "high"),
        (0.05, 0.2, "high"),
        (0.049, 0.5, "medium"),
        (0.05, 0.19, "medium"),
        (0.02, 0.05, "medium"),
        (0.0, 0.5, "low"),
        (0.01, 0.02, "low"),
        (0.01, 0.019, "info"),
    ],
)
def test_a_level_asks_for_a_likely_saving_and_for_a_lower_end(least: float, likely: float, severity: str) -> None:
    assert rate(Saved(least, likely)) == severity


def test_the_printed_seconds_count() -> None:
    """If half of a run is paid once, 10 to 30 % of it are 20 to 60 % of the rest."""
    item = finding("A", 0.4, gain=Range(1 / 0.8, 1 / 0.5, 1 / 0.4), saves_share=(0.1, 0.3))
    saved = find_saved_of_run(item, 0.5)
    assert saved is not None and saved.least == pytest.approx(0.2)
    assert saved.likely == pytest.approx(0.2 + 0.75 * 0.4), "the likely factor says where between the ends"
    assert rank([item], {("", "step"): 0.9}, 0.5)[0].severity == "high"
    little = msgspec.structs.replace(item, saves_share=(0.01, 0.3))
    assert rank([little], {("", "step"): 0.9}, 0.5)[0].severity == "medium"


def test_of_a_run_that_was_cut_short_a_training_of_full_length_counts() -> None:
    item = finding("A", 0.3, gain=Range(1 / 0.8, 1 / 0.7, 1 / 0.6), saves_share=(0.01, 0.02))
    shares: dict[tuple[str, Basis], float] = {("", "step"): 1.0}
    assert rank([item], shares, 0.5)[0].severity == "low"
    assert rank([item], shares, 0.5, cut_short=True)[0].severity == "high"


def test_without_a_prediction_nothing_is_loud() -> None:
    every = [
        finding("A", None, gain=UpTo(10.0), severity="high"),
        finding("B", None, gain=Unknown(), severity="high", basis="run", share_of_step=0.5),
        finding("C", None, gain=Unknown(), severity="high"),
        finding("D", None, gain=Unknown(), severity="high", basis="risk"),
        finding("E", 0.5, severity="info"),
    ]
    assert {item.code: item.severity for item in rank(every)} == {
        "A": "low",
        "B": "low",
        "C": "info",
        "D": "high",
        "E": "info",
    }
