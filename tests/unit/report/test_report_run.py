"""The account of the run, in a line."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.cells import cell_len
from rich.text import Text
from test_report_console import assert_gold, rendered
from test_report_records import PREDICTING

from tfperfkit.model import LineTime, Report, RunAccount, SourceSpan
from tfperfkit.records.parts import PLACED, RUN_PARTS
from tfperfkit.report.console import render
from tfperfkit.report.json import decode, encode
from tfperfkit.report.run import run_lines
from tfperfkit.report.terminal import Screen


def shown(account: RunAccount | None, width: int = 100) -> list[str]:
    return [line.plain for line in run_lines(account, Screen(width=width))]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_gold_predicting(width: int) -> None:
    assert_gold(f"report_predicting_{width}", rendered(PREDICTING, width, full=False))


def test_gold_predicting_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict", write_through=True)
    render(PREDICTING, file=file, width=100, color=False)
    text = file.buffer.getvalue().decode("ascii")  # type: ignore[attr-defined]
    assert_gold("report_predicting_ascii_100", text)


@pytest.mark.parametrize("width", [40, 80, 100, 140])
def test_colour_changes_no_word_and_no_line_is_too_wide(width: int) -> None:
    plain = rendered(PREDICTING, width).splitlines()
    assert Text.from_ansi(rendered(PREDICTING, width, color=True)).plain.splitlines() == plain
    assert all(cell_len(line) <= width for line in plain)


def test_the_line_names_the_line_of_a_part() -> None:
    assert shown(PREDICTING.run_account) == [
        "run 47.3 s: prediction 41.0 s (/home/me/vae/vae.py:88) · training 3.10 s · imports 2.90 s",
        "other 0.300 s",
    ]


@pytest.mark.parametrize(("training", "there"), [(8.9, True), (9.0, False)])
def test_it_is_there_when_training_is_less_than_nine_tenths(training: float, there: bool) -> None:
    account = RunAccount(
        total_s=14.0,
        parts_s={"imports": 4.0, "training": training, "data": 10.0 - training},
        imports_s={"tensorflow": 4.0},
    )
    assert bool(shown(account)) is there


def test_a_part_that_is_on_no_line_of_its_own_has_none() -> None:
    lines = {"data": tuple(LineTime(SourceSpan("a.py", n), 2.0) for n in (1, 2, 3))}
    assert "a.py" not in shown(RunAccount(total_s=10.0, parts_s={"data": 10.0}, lines=lines))[0]


def test_what_ran_before_tensorflow_need_not_be_imports() -> None:
    account = RunAccount(
        total_s=10.0, parts_s={"imports": 10.0}, imports_s={"before TensorFlow": 8.0, "tensorflow": 2.0}
    )
    assert shown(account)[0] == "run 10.0 s: imports 10.0 s (8.00 s of it before TensorFlow's)"


def test_every_part_has_words_and_a_glossary_reads_them() -> None:
    account = RunAccount(total_s=15.0, parts_s=dict.fromkeys(RUN_PARTS, 1.0))
    text = " ".join(shown(account, 140))
    assert all(words in text for words in RUN_PARTS.values())
    assert set(PLACED) < set(RUN_PARTS)


def test_a_run_that_trains_nothing_has_no_time_outside_of_training() -> None:
    account = RunAccount(total_s=10.0, parts_s={"tensorflow": 6.0, "data": 4.0})
    assert shown(account)[0] == "run 10.0 s: TensorFlow 6.00 s · data and other Python 4.00 s"


@pytest.mark.parametrize(
    "account", [None, RunAccount(total_s=0.0), RunAccount(total_s=1.0, parts_s={"data": float("nan")})]
)
def test_nothing_is_drawn_of_nothing(account: RunAccount | None) -> None:
    assert shown(account) == []


def test_it_stands_in_the_json_report() -> None:
    report = decode(encode(PREDICTING))
    assert isinstance(report, Report)
    assert report.run_account == PREDICTING.run_account
    assert decode(encode(msgspec.structs.replace(PREDICTING, run_account=None))).run_account is None
