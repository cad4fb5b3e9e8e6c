"""Tables: aligned where they fit, folded or stacked where not, and never a cell cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from test_report_records import FORWARD, NAIVE_GAN, line_table

from tfperfkit.model import Column, Table
from tfperfkit.report import table as module
from tfperfkit.report.table import table_lines
from tfperfkit.report.terminal import Screen

Cell = str | int | float | None


def drawn(table: Table, width: int = 100, color: bool = False) -> list[str]:
    return [line.plain for line in table_lines(table, Screen(width=width, color=color))]


def made(*columns: Column, rows: tuple[tuple[Cell, ...], ...], marked: tuple[int, ...] = ()) -> Table:
    return Table(title="T", columns=columns, rows=rows, marked=marked)


def test_a_table_that_fits() -> None:
    table = made(
        Column("Op"),
        Column("Count", "count"),
        Column("Self time", "us"),
        Column("Share", "share"),
        rows=(("Conv2D", 1280, 9184.3, 0.266), ("MatMul", None, 8.1, 0.0)),
        marked=(0,),
    )
    assert drawn(table) == [
        "T",
        "  Op      Count  Self time µs  Share %",
        "> Conv2D  1,280      9,184        26.6",
        "  MatMul      –          8.10      0.0",
    ]


def test_headings_that_name_their_unit_keep_it() -> None:
    table = made(Column("ms per step", "ms"), Column("% Time", "share"), rows=((200_000.0, 0.5),))
    assert drawn(table)[1:] == ["  ms per step  % Time", "      200,000    50.0"]


def test_lines_that_did_not_run_have_no_dashes() -> None:
    table = made(
        Column("Line", "number"),
        Column("Hits", "count"),
        Column("Time", "ms"),
        Column("Source", "source"),
        rows=((1, None, None, "    # a comment"), (2, 3, None, "    x = 1"), (3, None, None, "")),
    )
    assert drawn(table)[2:] == [
        "     1                 # a comment",
        "     2     3        –  x = 1",
        "     3",
    ]


def test_source_folds_further_in() -> None:
    table = made(Column("Line", "number"), Column("Source", "source"), rows=((7, "    " + "f(aaaa, bbbb) + " * 4),))
    lines = drawn(table, width=50)
    assert lines[2].startswith("     7  f(aaaa, bbbb) + ") and lines[3].startswith("          ")
    assert "".join("".join(lines[2:]).split()) == "7" + "f(aaaa,bbbb)+" * 4


def test_what_does_not_fit_beside_stands_below() -> None:
    table = made(
        Column("Op"),
        *(Column(f"Number {index}", "ms") for index in range(6)),
        rows=(("discriminator/conv2d/Conv2D", *(1000.0 + index for index in range(6))),),
        marked=(0,),
    )
    assert drawn(table, width=40) == [
        "T",
        "> discriminator/conv2d/Conv2D",
        "    Number 0 1,000 ms",
        "    Number 1 1,001 ms",
        "    Number 2 1,002 ms",
        "    Number 3 1,003 ms",
        "    Number 4 1,004 ms",
        "    Number 5 1,005 ms",
    ]
    assert drawn(table, width=60)[2] == "    Number 0 1,000 ms · Number 1 1,001 ms"


def test_empty_and_crooked_tables() -> None:
    assert drawn(made(Column("A"), rows=())) == ["T", "  (no rows)"]
    assert drawn(made(rows=())) == ["T", "  (no rows)"]
    crooked = made(Column("A"), Column("B", "count"), rows=(("x",), ("y", 1, "more")))
    assert drawn(crooked)[2:] == ["  x  –  –", "  y  1  more"]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_cell_of_the_usual_report_is_cut(width: int) -> None:
    """Reads the tables back from the columns of the drawn lines."""
    screen = Screen(width=width)
    for probe in NAIVE_GAN.probes:
        for table in probe.tables:
            columns = module._columns(table, screen)
            assert module._fit(columns, width), "the usual tables are never stacked at 80 columns"
            for row in range(len(table.rows)):
                lines = [line.plain.ljust(width) for line in module._row_lines(columns, row, False, screen)]
                start = module.GUTTER
                for column in columns:
                    read = "".join(line[start : start + column.width] for line in lines)
                    assert "".join(read.split()) == "".join(column.cells[row].split())
                    start += column.width + module.GAP


def test_at_140_columns_code_of_usual_length_is_on_one_line() -> None:
    table = line_table("forward_pass", 301, FORWARD)
    assert len(drawn(table, width=140)) == len(table.rows) + 2


TEXT = st.text(st.characters(codec=None), max_size=60) | st.sampled_from(
    ["[bold red]x[/]", "\x1b[2J", "a\nb", "\u202eabc", ":smile:", "x" * 100_000, "模" * 300, "a/b_c." * 50]
    + ["\u0301" * 900]
)
UNITS = st.sampled_from(["text", "count", "ms", "us", "bytes", "share", "ratio", "source", "location", "number"])
VALUES = st.none() | st.integers() | st.floats() | TEXT


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.lists(st.builds(Column, name=TEXT, unit=UNITS), max_size=5))
    size = st.integers(max(0, len(columns) - 1), len(columns) + 1)
    rows = draw(st.lists(size.flatmap(lambda n: st.tuples(*[VALUES] * n)), max_size=4))
    return Table(
        title=draw(TEXT), columns=tuple(columns), rows=tuple(rows), note=draw(TEXT), marked=(0, 7), language="python"
    )


def test_a_unit_below_its_heading_has_room() -> None:
    table = made(
        Column("", "text"), Column("", "text"), Column("", "text"), Column("", "ms"), rows=((None, None, "x" * 28),)
    )
    assert all(len(line) <= 40 for line in drawn(table, width=40))


@given(tables(), st.integers(40, 160), st.booleans(), st.booleans())
def test_any_table_is_drawn_within_the_width(table: Table, width: int, color: bool, unicode: bool) -> None:
    for line in table_lines(table, Screen(width=width, color=color, unicode=unicode)):
        assert line.plain.isprintable()
        assert cell_len(line.plain) <= width
        assert unicode or line.plain.isascii()


@given(
    st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=120), min_size=1, max_size=3),
    st.sampled_from(["text", "source"]),
    st.integers(40, 100),
)
def test_no_cell_is_cut(words: list[str], unit: str, width: int) -> None:
    table = made(Column("", unit), rows=tuple((word,) for word in words))  # type: ignore[arg-type]
    assert "".join("".join(drawn(table, width)[1:]).split()) == "".join(words)


def test_words_in_a_source_column_are_no_code() -> None:
    table = Table(
        title="T",
        columns=(Column("Line"), Column("Source", "source")),
        rows=(("7", "x = 1 if y else 2"), ("", "(TensorFlow's own, or the rest in it)"), ("8", "return x")),
        words=(1,),
    )
    lines = table_lines(table, Screen(color=True))
    code, words, after = lines[2:5]
    assert any(span.style == "magenta" for span in code.spans)
    assert not any(span.style in ("magenta", "green") for span in words.spans)
    assert any(span.style == "magenta" for span in after.spans), "the apostrophe began no string"
    assert [line.plain for line in lines] == drawn(table)
