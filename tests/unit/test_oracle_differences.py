"""The differences that ``python -m benchmarks.oracle compare`` finds between two reports of a run."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from benchmarks.oracle_differences import compare, lines

INPUT = {
    "code": "INP003",
    "title": "map(load) prepares one element at a time",
    "severity": "high",
    "where": [{"file": "/here/train.py", "line": 36, "function": "load"}],
    "predicted_range": [1.2, 1.6],
    "share_of_step": 0.5,
    "evidence": [{"name": "waiting for input", "value": 0.5}],
}
EAGER = {**INPUT, "code": "EAG001", "title": "The step runs eagerly", "where": []}
REPORT = {
    "headline": "First: map(load) prepares one element at a time.",
    "findings": [INPUT, EAGER],
    "headroom": [],
    "probes": [{"name": "ops", "data": {"total_ms": 12.0}, "tables": [{"rows": [[1, 2], [3, 4]]}]}],
    "steps": {"median_ms": 30.0},
}


def changed(**fields: Any) -> dict[str, Any]:
    """The report with other fields, nothing of it shared with ``REPORT``."""
    return copy.deepcopy({**REPORT, **fields})


def told(after: dict[str, Any], *only: str) -> list[str]:
    """The differences to ``REPORT`` in run "a", as "kind: what"."""
    return [f"{each.kind}: {each.told}" for each in compare({"a": REPORT}, {"a": after}, only).differences]


def test_same_reports() -> None:
    found = compare({"a": REPORT, "b": REPORT}, {"a": changed(), "b": changed()})
    assert found.differences == ()
    assert lines(found) == ["no differences in 2 runs"]


def test_a_finding_that_is_added_or_removed_shifts_no_rank() -> None:
    other = {**INPUT, "code": "GRF001"}
    after = changed(findings=[other, EAGER])
    assert told(after) == [
        "added: GRF001 train.py:36 severity high, predicted_range [1.2, 1.6], share_of_step 0.5",
        "removed: INP003 train.py:36 severity high, predicted_range [1.2, 1.6], share_of_step 0.5",
    ]


def test_a_finding_at_another_place_is_moved() -> None:
    after = changed(findings=[{**INPUT, "where": [{**INPUT["where"][0], "line": 40}]}, EAGER])
    assert told(after) == ["moved: INP003 train.py:36 → INP003 train.py:40"]


def test_a_finding_that_becomes_headroom_is_moved() -> None:
    assert told(changed(findings=[INPUT], headroom=[EAGER])) == ["moved: EAG001 no place → EAG001 no place (headroom)"]


def test_a_second_place_that_changes_is_moved() -> None:
    where = [*INPUT["where"], {**INPUT["where"][0], "line": 50}]
    assert [each.partition(":")[0] for each in told(changed(findings=[{**INPUT, "where": where}, EAGER]))] == ["moved"]


def test_rank() -> None:
    assert told(changed(findings=[EAGER, INPUT])) == [
        "rank: INP003 train.py:36: 1 → 2 of those in both",
        "rank: EAG001 no place: 2 → 1 of those in both",
    ]


def test_figures_severity_and_wording() -> None:
    other = {**INPUT, "severity": "low", "predicted_range": [1.2, 1.7], "title": "map(load) is slow"}
    other["evidence"] = [{"name": "waiting for input", "value": 0.25}]
    assert told(changed(findings=[other, EAGER])) == [
        "wording: map(load) prepares one element at a time → map(load) is slow",
        "severity: INP003 train.py:36: severity: high → low",
        "figure: INP003 train.py:36: predicted_range[1]: 1.6 → 1.7",
        "figure: INP003 train.py:36: evidence[0].value: 0.5 → 0.25",
    ]


def test_two_findings_of_a_code_at_a_place_keep_their_titles() -> None:
    twin = {**INPUT, "title": "map(crop) prepares one element at a time", "share_of_step": 0.1}
    before, after = changed(findings=[INPUT, twin]), changed(findings=[twin, INPUT])
    assert [each.kind for each in compare({"a": before}, {"a": after}).differences] == ["rank", "rank"]


def test_a_number_that_differs_by_rounding_is_the_same() -> None:
    assert told(changed(steps={"median_ms": 30.0 * (1 + 1e-12)})) == []
    assert told(changed(steps={"median_ms": 30.0 * (1 + 1e-6)})) == ["data: steps.median_ms: 30 → 30"]


def test_data_is_counted_by_path_without_positions() -> None:
    probe = {"name": "ops", "data": {"total_ms": 12.0}, "tables": [{"rows": [[1, 9], [3, 8]]}]}
    found = compare({"a": REPORT}, {"a": changed(probes=[probe])})
    assert lines(found) == [
        "data (2)",
        "  probes.ops.tables[*].rows[*][*]: 2 in a: probes.ops.tables[0].rows[0][1]: 2 → 9",
        "",
        "2 differences in 1 of 1 runs: 2 data",
    ]
    assert len(lines(found, full=True)) == 5


def test_headline_is_a_kind_of_its_own() -> None:
    assert told(changed(headline="Nothing to fix.")) == [
        "headline: First: map(load) prepares one element at a time. → Nothing to fix."
    ]


def test_a_report_that_fails() -> None:
    assert told({"failed": "Traceback\n  line\nKeyError: 'x'\n"}) == ["failed: KeyError: 'x'"]
    assert compare({"a": {"failed": "x"}}, {"a": {"failed": "x"}}).differences == ()


def test_runs_that_one_folder_has_alone_are_named_and_are_no_difference() -> None:
    found = compare({"a": REPORT, "b": REPORT}, {"a": REPORT})
    assert (found.runs, found.alone, found.differences) == (1, ("b",), ())


def test_only_some_kinds_count() -> None:
    assert told(changed(headline="Nothing to fix.", findings=[EAGER, INPUT]), "headline", "severity") == [
        "headline: First: map(load) prepares one element at a time. → Nothing to fix."
    ]
    with pytest.raises(ValueError, match="no such kind: titles"):
        compare({}, {}, ["titles"])
