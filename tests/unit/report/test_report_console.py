"""The report on the screen, against gold files: ``TFPERF_UPDATE_GOLD=1 pytest tests/unit/test_report_console.py``."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from test_report_records import BRIEF, EAGER_FINDING, HELLO, NAIVE_GAN, NO_STEPS, RETRACE

from tfperfkit.model import (
    Basis,
    Finding,
    Measurement,
    Overhead,
    ProbeOutcome,
    Report,
    RunInfo,
    SourceSpan,
    StepAccount,
    StepSummary,
    Table,
    WindowSummary,
)
from tfperfkit.report.console import render

GOLD = Path(__file__).parents[2] / "gold"


def rendered(report: Report, width: int | None = 100, color: bool | None = False) -> str:
    file = io.StringIO()
    render(report, file=file, width=width, color=color)
    return file.getvalue()


def assert_gold(name: str, text: str) -> None:
    """Compares with a gold file, or writes it if TFPERF_UPDATE_GOLD is set."""
    path = GOLD / f"{name}.txt"
    if os.environ.get("TFPERF_UPDATE_GOLD"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


HEALTHY = msgspec.structs.replace(NAIVE_GAN, findings=(), probes=(HELLO,), notes=())


@pytest.mark.parametrize("width", [80, 100, 140])
def test_gold_naive_gan(width: int) -> None:
    assert_gold(f"report_naive_gan_{width}", rendered(NAIVE_GAN, width))


@pytest.mark.parametrize("width", [80, 140])
def test_gold_no_steps(width: int) -> None:
    assert_gold(f"report_no_steps_{width}", rendered(NO_STEPS, width))


@pytest.mark.parametrize("width", [80, 100, 140])
def test_gold_brief(width: int) -> None:
    assert_gold(f"report_brief_{width}", rendered(BRIEF, width))


def test_gold_nothing_to_fix() -> None:
    assert_gold("report_nothing_100", rendered(HEALTHY))


def test_gold_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict", write_through=True)
    render(NAIVE_GAN, file=file, width=100, color=False)
    assert_gold("report_naive_gan_ascii_100", file.buffer.getvalue().decode("ascii"))  # type: ignore[attr-defined]


@pytest.mark.parametrize("report", [NAIVE_GAN, NO_STEPS, HEALTHY])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 200])
def test_no_line_is_wider_than_asked(report: Report, width: int) -> None:
    for line in rendered(report, width).splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_words_of_findings_are_whole(width: int) -> None:
    text = "".join(rendered(NAIVE_GAN, width).split())
    for finding in NAIVE_GAN.findings:
        for words in (finding.title, finding.advice, finding.code, *finding.detail.splitlines()):
            assert "".join(words.split()) in text


def test_findings_come_before_the_probes_in_their_order() -> None:
    lines = rendered(NAIVE_GAN).splitlines()
    starts = [next(i for i, line in enumerate(lines) if f.title in line) for f in NAIVE_GAN.findings]
    assert starts == sorted(starts)
    assert starts[-1] < next(i for i, line in enumerate(lines) if line.startswith("── lines"))


@pytest.mark.parametrize(("places", "line"), [(6, ""), (7, "and 1 more place"), (8, "and 2 more places")])
def test_places_beyond_the_sixth_are_counted(places: int, line: str) -> None:
    where = tuple(SourceSpan("train.py", number) for number in range(1, places + 1))
    report = msgspec.structs.replace(NAIVE_GAN, findings=(msgspec.structs.replace(EAGER_FINDING, where=where),))
    found = [row.strip() for row in rendered(report).splitlines() if " more place" in row]
    assert found == ([line] if line else [])


def test_colour_changes_no_word() -> None:
    from rich.text import Text

    colored = rendered(NAIVE_GAN, color=True)
    assert "\x1b[" in colored
    assert "\x1b[38;" not in colored, "only the sixteen colours of the user's own theme"
    assert Text.from_ansi(colored).plain.splitlines() == rendered(NAIVE_GAN).splitlines()


def test_environment_decides_where_the_caller_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in rendered(NAIVE_GAN, None, None)
    assert "\x1b" not in rendered(NAIVE_GAN, None, False)
    monkeypatch.setenv("NO_COLOR", "1")
    text = rendered(NAIVE_GAN, None, None)
    assert "\x1b" not in text
    assert max(map(cell_len, text.splitlines())) == 90


def test_headline_of_the_session_is_kept() -> None:
    text = rendered(msgspec.structs.replace(NAIVE_GAN, headline="40 steps, and input is everything [bold]"))
    assert text.splitlines()[:2] == [
        "40 steps, and input is everything [bold]",
        "512 ms a step (p90 540) · 250 examples/s",  # the figures that it does not say
    ]


def test_a_breakdown_beyond_all_measure_is_left_out() -> None:
    for parts in ({"input": 1.0, "graph": 4.5e306}, {"input": 1e308, "graph": 1e308}):
        steps = msgspec.structs.replace(NAIVE_GAN.steps, breakdown_ms=parts)
        assert "3 findings" in rendered(msgspec.structs.replace(NAIVE_GAN, steps=steps))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"status": "failed", "exit_code": 1}, "The script failed (exit code 1)."),
        ({"status": "killed", "exit_code": 137}, "The script was killed (exit code 137)."),
        ({"status": "interrupted", "exit_code": None}, "The script was interrupted (exit code unknown)."),
        ({"status": "finished", "exit_code": 3}, "The script ended with exit code 3."),
    ],
)
def test_a_bad_end_is_said_at_the_top(changes: dict[str, object], line: str) -> None:
    run = msgspec.structs.replace(NAIVE_GAN.run, **changes)
    assert rendered(msgspec.structs.replace(NAIVE_GAN, run=run)).splitlines()[1] == line


def test_good_news_only_if_something_was_looked_at() -> None:
    assert "No cause was found." in rendered(HEALTHY)
    blind = msgspec.structs.replace(HEALTHY, probes=(ProbeOutcome(name="x", status="failed", reason="broken"),))
    assert "No findings: no probe gave a result." in rendered(blind)
    stepless = msgspec.structs.replace(HEALTHY, steps=StepSummary(count=0, source="none"))
    assert "No findings: no training steps were found." in rendered(stepless)


def test_gains_as_they_are() -> None:
    def gain(**changes: object) -> str:
        finding = msgspec.structs.replace(EAGER_FINDING, share_of_step=0.2, **changes)
        lines = rendered(msgspec.structs.replace(NAIVE_GAN, findings=(finding,))).splitlines()
        return lines[next(i for i, line in enumerate(lines) if finding.title in line) + 1].strip()

    assert gain(predicted_speedup=1.4) == "step 1.4x faster · costs 20.0 % of the step"
    assert gain(predicted_speedup=1.4, predicted_range=(1.2, 1.6)).startswith("step 1.4x faster (1.2x to 1.6x)")
    assert gain(predicted_speedup=1.0).startswith("no gain in the time of a step")
    assert gain(predicted_speedup=None).startswith("gain not predicted")


def test_the_name_of_a_run_is_safe_to_paste() -> None:
    run = msgspec.structs.replace(NAIVE_GAN.run, directory="/tmp/a dir; rm -rf x")
    assert "tfperf report '/tmp/a dir; rm -rf x'" in rendered(msgspec.structs.replace(NAIVE_GAN, run=run))


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


@st.composite
def reports(draw: st.DrawFn) -> Report:
    finding = Finding(
        code=draw(HOSTILE),
        family="input",
        title=draw(HOSTILE),
        severity="high",
        share_of_step=draw(st.floats()),
        predicted_speedup=draw(FLOATS),
        predicted_range=draw(st.none() | st.tuples(st.floats(), st.floats())),
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


def test_importing_the_renderer_is_cheap() -> None:
    code = (
        "import sys, tfperfkit.report.console;"
        "costly = {'rich.console', 'rich.table', 'rich.syntax', 'pygments', 'tensorflow', 'numpy'};"
        "print(sorted(costly & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_child_env())
    assert out.stdout.strip() == "[]"


def _child_env() -> dict[str, str]:
    root = str(Path(__file__).parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))}


def test_a_detail_of_sentences_is_wrapped_as_its_fix_is() -> None:
    """Also where the terminal is wider than prose should be; lines that begin with a space keep their columns."""
    sentence = " ".join(["One sentence of the detail that says it all."] * 5)
    finding = msgspec.structs.replace(NAIVE_GAN.findings[0], advice=sentence, detail=f"{sentence}\n  old   {'x' * 90}")
    text = rendered(msgspec.structs.replace(HEALTHY, findings=(finding,)), 140)
    fix, detail = text.index("   fix       "), text.index("   detail    ")
    end = text.index("   more      ")
    lines = text[detail:end].splitlines()
    assert [line[13:] for line in lines[:-1]] == [line[13:] for line in text[fix:detail].splitlines()]
    assert lines[-1] == f"               old   {'x' * 90}"
    assert max(map(len, lines[:-1])) <= 100


def test_what_passes_between_the_steps_stands_beside_their_time_when_it_is_much() -> None:
    account = StepAccount(steps=27, mean_ms=10.0, ordinary_ms=10.0, between_total_ms=368.0)
    steps = msgspec.structs.replace(NAIVE_GAN.steps, median_ms=9.3, p90_ms=18.1, account=account)
    report = msgspec.structs.replace(HEALTHY, steps=steps)
    assert "40 steps · 9.30 ms a step (p90 18.1) · 368 ms between two · " in rendered(report)
    little = msgspec.structs.replace(account, between_total_ms=2.0)
    report = msgspec.structs.replace(HEALTHY, steps=msgspec.structs.replace(steps, account=little))
    assert "between two" not in rendered(report)


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        ("step", "step 12x faster (11x to 13x) · costs 97.9 % of the step"),
        ("turn", "iteration of the loop 12x faster (11x to 13x) · costs 97.9 % of it"),
        ("run", "run 12x faster (11x to 13x) · costs 97.9 % of it"),
    ],
)
def test_a_finding_says_what_its_share_is_of(basis: Basis, words: str) -> None:
    finding = msgspec.structs.replace(NAIVE_GAN.findings[0], basis=basis)
    assert f"   {words}\n" in rendered(msgspec.structs.replace(HEALTHY, findings=(finding,)))
    silent = msgspec.structs.replace(finding, basis="turn", predicted_speedup=None)
    text = rendered(msgspec.structs.replace(HEALTHY, findings=(silent,)))
    assert "   gain not predicted · costs 97.9 % of an iteration of the loop\n" in text


def test_each_sign_of_the_bar_stands_for_one_part() -> None:
    parts = {"python": 60.0, "input": 20.0, "graph": 10.0, "dispatch": 5.0, "saving": 3.0, "gc": 1.9, "other": 0.1}
    steps = msgspec.structs.replace(NAIVE_GAN.steps, breakdown_ms=parts)
    lines = rendered(msgspec.structs.replace(NAIVE_GAN, steps=steps)).splitlines()
    bar, words = lines[1], " ".join(lines[2:5])
    assert len(bar) == 50
    assert [bar.count(sign) for sign in "█▓▒░▚▄"] == [30, 10, 5, 3, 1, 1]
    assert all(words.count(sign) == 1 for sign in "█▓▒░▚▄")
    assert " · other 0.100 ms (0.1 %)" in words, "too small for a cell of the bar: no sign"


def test_parts_of_a_step_share_one_unit() -> None:
    steps = msgspec.structs.replace(NAIVE_GAN.steps, breakdown_ms={"python": 2.0, "other": 0.004})
    assert "Python 2.00 ms (99.8 %) · other 0.004 ms (0.2 %)" in rendered(
        msgspec.structs.replace(NAIVE_GAN, steps=steps)
    )
    steps = msgspec.structs.replace(NAIVE_GAN.steps, breakdown_ms={"python": 0.2, "other": 0.004})
    assert "Python 200 µs (98.0 %) · ▓ other 4.00 µs (2.0 %)" in rendered(
        msgspec.structs.replace(NAIVE_GAN, steps=steps)
    )


SILENT = tuple(
    ProbeOutcome(name=name, status="skipped", reason="TensorFlow was not imported") for name in ("lines", "retrace")
)


def test_without_tensorflow_two_lines_are_enough() -> None:
    report = msgspec.structs.replace(
        NO_STEPS,
        probes=SILENT,
        steps=StepSummary(count=0, source="none"),
        notes=("The script never imported TensorFlow, so nothing was recorded.",),
    )
    assert rendered(report).splitlines() == [
        "The script failed (exit code 1) after 3.20 s: -m my.model",
        "The script never imported TensorFlow, so nothing was recorded.",
    ]
    run = msgspec.structs.replace(NO_STEPS.run, versions={"tensorflow": "2.21.0"})
    assert "── run" in rendered(msgspec.structs.replace(report, run=run)), "it was imported"


def test_the_way_to_tables_names_what_has_some() -> None:
    report = msgspec.structs.replace(NAIVE_GAN, shown=("lines",))
    assert "tables of retrace, tfprof, hello: tfperf report tfperf-runs/train-1121-1215 --show all" in rendered(report)
    assert "tables of" not in rendered(msgspec.structs.replace(report, probes=SILENT, shown=("lines",)))


def test_a_busy_machine_is_reported_in_the_head() -> None:
    note = "Other programs kept the processors busy."
    overhead = msgspec.structs.replace(NAIVE_GAN.overhead, notes=(note,))
    lines = rendered(msgspec.structs.replace(NAIVE_GAN, overhead=overhead)).splitlines()
    assert lines[1] == note
    assert lines.count(note) == 1


def test_the_sign_before_rows_is_explained_once() -> None:
    assert rendered(NAIVE_GAN).count("> marks the costliest line of a table") == 1
    assert "> marks" not in rendered(HEALTHY)


def test_places_are_shown_from_the_scripts_folder() -> None:
    where = (SourceSpan("/data/jobs/train.py", 7, "main"), SourceSpan("/data/other/x.py", 1))
    finding = msgspec.structs.replace(
        EAGER_FINDING, where=where, advice="Look at /data/jobs/models/gan.py:3.", detail="see /data/jobs/train.py:9"
    )
    run = msgspec.structs.replace(NAIVE_GAN.run, folder="/data/jobs")
    text = rendered(msgspec.structs.replace(NAIVE_GAN, run=run, findings=(finding,)))
    assert "at        train.py:7 (main)\n" in text
    assert "             /data/other/x.py:1\n" in text
    assert "fix       Look at models/gan.py:3.\n" in text
    assert "detail    see train.py:9\n" in text
