"""Numbers: three significant digits, separated thousands, no scientific notation, one unit for a column."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.report import numbers
from tfperfkit.report.terminal import ASCII


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (512.3, "512"),
        (51.23, "51.2"),
        (5.1, "5.10"),
        (0.512, "0.512"),
        (0.0512, "0.051"),
        (0.0001, "<0.001"),
        (-0.0001, ">-0.001"),
        (9.999, "10.0"),
        (99.96, "100"),
        (10498.888, "10,499"),
        (1234567.8, "1,234,568"),
        (0.0, "0"),
        (7, "7"),
        (12345, "12,345"),
    ],
)
def test_plain_numbers(value: float, text: str) -> None:
    assert numbers.plain(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (512.4, "ms", "512 ms"),
        (9_999.0, "ms", "9,999 ms"),
        (10_000.0, "ms", "10.0 s"),
        (12_505.9, "ms", "12.5 s"),
        (0.05, "ms", "50.0 µs"),
        (0.0, "ms", "0 ms"),
        (180.0, "us", "0.180 ms"),
        (27.31, "s", "27.3 s"),
        (0.979, "share", "97.9 %"),
        (1.0, "share", "100.0 %"),
        (1.2, "ratio", "1.20x"),
        (7, "count", "7"),
        (60.0, "count", "60"),
        (2.5, "count", "2.50"),
        (31, "steps", "31 steps"),
        (3_276_800, "bytes", "3.12 MiB"),
        (512, "bytes", "512 B"),
        (None, "ms", "–"),
        (math.nan, "count", "–"),
        (math.inf, "ms", "inf"),
    ],
)
def test_one_value_with_its_unit(value: float | None, unit: str, text: str) -> None:
    assert numbers.alone(value, unit) == text


def test_ascii_signs_for_a_plain_stream() -> None:
    assert numbers.alone(None, "ms", ASCII) == "-"
    assert numbers.alone(0.05, "ms", ASCII) == "50.0 us"


@pytest.mark.parametrize(
    ("factor", "text"),
    [(12.3, "12x"), (10.9, "11x"), (1.4, "1.4x"), (1.05, "1.05x"), (1.0, "1.00x"), (9.97, "10x"), (1200.0, "1,200x")],
)
def test_a_gain_in_two_digits(factor: float, text: str) -> None:
    assert numbers.speedup(factor) == text


def test_a_column_has_its_points_below_each_other() -> None:
    column = numbers.column([11374.986, 0.975, None, 40.0, 0.0], "ms")
    assert column.unit == "ms"
    width = max(map(len, column.cells))
    shown = [cell.rjust(width).rstrip() for cell in column.cells]
    assert shown == ["11,375", "     0.97", "     –", "    40.0", "     0"]


def test_a_column_has_one_unit() -> None:
    assert numbers.column([250_000.0, 1_500.0], "ms") == numbers.NumberColumn("s", ("250   ", "1.50"))
    assert numbers.column([250_000.0, 1_500.0], "ms", fixed=True).unit == "ms"
    assert numbers.column([250_000.0], "us").unit == "ms"
    assert numbers.column([3_276_800, 8], "bytes") == numbers.NumberColumn("MiB", ("3.12 ", "<0.001"))
    assert numbers.column([0.979, 0.0, None], "share") == numbers.NumberColumn("%", ("97.9", "0.0", "–"))


def test_line_numbers_have_no_separators() -> None:
    assert numbers.column([12345], "number").cells == ("12345",)
    assert numbers.column([12345], "count").cells == ("12,345",)


def test_words_in_a_column_of_numbers_stay_words() -> None:
    assert numbers.column(["n/a", True], "ms").cells == ("n/a", "True")


@given(st.floats(allow_nan=False, allow_infinity=False, max_value=1e14, min_value=-1e14))
def test_the_text_is_the_number(value: float) -> None:
    text = numbers.plain(value)
    assert "e" not in text
    if text.startswith(("<", ">")):
        assert abs(value) < 0.001
    else:
        assert math.isclose(float(text.replace(",", "")), value, rel_tol=0.0051, abs_tol=0.00051)


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(st.lists(VALUES, max_size=6), st.sampled_from(sorted(numbers.NUMERIC)), st.booleans())
def test_every_column_is_written(values: list[numbers.Value], unit: str, fixed: bool) -> None:
    column = numbers.column(values, unit, fixed=fixed)  # type: ignore[arg-type]
    assert len(column.cells) == len(values)
    for value in values:
        assert isinstance(numbers.alone(value, unit), str)


@given(st.lists(st.floats(min_value=0.001, max_value=1e9), min_size=1, max_size=6), st.sampled_from(["ms", "us"]))
def test_no_time_in_a_column_is_in_scientific_notation(values: list[float], unit: str) -> None:
    assert not any("e" in cell for cell in numbers.column(values, unit).cells)  # type: ignore[arg-type]


@given(st.floats(min_value=1.0, allow_nan=False))
def test_every_gain_is_written(factor: float) -> None:
    assert numbers.speedup(factor).endswith("x")
