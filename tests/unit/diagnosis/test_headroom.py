"""Headroom stands where nothing else asks for a change, the most first, and then has the first line."""

from __future__ import annotations

from typing import Any

from computed_builder import spread_out
from concluded import headline
from evidence_builder import make_evidence

from tfperfkit.diagnosis.headroom import large, split
from tfperfkit.gain import AtLeast, Gain, Range, Unknown
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.records.conclusion import NO_FAULT


def room(code: str, gain: Gain | float, **fields: Any) -> Finding:
    given: dict[str, Any] = {"family": "batch", "severity": "info", "headroom": True, **fields}
    return Finding(
        code=code,
        title=f"Choice {code}",
        share_of_step=0.5,
        gain=Range(gain, gain, gain) if isinstance(gain, float) else gain,
        where=(SourceSpan("train.py", 7),),
        evidence=(Measurement("step", 1.0, "ms", "baseline"),),
        advice="Try it.",
        **given,
    )


def test_the_largest_comes_first_and_remarks_stay_findings() -> None:
    remark = room("OPS006", Unknown(), headroom=False)
    faults, found = split((room("A", 1.3), remark, room("B", 2.0), room("C", AtLeast(1.6))))
    assert faults == (remark,)
    assert [item.code for item in found] == ["B", "C", "A"]


def test_a_finding_that_asks_for_a_change_comes_before_all_of_it() -> None:
    fault = room("INP001", 1.2, headroom=False, severity="high")
    assert split((room("A", 3.0), fault)) == ((fault,), ())


def test_a_small_finding_hides_nothing() -> None:
    small = room("INP012", 1.03, headroom=False, severity="low")
    faults, found = split((room("A", 3.0), small))
    assert faults == (small,) and [item.code for item in found] == ["A"]
    said = headline(faults, make_evidence(parts_ms={"graph": 9.0, "python": 1.0}, offers=spread_out()), (), found)
    assert said.startswith("No cause found, but room: Choice A") and "Small, some 3 % of a step" in said


def test_a_finding_of_other_work_hides_nothing_that_saves_more_of_the_run() -> None:
    choice = room("BAT001", 3.0, share_of_run=0.45)  # two thirds of nine tenths of the run
    outside = room("STP002", 1.8, headroom=False, severity="high", work="line 30", share_of_run=0.03, basis="turn")
    faults, found = split((choice, outside))
    assert [item.code for item in found] == ["BAT001"]
    said = headline(faults, make_evidence(parts_ms={"graph": 9.0, "python": 1.0}, offers=spread_out()), (), found)
    assert said.startswith("No cause found in the steps, but room: Choice BAT001")
    assert "Less of the run: Choice STP002" in said
    long = room("STP002", 1.8, headroom=False, severity="high", work="line 30", share_of_run=0.5)
    assert split((room("BAT001", 3.0, share_of_run=0.05), long)) == ((long,), ())
    of_steps = room("INP001", 1.2, headroom=False, severity="high", share_of_run=0.4)
    assert split((choice, of_steps)) == ((of_steps,), ())


def test_what_may_gain_nothing_hides_no_choice_that_surely_gives_more() -> None:
    choice = room("BAT002", AtLeast(2.2))
    tried = room("CMP002", Range(1.0, 1.2, 1.5), headroom=False, severity="medium")
    faults, found = split((choice, tried))
    assert [item.code for item in found] == ["BAT002"]
    said = headline(faults, make_evidence(parts_ms={"graph": 9.0, "python": 1.0}, offers=spread_out()), (), found)
    assert said.startswith("No cause found, but room: Choice BAT002") and "To be tried: Choice CMP002" in said
    for bounds in ((1.2, 1.5), (1.0, 3.0)):  # it surely gains something, or may gain more
        other = room("CMP002", Range(bounds[0], 1.3, bounds[1]), headroom=False, severity="medium")
        assert split((choice, other)) == ((other,), ())


def test_the_first_line_has_it_when_it_is_large() -> None:
    evidence = make_evidence(parts_ms={"graph": 9.0, "python": 1.0}, offers=spread_out())
    assert headline((), evidence, (), (room("A", 2.0), room("B", 1.4))).startswith("No cause found, but room: ")
    assert "Also: " in headline((), evidence, (), (room("A", 2.0), room("B", 1.4)))
    assert not large((room("A", 1.15),))
    assert "computing" in headline((), evidence, (), (room("A", 1.15),))


def test_nothing_to_fix_is_not_said_beside_large_headroom() -> None:
    evidence = make_evidence(parts_ms={"graph": 9.5, "python": 0.5})
    assert NO_FAULT not in headline((), evidence, (), (room("A", AtLeast(1.5)),))


def test_every_form_of_the_report_shows_it() -> None:
    import io

    from tfperfkit.model import Overhead, Report, RunInfo, StepSummary
    from tfperfkit.report.agents import agents
    from tfperfkit.report.console import render
    from tfperfkit.report.markdown import report_markdown

    report = Report(
        schema=1,
        run=RunInfo(argv=("train.py",), exit_code=0, status="finished", versions={"tensorflow": "2.21.0"}),
        probes=(),
        steps=StepSummary(count=10, source="keras"),
        findings=(),
        overhead=Overhead(),
        headline="No cause found, but room.",
        headroom=(room("BAT002", AtLeast(1.5)), room("STP009", Range(1.2, 1.4, 1.7))),
    )
    console = io.StringIO()
    render(report, file=console, width=80, color=False, full=True)
    text = console.getvalue()
    assert "headroom" in text and "at least 1.5x the examples a second" in text and "(1.2x to 1.7x)" in text
    for form in (text, report_markdown(report), agents(report)):
        assert "BAT002" in form and "STP009" in form
