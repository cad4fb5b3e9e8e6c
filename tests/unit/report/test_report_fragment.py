"""A notebook's cell shows the verdict of the console: what to fix first, or why nothing comes first."""

from __future__ import annotations

import msgspec
from test_report_console import HEALTHY
from test_report_records import NAIVE_GAN

from tfperfkit.model import CallTime, SourceSpan
from tfperfkit.records.conclusion import Conclusion
from tfperfkit.report.html.fragment import fragment
from tfperfkit.report.html.render import page

CALLS = (CallTime(where=SourceSpan("a.py", 24), call="model.export", seconds=7.0, share_of_run=0.26, times=25),)
UNKNOWN = Conclusion(verdict="No cause found", why="60 % of the run is loading and saving")


def test_a_cell_begins_with_the_first_finding_once() -> None:
    made = fragment(NAIVE_GAN)
    first = NAIVE_GAN.findings[0]
    assert f"Fix first: {first.title}" in made and made.count(first.title) == 1
    assert "<b>Change:</b>" in made and "<b>predicted: " in made
    assert all(finding.title in made for finding in NAIVE_GAN.findings[1:2])


def test_a_cell_without_a_first_finding_gives_the_reasons() -> None:
    made = fragment(msgspec.structs.replace(HEALTHY, conclusion=UNKNOWN, calls=CALLS))
    assert "<b>No cause found</b>" in made and "60 % of the run is loading and saving" in made
    assert "Fix first" not in made


def test_the_page_and_the_cell_list_the_costliest_calls_without_a_cause() -> None:
    report = msgspec.structs.replace(HEALTHY, conclusion=UNKNOWN, calls=CALLS)
    listed = "costliest without a known cause: 7.0 s  a.py:24  model.export, 25+ calls"
    assert f"<dt>calls</dt><dd>{listed}</dd>" in page(report) and listed in fragment(report)
    owned = msgspec.structs.replace(report, calls=(msgspec.structs.replace(CALLS[0], findings=("INP001",)),))
    assert "costliest without" not in page(owned)
