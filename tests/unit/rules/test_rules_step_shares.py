"""The shares of a step that lines take, by the account and the samples."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from evidence_builder import FILE, make_evidence, make_samples
from tfperfkit_rules.measures.step_shares import interval, line_shares, share_of

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

LOAD, CALL = [Frame(FILE, 1, "f", 2)], [Frame(FILE, 1, "f", 3)]


def make_step(parts_ms: Mapping[str, float] | None, **samples: int) -> Evidence:
    """Samples of Python at line 2, of all else at line 3."""
    stacks = [(count, word, LOAD if word == "python" else CALL) for word, count in samples.items()]
    return make_evidence(parts_ms=parts_ms, samples=make_samples(stacks))


def test_samples_divide_the_parts_of_the_account() -> None:
    evidence = make_step({"python": 6.0, "graph": 4.0}, python=40, graph=60)
    assert share_of(evidence, {"python": 20}) == pytest.approx(0.3)
    assert share_of(evidence, {"python": 20, "graph": 30}) == pytest.approx(0.5)
    assert [(row.place[1], row.samples, row.share) for row in line_shares(evidence, ("python",))] == [
        (2, 40, pytest.approx(0.6))
    ]


def test_without_parts_the_samples_tell() -> None:
    assert share_of(make_step(None, python=40, graph=60), {"python": 40}) == pytest.approx(0.4)


def test_what_the_account_does_not_know_counts_as_sampled() -> None:
    assert share_of(make_step({"graph": 10.0}, waiting=25, graph=75), {"waiting": 25}) == pytest.approx(0.25)


def test_handing_operations_out_and_running_them_are_one() -> None:
    """Sample the operation, which releases the interpreter's lock, and not the Python around it."""
    evidence = make_step({"dispatch": 6.0, "eager_ops": 4.0}, dispatch=10, eager_ops=90)
    assert share_of(evidence, {"dispatch": 5}) == share_of(evidence, {"eager_ops": 5}) == pytest.approx(0.05)


def test_a_part_counts_for_twice_its_samples_at_most() -> None:
    evidence = make_step({"python": 9.0, "graph": 1.0}, python=20, graph=80)
    assert share_of(evidence, {"python": 20}) == pytest.approx(0.4)
    lower, upper = interval(evidence, {"python": 20})
    assert lower < (0.2 + 0.9) / 2 and upper > 0.9


def test_garbage_collections_count_where_they_interrupt() -> None:
    evidence = make_step({"python": 0.5, "gc": 9.5}, python=100)
    assert share_of(evidence, {"python": 100}) == pytest.approx(1.0)
    both = make_step({"python": 4.0, "dispatch": 4.0, "gc": 2.0}, python=50, dispatch=50)
    assert share_of(both, {"python": 50}) == pytest.approx(0.5)
