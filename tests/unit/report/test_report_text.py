"""Text of scripts: harmless, on one line, broken without loss; paths as short as they stay exact."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tfperfkit.model import SourceSpan
from tfperfkit.report.paths import location, name, place, short_path, with_short_paths
from tfperfkit.report.source import clean_source, highlight
from tfperfkit.report.terminal import Screen, terminal_of
from tfperfkit.report.text import NAME_LIMIT, shorten, spans, visible, wrap

SCREEN = Screen()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [bold]text[/]", "plain [bold]text[/]"),
        ("a\nb\rc\td", "a\\nb\\rc d"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202egnp.py", "abc\\u202egnp.py"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("a\u00a0b\u3000c", "a b c"),
        ("Größe 模型", "Größe 模型"),
    ],
)
def test_what_is_dangerous_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_on_a_plain_stream_all_is_ascii() -> None:
    assert visible("traces 7 → 1 · 2 µs", unicode=False) == "traces 7 -> 1 | 2 us"
    assert visible("模", unicode=False) == "\\u6a21"


@given(st.text(st.characters(codec=None)), st.booleans())
def test_visible_text_is_harmless(text: str, unicode: bool) -> None:
    shown = visible(text, unicode=unicode)
    assert shown.isprintable()
    shown.encode("utf-8" if unicode else "ascii")


def test_long_names_lose_their_middle() -> None:
    shown = name("begin" + "x" * 100_000 + "end", SCREEN)
    assert len(shown) == NAME_LIMIT
    assert shown.startswith("begin") and shown.endswith("end") and "…" in shown
    assert shorten("abcdefgh", 5) == "ab…gh"


@given(st.text(), st.integers(1, 50), st.integers(1, 50))
def test_exact_lines_hold_every_character(text: str, width: int, rest: int) -> None:
    text = visible(text)
    pieces = [text[start:end] for start, end in spans(text, width, rest, exact=True)]
    assert "".join(pieces) == text


@given(st.text(), st.integers(2, 50))
def test_wrapped_lines_fit_and_lose_only_spaces(text: str, width: int) -> None:
    text = visible(text)
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in lines)


def test_names_break_after_their_signs() -> None:
    assert wrap("generator/conv2d_transpose/Conv2D", 20) == ["generator/conv2d_", "transpose/Conv2D"]
    assert wrap("one two three", 8) == ["one two", "three"]


def test_a_percent_sign_stays_with_its_number() -> None:
    assert wrap("takes 39 % of it", 8) == ["takes", "39 % of", "it"]
    assert wrap("takes 39 % of it", 9) == ["takes", "39 % of", "it"]
    assert wrap("100 %", 4) == ["100", "%"]  # where it must be


def test_code_breaks_where_code_may() -> None:
    code = "    images = x_train[indexes].reshape(batch_size, 28, 28, 1)"
    assert [code[start:end] for start, end in spans(code, 40, 34, exact=True)] == [
        "    images = x_train[indexes].reshape(",
        "batch_size, 28, 28, 1)",
    ]


def test_source_is_dedented_together_and_keeps_the_rest() -> None:
    assert clean_source(["\tif x:\n", "\n", "\t\ty = '\x1b'  \r\n"]) == ["if x:", "", "    y = '\\x1b'"]


def test_highlighting_does_not_change_the_text() -> None:
    lines = ["def f(x):", "    '''Two", "    lines.'''", "", "    return x  # [bold]"]
    texts = highlight(lines, "python")
    assert [text.plain for text in texts] == lines
    assert any(span.style == "green" for span in texts[2].spans), "a string over two lines is one string"
    assert [text.plain for text in highlight(lines, "no such language")] == lines


def test_paths_are_shown_short_where_they_stay_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "project"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert short_path(f"{here}/src/train.py") == "src/train.py"
    assert short_path(f"{tmp_path}/other/train.py") == "~/other/train.py"
    assert short_path(f"{tmp_path}-other/train.py") == f"{tmp_path}-other/train.py"
    assert short_path("/usr/lib/x.py") == "/usr/lib/x.py"
    assert short_path("<stdin>") == "<stdin>"
    assert short_path("train.py") == "train.py"
    assert short_path(str(here)) == "."
    assert short_path(f"{here}/..data/x.py") == "..data/x.py"
    assert place(SourceSpan(f"{here}/train.py", 57, "main"), SCREEN) == "train.py:57 (main)"
    assert place(SourceSpan("<string>", 0), SCREEN) == "<string>"
    assert location(f"{here}/train.py:57", SCREEN) == "train.py:57"
    assert location(f"{here}/train.py:57 (main)", SCREEN) == "train.py:57 (main)"
    assert location(f"{here}/train.py", SCREEN) == "train.py"
    assert with_short_paths(f"loop at {here}/train.py:88, in {here}") == f"loop at train.py:88, in {here}"


def test_a_vanished_directory_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert short_path("/usr/lib/x.py") == "/usr/lib/x.py"


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "on_terminal", "elsewhere"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colour_is_for_those_who_want_it(environ: dict[str, str], on_terminal: bool, elsewhere: bool) -> None:
    assert terminal_of(Tty(), environ).color is on_terminal
    assert terminal_of(io.StringIO(), environ).color is elsewhere


@pytest.mark.parametrize(
    ("columns", "width"),
    [("132", 132), ("", 100), ("0", 100), ("-3", 100), ("wide", 100), ("7", 40), ("9" * 5000, 100), ("²", 100)],
)
def test_the_width_of_a_pipe(columns: str, width: int) -> None:
    assert terminal_of(io.StringIO(), {"COLUMNS": columns}).width == width


@pytest.mark.parametrize(
    ("encoding", "unicode"), [("utf-8", True), ("UTF8", True), ("ascii", False), ("latin-1", False), ("cp437", False)]
)
def test_only_unicode_streams_get_unicode(encoding: str, unicode: bool) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert terminal_of(file, {}).unicode is unicode


def test_a_closed_stream_is_no_terminal() -> None:
    file = io.StringIO()
    file.close()
    assert terminal_of(file, {}) == Screen(width=100, color=False, unicode=True)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("tracing 0.118 s of it", 13, ["tracing", "0.118 s of it"]),
        ("waited for 12 ms", 13, ["waited for", "12 ms"]),
        ("up to 3.2 GiB/s there", 9, ["up to", "3.2 GiB/s", "there"]),
        ("it took 97.9 % of it", 12, ["it took", "97.9 % of it"]),
        ("after 12 steps", 8, ["after 12", "steps"]),  # no unit
        ("123456789 ms", 9, ["123456789", "ms"]),  # it must be
    ],
)
def test_a_number_stays_with_its_unit(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


def test_a_short_path_starts_where_it_is_shortest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "project"
    here.mkdir()
    monkeypatch.chdir(here)
    script = str(here / "examples" / "gan")
    assert short_path(f"{script}/train.py", script) == "train.py"
    assert short_path(f"{here}/x.py", script) == "x.py"
    assert short_path(f"{tmp_path}/else/x.py", str(tmp_path / "else")) == "x.py"
    assert with_short_paths(f"at {script}/train.py:8", script) == "at train.py:8"


def test_paths_below_a_folder_with_a_space_are_short_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "my project"
    (here / "gan").mkdir(parents=True)
    monkeypatch.chdir(here)
    text = f"the loop at {here}/gan/train.py:101, like {here}/other.py:3"
    assert with_short_paths(text, f"{here}/gan") == "the loop at train.py:101, like other.py:3"
    assert with_short_paths(text) == "the loop at gan/train.py:101, like other.py:3"
    assert with_short_paths("/a b/c.py:3") == "/a b/c.py:3"
