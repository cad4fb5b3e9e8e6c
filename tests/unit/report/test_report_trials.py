"""The results of trials, on the screen."""

from __future__ import annotations

import io

import pytest

from tfperfkit.model import Measured, TrialReport
from tfperfkit.records.trials import Baseline
from tfperfkit.report.terminal import Screen
from tfperfkit.report.trials import lines, render

ITEMS = (
    Measured(
        experiment="graph:train_step",
        keeps="mathematics",
        verdict="faster",
        speedup=3.0,
        interval=(2.5, 3.6),
        first_minute=2.0,
        processor=2.9,
        memory_bytes=1e8,
        pairs=3,
        results="rounding",
        distance=1e-6,
        own_distance=0.0,
        finding="EAG001",
    ),
    Measured(experiment="jit", keeps="mathematics", verdict="slower", speedup=0.5, interval=(0.4, 0.6), pairs=3),
    Measured(experiment="cache", keeps="nothing", verdict="not applicable", reason="the data set is endless"),
    Measured(
        experiment="input=first-batch",
        keeps="ceiling",
        verdict="no difference",
        speedup=1.0,
        interval=(0.9, 1.1),
        pairs=4,
        needed_pairs=17,
    ),
    Measured(experiment="x\x1b[2J[bold]", keeps="results", verdict="failed", reason="ValueError: \x1b[2J no"),
    Measured(experiment="prefetch", keeps="results", verdict="undecided", speedup=1.2, pairs=1, reason="one pair"),
)
RESULT = TrialReport(
    schema=1,
    argv=("train.py",),
    way="on an overlay of /a",
    baseline=Baseline(runs=3, ms=12.0, batch_size=8, steps=40, warm_s=3.0, memory_bytes=1e9, spread=1.1),
    measured=ITEMS,
    seconds=61.0,
    ended="interrupted",
    notes=("A note.",),
)


@pytest.mark.parametrize("width", [40, 80, 100, 140])
@pytest.mark.parametrize("unicode", [True, False])
def test_nothing_is_wider_than_the_screen(width: int, unicode: bool) -> None:
    for line in lines(RESULT, Screen(width=width, unicode=unicode)):
        assert line.cell_len <= width
        assert "\x1b" not in line.plain
        assert unicode or line.plain.isascii()


def test_what_it_says() -> None:
    file = io.StringIO()
    render(RESULT, file)
    text = file.getvalue()
    for words in (
        "graph:train_step  EAG001  3.0x faster",
        "95 %: 2.50x to 3.60x, 3 pairs",
        "results differ by rounding",
        "jit  2.0x slower",
        "the data set is endless",
        "17 pairs would show 5 %",
        "not a fix",
        "1.20x as fast in one pair",
        "Interrupted",
        "12.0 ms a step of 8 examples",
    ):
        assert words in text, words
