"""Properties of every recorded run: all time has one place, and no finding owns more than its calls took."""

from __future__ import annotations

import re

import pytest
from recorded_runs import FAULTS, study_recorded

from tfperfkit.analysis.analyze import Report
from tfperfkit.ledger.ownership import find_owned
from tfperfkit.rule import Evidence

#: Shares of the steps are of their mean, which extrapolates to steps in windows; so they may claim a little more.
SPARE = 1.15
#: Samples of this run name no line for most of its steps: the thread of a replica that had ended was sampled.
_UNPLACED = "mirrored_without_graph"


@pytest.fixture(params=[name for name in FAULTS if name != _UNPLACED])
def studied(request: pytest.FixtureRequest) -> tuple[Report, Evidence]:
    return study_recorded(request.param)


def test_the_time_of_the_run_and_of_the_step_adds_up(studied: tuple[Report, Evidence]) -> None:
    _, evidence = studied
    account, ledger = evidence.run_account, evidence.run_ledger
    assert account is not None and ledger.total == pytest.approx(account.total_s)
    assert dict(ledger.sum_parts()) == pytest.approx(account.parts_s)
    for part, lines in account.lines.items():
        assert all(line.seconds <= ledger.inclusive(line.where.file, line.where.line) + 1e-6 for line in lines), part
    if evidence.ledger.total and evidence.account is not None:
        assert evidence.ledger.total == pytest.approx(evidence.account.mean_ms)


def test_owned_and_unowned_time_is_the_time_of_the_run(studied: tuple[Report, Evidence]) -> None:
    report, evidence = studied
    ledger = evidence.run_ledger
    every = frozenset(range(len(ledger.entries)))
    owned: frozenset[int] = frozenset()
    for finding in report.findings:
        owned |= find_owned(finding, ledger, every, (finding.share_of_run or 0.0) * ledger.total)
    rest = ledger.without(owned).total + sum(ledger.unplaced.values())
    assert ledger.add_up(owned) + rest == pytest.approx(ledger.total)


def test_no_finding_owns_more_than_its_calls_took(studied: tuple[Report, Evidence]) -> None:
    report, evidence = studied
    ledger = evidence.run_ledger
    every = frozenset(range(len(ledger.entries)))
    claimed = 0.0
    for finding in report.findings:
        if finding.severity == "info" or finding.basis == "risk" or finding.share_of_run is None:
            continue
        claim = finding.share_of_run * ledger.total
        owned = ledger.add_up(find_owned(finding, ledger, every, claim))
        assert claim <= SPARE * owned + 0.05 * ledger.total, (finding.code, claim, owned)
        assert finding.saves_s is None or finding.saves_s[0] <= ledger.total
        claimed += claim if not finding.elsewhere else 0.0
    assert claimed <= ledger.total


def test_the_first_line_says_what_the_findings_and_the_account_say(studied: tuple[Report, Evidence]) -> None:
    report, evidence = studied
    loud = [finding for finding in report.findings if finding.severity != "info"]
    if report.headline.startswith("First: "):
        assert loud and loud[0].title[1:] in report.headline
    for share, took, whole in re.findall(r"(\d+) % of the run \(([\d.]+) of ([\d.]+) s\)", report.headline):
        assert float(whole) == pytest.approx(evidence.run_ledger.total, abs=0.06)
        assert float(share) == pytest.approx(100 * float(took) / float(whole), abs=1.5)


def test_the_listed_calls_are_the_ledger_s(studied: tuple[Report, Evidence]) -> None:
    report, evidence = studied
    ledger = evidence.run_ledger
    codes = {finding.code for finding in report.findings}
    assert report.calls == tuple(sorted(report.calls, key=lambda call: -call.seconds))
    assert sum(call.seconds for call in report.calls) <= ledger.total
    for call in report.calls:
        assert 0.02 <= call.share_of_run == pytest.approx(call.seconds / ledger.total)
        assert call.seconds <= ledger.inclusive(call.where.file, call.where.line) + 1e-6
        assert sum(call.parts_s.values()) == pytest.approx(call.seconds)
        assert set(call.findings) <= codes and call.times >= 0


@pytest.mark.parametrize("name", ["ddpg_agent", "plain_loop_mlp", "river_temp"])
def test_the_memory_of_a_run_that_keeps_nothing_does_not_grow(name: str) -> None:
    (memory,) = [probe.data for probe in study_recorded(name)[0].probes if probe.name == "memory"]
    assert memory["growth_bytes_per_step"] is not None and not memory["growth_is_significant"]
    assert memory["steps_to_limit"] is None
