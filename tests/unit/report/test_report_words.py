"""Single words, lines and signs of the report on the screen."""

from __future__ import annotations

import msgspec
import pytest
from rich.text import Text
from test_report_console import HEALTHY, rendered
from test_report_records import EAGER_FINDING, NAIVE_GAN, NO_STEPS

from tfperfkit.gain import Range, Unknown
from tfperfkit.model import (
    Basis,
    ProbeOutcome,
    SourceSpan,
    StepAccount,
    StepSummary,
)
from tfperfkit.report.bar import breakdown
from tfperfkit.report.terminal import Screen


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
    steps = msgspec.structs.replace(NAIVE_GAN.steps, median_ms=9.3, mean_ms=10.0, p90_ms=18.1, account=account)
    report = msgspec.structs.replace(HEALTHY, steps=steps)
    assert "40 steps · 9.30 ms a step (p90 18.1) · 368 ms between two · " in rendered(report)
    uneven = msgspec.structs.replace(steps, mean_ms=309.0)  # a few of them wait for data
    assert "9.30 ms a step (p90 18.1, mean 309) · " in rendered(msgspec.structs.replace(HEALTHY, steps=uneven))
    little = msgspec.structs.replace(account, between_total_ms=2.0)
    report = msgspec.structs.replace(HEALTHY, steps=msgspec.structs.replace(steps, account=little))
    assert "between two" not in rendered(report)


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        ("step", "step 12x faster (11x to 13x) · costs 97.9 % of the step"),
        ("turn", "training loop 12x faster (11x to 13x) · costs 97.9 % of it"),
        ("run", "run 12x faster (11x to 13x) · costs 97.9 % of it"),
    ],
)
def test_a_finding_says_what_its_share_is_of(basis: Basis, words: str) -> None:
    finding = msgspec.structs.replace(NAIVE_GAN.findings[0], basis=basis)
    assert f"   {words}\n" in rendered(msgspec.structs.replace(HEALTHY, findings=(finding,)))
    silent = msgspec.structs.replace(finding, basis="turn", gain=Unknown())
    text = rendered(msgspec.structs.replace(HEALTHY, findings=(silent,)))
    assert "   gain not predicted · costs 97.9 % of the training loop\n" in text


def test_each_part_has_a_sign_of_its_own_in_every_bar() -> None:
    parts = {"python": 60.0, "input": 20.0, "graph": 10.0, "dispatch": 5.0, "saving": 3.0, "gc": 1.9, "other": 0.1}
    steps = msgspec.structs.replace(NAIVE_GAN.steps, breakdown_ms=parts)
    lines = bar_lines(breakdown(steps, "mean step", {}, Screen(width=100)))
    bar, words = lines[1], " ".join(lines[2:])
    assert len(bar) == 50
    assert [bar.count(sign) for sign in "█░▓·▄▖"] == [30, 10, 5, 3, 1, 1]
    assert all(words.count(f"{sign} ") >= 1 for sign in "█░▓▄▖")
    assert " · other 0.100 ms (0.1 %)" in words, "too small for a cell of the bar: no sign"
    other = msgspec.structs.replace(steps, breakdown_ms={"graph": 9.0, "python": 1.0})
    assert bar_lines(breakdown(other, "mean step", {}, Screen(width=100)))[1] == "▓" * 45 + "█" * 5


def bar_lines(lines: list[Text]) -> list[str]:
    return [line.plain for line in lines]


def test_parts_of_a_step_share_one_unit() -> None:
    steps = msgspec.structs.replace(NAIVE_GAN.steps, breakdown_ms={"python": 2.0, "other": 0.004})
    assert "Python 2.00 ms (99.8 %) · other 0.004 ms (0.2 %)" in rendered(
        msgspec.structs.replace(NAIVE_GAN, steps=steps)
    )
    steps = msgspec.structs.replace(NAIVE_GAN.steps, breakdown_ms={"python": 0.2, "other": 0.004})
    assert "Python 200 µs (98.0 %) · ╌ other 4.00 µs (2.0 %)" in rendered(
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
    assert "NO CAUSE FOUND" in rendered(msgspec.structs.replace(report, run=run)), "it was imported"


def test_a_busy_machine_is_the_one_warning() -> None:
    note = "CPU contention."
    overhead = msgspec.structs.replace(NAIVE_GAN.overhead, notes=(note,))
    report = msgspec.structs.replace(NAIVE_GAN, overhead=overhead, shown=())
    text = rendered(report, full=False)
    assert text.count("warning: CPU contention. (1 more in the full report)\n") == 1
    assert text.count("warning") == 1


def test_the_sign_before_rows_is_explained_once() -> None:
    assert rendered(NAIVE_GAN).count("> marks the costliest line of a table") == 1
    assert "> marks" not in rendered(HEALTHY)


def test_places_are_shown_from_the_scripts_folder() -> None:
    where = (SourceSpan("/data/jobs/train.py", 7, "main"), SourceSpan("/data/other/x.py", 1))
    finding = msgspec.structs.replace(
        EAGER_FINDING,
        severity="low",
        gain=Range(2.0, 2.0, 2.0),
        where=where,
        advice="Look at /data/jobs/models/gan.py:3.",
        detail="see /data/jobs/train.py:9",
    )
    run = msgspec.structs.replace(NAIVE_GAN.run, folder="/data/jobs")
    text = rendered(msgspec.structs.replace(NAIVE_GAN, run=run, findings=(finding,)))
    assert "at        train.py:7 (main)\n" in text
    assert "             /data/other/x.py:1\n" in text
    assert "fix       Look at models/gan.py:3.\n" in text
    assert "detail    see train.py:9\n" in text
