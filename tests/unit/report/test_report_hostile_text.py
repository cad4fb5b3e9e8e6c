"""A script's own text in the report on the screen: it does nothing."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from test_report_console import rendered
from test_report_records import HELLO, RETRACE

from tfperfkit.gain import AtLeast, Range, Unknown, UpTo
from tfperfkit.model import (
    Finding,
    Measurement,
    Overhead,
    ProbeOutcome,
    Report,
    RunInfo,
    SourceSpan,
    StepSummary,
    Table,
    WindowSummary,
)
from tfperfkit.report.console import render

HOSTILE = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    [
        "[bold red]x[/bold red]",
        "[/]",
        "[link=file:///x]y[/link]",
        ":smile:",
        "\x1b]0;title\x07",
        "\x1b[2J\x9b1m",
        "a\nb\r\nc",
        "\u202egnp.exe\u2066",
        "\udc80\ud800",
        "x" * 100_000,
        "long words " * 2_000,
        "模型" * 200,
        "\t\t",
        "",
    ]
)

NUMBERS = st.floats() | st.integers(-(2**70), 2**70)
FLOATS = st.none() | st.floats()
GAINS = (
    st.builds(Range, st.floats(), st.floats(), st.floats())
    | st.builds(AtLeast, st.floats())
    | st.builds(UpTo, st.floats())
    | st.builds(Unknown)
)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    finding = Finding(
        code=draw(HOSTILE),
        family="input",
        title=draw(HOSTILE),
        severity="high",
        share_of_step=draw(st.floats()),
        gain=draw(GAINS),
        where=(SourceSpan(draw(HOSTILE), draw(st.integers()), draw(HOSTILE)),),
        evidence=(Measurement(draw(HOSTILE), draw(NUMBERS), draw(HOSTILE), draw(HOSTILE)),),
        advice=draw(HOSTILE),
        detail=draw(HOSTILE),
    )
    probe = ProbeOutcome(
        name=draw(HOSTILE),
        status=draw(st.sampled_from(["ok", "failed", "skipped", "cut"])),
        reason=draw(st.none() | HOSTILE),
        summary=draw(HOSTILE),
        notes=(draw(HOSTILE),),
        tables=(Table(title=draw(HOSTILE), columns=HELLO.tables[0].columns, rows=((draw(HOSTILE), 1, 2.0),)),),
    )
    steps = StepSummary(
        count=draw(st.integers(0, 2**70)),
        source="custom",
        warmup=draw(st.integers(0, 9)),
        median_ms=draw(FLOATS),
        p90_ms=draw(FLOATS),
        examples_per_s=draw(FLOATS),
        definition=draw(HOSTILE),
        note=draw(HOSTILE),
        breakdown_ms=draw(st.none() | st.dictionaries(HOSTILE, st.floats(), max_size=6)),
        breakdown_window=draw(HOSTILE),
    )
    return Report(
        schema=1,
        run=RunInfo(
            argv=(draw(HOSTILE),),
            exit_code=draw(st.none() | st.integers()),
            status="killed",
            versions={draw(HOSTILE): draw(HOSTILE)},
            wall_s=draw(st.floats()),
            directory=draw(HOSTILE),
        ),
        probes=(probe, RETRACE),
        steps=steps,
        findings=(finding,),
        overhead=Overhead(baseline_ratio=draw(FLOATS), per_probe={draw(HOSTILE): draw(st.floats())}),
        windows=(WindowSummary(name=draw(HOSTILE), first_step=1, steps=2, status="cut", reason=draw(HOSTILE)),),
        headline=draw(HOSTILE),
        notes=(draw(HOSTILE),),
    )


@settings(max_examples=60, deadline=None)
@given(reports(), st.integers(40, 160), st.sampled_from(["utf-8", "ascii", "cp1252"]))
def test_hostile_text_does_nothing(report: Report, width: int, encoding: str) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict", newline="", write_through=True)
    render(report, file=file, width=width, color=False)
    text = file.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    for line in text.split("\n"):
        assert line.isprintable(), "no escape, control, direction or other invisible character"
        assert cell_len(line) <= width


@settings(max_examples=20, deadline=None)
@given(reports())
def test_hostile_text_does_nothing_in_colour(report: Report) -> None:
    import re

    text = re.sub(r"\x1b\[[\d;]*m", "", rendered(report, 100, True))
    assert all(line.isprintable() for line in text.split("\n"))
