"""The report on the screen, against gold files; ``TFPERF_UPDATE_GOLD=1`` writes them again."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from test_report_records import BRIEF, EAGER_FINDING, HELLO, NAIVE_GAN, NO_STEPS

from tfperfkit.gain import Range, Unknown
from tfperfkit.model import (
    ProbeOutcome,
    Report,
    SourceSpan,
    StepSummary,
)
from tfperfkit.report.console import render

GOLD = Path(__file__).parents[2] / "gold"


def rendered(
    report: Report, width: int | None = 100, color: bool | None = False, *, full: bool = True, handle: str = ""
) -> str:
    file = io.StringIO()
    render(report, file=file, width=width, color=color, full=full, handle=handle)
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
    assert_gold(f"report_brief_{width}", rendered(BRIEF, width, full=False))


def test_gold_nothing_to_fix() -> None:
    assert_gold("report_nothing_100", rendered(HEALTHY))


def test_gold_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict", write_through=True)
    render(NAIVE_GAN, file=file, width=100, color=False, full=True)
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
        detail = [] if finding.is_note else finding.detail.splitlines()
        for words in (finding.title, finding.advice, finding.code, *detail):
            assert "".join(words.split()) in text


def test_tables_come_first_then_the_findings_in_their_order_then_the_verdict() -> None:
    lines = rendered(NAIVE_GAN).splitlines()
    starts = [next(i for i, line in enumerate(lines) if f.title in line) for f in NAIVE_GAN.findings]
    assert starts == sorted(starts)
    tables, verdict = (
        next(i for i, line in enumerate(lines) if line.startswith(f"── {name}")) for name in ("lines", "verdict")
    )
    assert tables < starts[0] < starts[-1] < verdict


@pytest.mark.parametrize(("places", "line"), [(6, ""), (7, "and 1 more place"), (8, "and 2 more places")])
def test_places_beyond_the_sixth_are_counted(places: int, line: str) -> None:
    where = tuple(SourceSpan("train.py", number) for number in range(1, places + 1))
    report = msgspec.structs.replace(
        NAIVE_GAN, findings=(msgspec.structs.replace(EAGER_FINDING, severity="low", where=where),)
    )
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


def test_a_breakdown_beyond_all_measure_is_left_out() -> None:
    for parts in ({"input": 1.0, "graph": 4.5e306}, {"input": 1e308, "graph": 1e308}):
        steps = msgspec.structs.replace(NAIVE_GAN.steps, breakdown_ms=parts)
        assert "2 findings" in rendered(msgspec.structs.replace(NAIVE_GAN, steps=steps))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "failed", "exit_code": 1}, "failed (exit code 1)"),
        ({"status": "killed", "exit_code": 137}, "killed (exit code 137)"),
        ({"status": "interrupted", "exit_code": None}, "interrupted"),
        ({"status": "finished", "exit_code": 3}, "ended with exit code 3"),
        ({"status": "running", "exit_code": None}, "still running"),
    ],
)
def test_a_bad_end_is_said_in_the_first_line(changes: dict[str, object], words: str) -> None:
    run = msgspec.structs.replace(NAIVE_GAN.run, **changes)
    text = rendered(msgspec.structs.replace(NAIVE_GAN, run=run, shown=()), full=False)
    assert f"tfperf · train.py · 27 s · {words} · 40 steps" in text.splitlines()[0]


def test_good_news_only_if_something_was_looked_at() -> None:
    assert "NO CAUSE FOUND   nothing that was measured explains the time" in rendered(HEALTHY)
    blind = msgspec.structs.replace(HEALTHY, probes=(ProbeOutcome(name="x", status="failed", reason="broken"),))
    assert "NO CAUSE FOUND   no probe gave a result" in rendered(blind)
    stepless = msgspec.structs.replace(HEALTHY, steps=StepSummary(count=0, source="none"))
    assert "NO CAUSE FOUND   no training steps were found" in rendered(stepless)


def test_gains_as_they_are() -> None:
    def gain(**changes: object) -> str:
        finding = msgspec.structs.replace(EAGER_FINDING, severity="low", share_of_step=0.2, **changes)
        lines = rendered(msgspec.structs.replace(NAIVE_GAN, findings=(finding,))).splitlines()
        return lines[next(i for i, line in enumerate(lines) if finding.title in line) + 1].strip()

    assert gain(gain=Range(1.4, 1.4, 1.4)) == "step 1.4x faster · costs 20.0 % of the step"
    assert gain(gain=Range(1.2, 1.4, 1.6)).startswith("step 1.4x faster (1.2x to 1.6x)")
    assert gain(gain=Range(1.0, 1.0, 1.0)).startswith("no gain in the time of a step")
    assert gain(gain=Unknown()).startswith("gain not predicted")


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
