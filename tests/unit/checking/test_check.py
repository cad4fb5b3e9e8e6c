"""The budget, its bounds, three outcomes, and the texts about them."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import msgspec
import pytest
from side_builder import FILE, FOLDER, make_finding, make_side

from tfperfkit.checking import rounds
from tfperfkit.checking.budget import Budget, parse, read_budget
from tfperfkit.checking.command import seconds
from tfperfkit.checking.counts import Run, judge
from tfperfkit.checking.render import annotated, junit, lines_of, markdown
from tfperfkit.checking.result import Checked, Measure, overall
from tfperfkit.checking.runner import Command
from tfperfkit.checking.timed import Pace, Timed
from tfperfkit.errors import UsageError
from tfperfkit.model import SourceSpan
from tfperfkit.offers import HostRead, HostReads, MemoryUse, RanOperation, RanOperations, TraceCount, TraceCounts
from tfperfkit.report.sarif import sarif
from tfperfkit.report.terminal import Screen


def made_run(*offers: Any, **fields: Any) -> Run:
    side = make_side("a", [40.0] * 50, offers=offers, **fields)
    assert side.evidence is not None
    return Run(side.report, side.evidence)


def traces(retraces: int, owner: str = "user") -> TraceCounts:
    row = TraceCount(function="step", file=FILE, line=7, owner=owner, traces=retraces + 1, retraces=retraces, ms=9.0)
    return TraceCounts(functions=(row,))


def test_a_budget_is_read_from_the_nearest_pyproject(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    text = '[tool.tfperf.budget]\nretraces = 0\ninput_share = 0.2\nfindings = ["RET*"]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    budget, file = read_budget(tmp_path / "below")
    assert budget.limits == {"retraces": 0, "input_share": 0.2} and budget.findings == ("RET*",)
    assert file == tmp_path / "pyproject.toml" and not budget.is_empty
    assert Budget(slowdown=0.1).is_empty


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"retrace": 0}, "has no 'retrace'; known are retraces,"),
        ({"retraces": -1}, "takes a number from 0 on"),
        ({"retraces": True}, "takes a number from 0 on"),
        ({"graph_ops": "80"}, "takes a number from 0 on, not '80'"),
        ({"graph_ops": float("nan")}, "takes a number from 0 on"),
        ({"input_share": 20}, "a share from 0 to 1"),
        ({"findings": "RET*"}, "takes a list of codes"),
        ({"findings": [1]}, "takes a list of codes"),
    ],
)
def test_what_is_no_budget_is_said_in_one_line(table: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(table, "pyproject.toml")
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_counts_gate_by_themselves_and_name_their_places() -> None:
    ran = RanOperations(steps=10, rows=(RanOperation(name="Mul", type="Mul", count=30, self_ms=1, where="eager"),))
    reads = HostReads(rows=(HostRead(file=FILE, line=9, per_step=1.0),))
    budget = Budget(retraces=2, eager_ops_per_step=3, host_syncs_per_step=0, graph_ops=5)
    measures = judge(made_run(traces(4), ran, reads), budget)
    assert [(each.name, each.value, each.outcome) for each in measures] == [
        ("retraces", 4, "fail"),
        ("eager_ops_per_step", 3, "pass"),
        ("host_syncs_per_step", 1, "fail"),
        ("graph_ops", None, "undecided"),
    ]
    assert [each.where[:1] for each in measures] == [
        (SourceSpan(FILE, 7, "step"),),
        (),
        (SourceSpan(FILE, 9),),
        (),
    ]
    assert "not measured in this run" in measures[3].says
    assert overall(tuple(measures)) == "fail"
    assert overall((measures[1], measures[3])) == "undecided" and overall((measures[1],)) == "pass"


def test_retraces_of_tensorflow_itself_are_nobodys_fault() -> None:
    assert judge(made_run(traces(4, "tensorflow")), Budget(retraces=0))[0].outcome == "pass"


def test_shares_and_memory() -> None:
    run = made_run(
        MemoryUse(peak_bytes=10**9, growth_bytes_per_step=2e6),
        parts_ms={"input": 10.0, "graph": 30.0},
        machine={"peak_rss_bytes": 2 * 10**9},
    )
    budget = Budget(input_share=0.2, peak_memory_mb=1500, memory_growth_mb_per_step=2)
    assert [(each.value, each.outcome) for each in judge(run, budget)] == [
        (0.25, "fail"),
        (2000, "fail"),
        (2.0, "pass"),
    ]


def test_no_finding_before_the_first_step_decides_nothing() -> None:
    """Interrupted while it still imported or loaded: a pass would be of nothing."""
    side = make_side("a", [])
    assert side.evidence is not None
    run = Run(side.report, side.evidence)
    (measure,) = judge(run, Budget(findings=("INP006",)), interrupted=True)
    assert measure.outcome == "undecided" and "nothing was trained" in measure.says
    assert judge(run, Budget(findings=("INP006",)))[0].outcome == "pass"  # it ran to its end
    trained = made_run(findings=[make_finding("INP001", 4)])
    assert judge(trained, Budget(findings=("INP006",)), interrupted=True)[0].outcome == "pass"
    assert judge(trained, Budget(findings=("INP001",)), interrupted=True)[0].outcome == "fail"


def test_findings_by_pattern() -> None:
    run = made_run(findings=[make_finding("RET002", 3), make_finding("INP001", 4)])
    first, second = judge(run, Budget(findings=("RET*", "EAG001")))
    assert (first.outcome, first.where) == ("fail", (SourceSpan(FILE, 3, "main"),))
    assert "RET002: A function is traced again" in first.says
    assert second.outcome == "pass"


def test_a_remark_counts_where_its_code_is_written_out() -> None:
    remark = msgspec.structs.replace(make_finding("INP013", 4), severity="info")
    by_family, by_code = judge(made_run(findings=[remark]), Budget(findings=("INP*", "INP013")))
    assert (by_family.outcome, by_code.outcome) == ("pass", "fail")


class Machine:
    """Stands for the runs: a step time by revision, times what the machine does in that pair."""

    def __init__(self, slower: float, noise: float, seed: int = 1) -> None:
        self.random, self.slower, self.noise, self.calls = random.Random(seed), slower, noise, []  # type: ignore[var-annotated]

    def __call__(self, command: Command, folder: Path, which: str) -> Pace:
        self.calls.append(which)
        return Pace(40.0 * (self.slower if which == "head" else 1.0) * (1 + self.random.gauss(0, self.noise)))


def timed(machine: Machine, monkeypatch: pytest.MonkeyPatch, until_s: float = 1e12) -> Timed:
    monkeypatch.setattr(rounds, "_pace", machine)
    command = Command(("train.py",), Path("."))
    return rounds.measure_time(command, command, Path("."), 0.05, until_s, lambda text: None)


def test_a_slower_step_fails_and_the_same_step_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(1.2, 0.01)
    slower = timed(machine, monkeypatch)
    assert slower.outcome == "fail" and slower.rounds >= rounds.MIN_ROUNDS
    assert sorted(machine.calls[:2]) == ["base", "head"]
    assert "slower: a step takes" in slower.measure().says and slower.measure().outcome == "fail"
    assert timed(Machine(1.0, 0.01), monkeypatch).outcome == "pass"
    assert timed(Machine(0.5, 0.01), monkeypatch).outcome == "pass"


def test_what_is_undecided_runs_more_pairs_and_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = timed(Machine(1.04, 0.05), monkeypatch)
    assert noisy.rounds > rounds.MIN_ROUNDS
    late = timed(Machine(1.04, 0.3), monkeypatch, until_s=0.0)
    assert (late.rounds, late.outcome) == (rounds.MIN_ROUNDS, "undecided")
    assert "can detect differences of" in late.measure().says


def test_a_commit_that_changes_nothing_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = [timed(Machine(1.0, 0.02, seed), monkeypatch).outcome for seed in range(60)]
    assert outcomes.count("fail") <= 3 and outcomes.count("pass") >= 55


CHECKED = Checked(
    outcome="fail",
    script="train.py --x '<b>'",
    measures=(
        Measure(
            name="retraces", title="retraces in the run", limit=0, value=4, unit="count", outcome="fail",
            says="retraces in the run: 4, the budget is 0", where=(SourceSpan(FILE, 7, "step"),),
        ),
        Measure(
            name="graph_ops", title="operations", limit=5, value=None, unit="count", outcome="undecided",
            says="n\x00",
        ),
        Measure(name="input_share", title="input", limit=0.2, value=0.1, unit="share", outcome="pass", says="input"),
    ),
    findings=(make_finding("RET002", 7), make_finding("INP001", 4)),
    run="last",
)  # fmt: skip


@pytest.mark.parametrize("width", [40, 80, 140])
def test_for_people(width: int) -> None:
    lines = lines_of(CHECKED, Screen(width=width, folder=FOLDER))
    assert all(line.cell_len <= width for line in lines)
    text = " ".join(" ".join(line.plain for line in lines).split())
    for words in ("FAIL retraces in the run: 4", "at train.py:7 (step)", "undecided", "The budget is not kept."):
        assert words in text


def test_junit_is_xml_with_a_test_for_each_bound() -> None:
    root = ElementTree.fromstring(junit(CHECKED).encode())
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    failed, skipped, passed = suite
    assert failed[0].tag == "failure" and failed.get("line") == "7" and skipped[0].tag == "skipped" and not len(passed)


def test_markdown_and_annotations() -> None:
    text = markdown(CHECKED, FOLDER)
    assert "| FAIL | retraces in the run | 4 | 0 | `train.py:7` |" in text and "| undecided |" in text
    made = annotated(CHECKED)
    # The finding at the failing place is said once, by the budget; the other as it is.
    assert [(each.code, each.level) for each in made] == [
        ("budget/retraces", "error"),
        ("budget/graph_ops", "warning"),
        ("INP001", "warning"),
    ]
    result = json.loads(sarif(made, FOLDER))["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}


@pytest.mark.parametrize(("text", "value"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200)])
def test_times(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "m", "-1", "nan", "1e99", "five"])
def test_no_times(text: str) -> None:
    with pytest.raises(UsageError):
        seconds(text)
