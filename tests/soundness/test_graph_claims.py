"""Claims about graphs hold when the graphs run: no generated program refutes one."""

from __future__ import annotations

import os

import pytest
from graph_claims import ROWS, SAME, USED, check_claims
from late_tensorflow import needs_tensorflow

from tfperfkit.graph import rows
from tfperfkit.graph.flow import SameAnalysis

pytestmark = needs_tensorflow
#: Programs of one test, and tests.
EACH, TESTS = (250, 40) if os.environ.get("TFPERF_LONG") else (20, 2)


@pytest.mark.parametrize("number", range(TESTS))
def test_no_claim_is_refuted(number: int) -> None:
    tally = check_claims(range(number * EACH, (number + 1) * EACH))
    assert tally.programs > EACH / 2
    assert tally.examples == []
    for kind in (SAME, ROWS, USED):
        assert tally.claims[kind], kind
        assert tally.share(kind) >= 0.7, f"{kind}: most of what is true is found"


def test_no_claim_is_refuted_by_a_shuffle_that_changes_nothing_twice() -> None:
    """So it seemed that a result had changed with elements that are not used."""
    tally = check_claims([100_275])
    assert tally.programs == 1 and tally.claims[USED] and not tally.refuted[USED]


def test_a_list_is_no_scalar() -> None:
    """Add rows to a list whose first element differs from row to row by itself."""
    tally = check_claims([3_003_194])
    assert tally.programs == 1 and not tally.refuted[ROWS]


def test_a_program_may_run_out_of_axes() -> None:
    assert check_claims([100_613]).programs == 1


def test_a_wrong_rule_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: running sums are said to keep the rows apart, and noise is said to stay the same."""
    monkeypatch.setitem(rows._RULES, "scanned", lambda taken: taken.first)
    monkeypatch.setattr(SameAnalysis, "operation", lambda self, view, node, inputs: (all(inputs),))
    tally = check_claims(range(30))
    assert tally.refuted[ROWS] and tally.refuted[SAME]
