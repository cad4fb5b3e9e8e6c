"""Claims about graphs hold when the graphs run: no generated program refutes one."""

from __future__ import annotations

import os

import pytest
from graph_claims import check_claims
from late_tensorflow import needs_tensorflow

from tfperfkit.graph import rows
from tfperfkit.graph.flow import SameAnalysis

pytestmark = needs_tensorflow
#: Programs of one test, and tests.
EACH, TESTS = (250, 40) if os.environ.get("TFPERF_LONG") else (20, 10)


@pytest.mark.parametrize("number", range(TESTS))
def test_no_claim_is_refuted(number: int) -> None:
    programs, found = check_claims(range(number * EACH, (number + 1) * EACH))
    assert programs > EACH / 2
    assert [words for checked in found.values() for words in checked.refuted] == []
    for kind, checked in found.items():
        assert checked.made, kind
        assert checked.found >= 0.7 * checked.true, f"{kind}: most of what is true is found"


def test_no_claim_is_refuted_by_a_shuffle_that_changes_nothing_twice() -> None:
    """So it seemed that a result had changed with elements that are not used."""
    programs, found = check_claims([100_275])
    assert programs == 1 and found["not used"].made and not found["not used"].refuted


def test_a_list_is_no_scalar() -> None:
    """A loop adds rows to a list whose first element differs from row to row by itself."""
    programs, found = check_claims([3_003_194])
    assert programs == 1 and not found["a row of one row"].refuted


def test_a_program_may_run_out_of_axes() -> None:
    assert check_claims([100_613])[0] == 1


def test_a_wrong_rule_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: running sums are said to keep the rows apart, and noise is said to stay the same."""
    monkeypatch.setitem(rows._RULES, "scanned", lambda taken: taken.first)
    monkeypatch.setattr(SameAnalysis, "operation", lambda self, view, node, inputs: (all(inputs),))
    _, found = check_claims(range(30))
    assert found["a row of one row"].refuted and found["the same in every call"].refuted
