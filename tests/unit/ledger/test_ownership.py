"""A finding about traces owns the first runs of new traces if its gain counts them."""

from __future__ import annotations

import pytest
from finding_builder import finding

from tfperfkit import gain
from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.ledger.ownership import find_owned
from tfperfkit.model import SourceSpan
from tfperfkit.records.parts import Activity
from tfperfkit.records.samples import Frame, Stack
from tfperfkit.remedy import CallDirectly, KeepTrace, Remedy

FILE = "train.py"


def entry(line: int, activity: Activity, seconds: float) -> Entry:
    return Entry(Stack((Frame(FILE, 1, "<module>", line),), "tensorflow", activity), "training", seconds)


LEDGER = Ledger([entry(5, "tracing", 3.0), entry(5, "graph", 2.0), entry(6, "graph", 4.0)], {"imports": 1.0})
BOTH_ENDS, LOWER_END = gain.Range(low=1.5, likely=2.0, high=3.0), gain.AtLeast(low=1.5)


@pytest.mark.parametrize(
    ("claim", "gained", "remedy", "owned"),
    [
        (4.5, BOTH_ENDS, KeepTrace("number"), 5.0),
        (2.9, BOTH_ENDS, KeepTrace("number"), 3.0),
        (4.5, LOWER_END, KeepTrace("number"), 3.0),
        (4.5, BOTH_ENDS, CallDirectly("predict"), 3.0),
    ],
    ids=["first runs", "tracing alone", "a lower end counts tracing alone", "calls made directly compute the same"],
)
def test_first_runs_are_owned_only_if_the_gain_counts_them(
    claim: float, gained: gain.Gain, remedy: Remedy, owned: float
) -> None:
    item = finding("RET001", where=(SourceSpan(FILE, 5),), remedy=remedy, gain=gained, family="retrace")
    assert LEDGER.add_up(find_owned(item, LEDGER, frozenset(range(3)), claim)) == owned
