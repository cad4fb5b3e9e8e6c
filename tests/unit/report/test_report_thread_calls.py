"""Calls on other threads are a table of the full console report and of the page."""

from __future__ import annotations

import io

import msgspec
from recorded_runs import study_recorded
from test_report_records import NAIVE_GAN

from tfperfkit.model import CallTime, SourceSpan
from tfperfkit.report.console import render
from tfperfkit.report.html.render import page
from tfperfkit.report.thread_calls import list_other_threads


def test_a_recorded_run_shows_the_call_its_thread_and_what_caused_it() -> None:
    report, _ = study_recorded("pydataset_noise")
    full, short = io.StringIO(), io.StringIO()
    render(report, file=full, width=140, color=False, full=True)
    render(report, file=short, width=140, color=False)
    (row,) = [line for line in full.getvalue().splitlines() if "np.random.normal" in line and "TensorFlow's" in line]
    assert "pydataset_noise.py:22" in row and "pydataset_noise.py:40" in row and "6.07" in row and "INP005" in row
    assert "Calls on other threads" not in short.getvalue()
    assert "Calls on other threads" in page(report) and "np.random.normal" in page(report)


def test_a_busy_background_thread_has_no_known_cause() -> None:
    poll = SourceSpan("/home/me/poll.py", 4, "watch")
    started = SourceSpan("/home/me/poll.py", 9, "start")
    call = CallTime(where=poll, call="", seconds=3.0, share_of_run=0.1, parts_s={"busy": 3.0}, callers=(started,))
    outcome = list_other_threads(msgspec.structs.replace(NAIVE_GAN, thread_calls=(call,)))
    assert outcome is not None
    (table,) = outcome.tables
    assert table.rows == (("watch", "/home/me/poll.py:4", "background", None, 3.0, None),)
    assert list_other_threads(NAIVE_GAN) is None
