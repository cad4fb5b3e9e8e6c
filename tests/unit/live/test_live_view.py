"""The live view: from the lines of a run's streams to four lines on a screen, and to a terminal's bytes."""

from __future__ import annotations

import os
import pty
import re
import struct
import termios
from fcntl import ioctl
from pathlib import Path

import msgspec
import pytest
from rich.text import Text

from tfperfkit.live.bottom import Bottom, can_draw
from tfperfkit.live.progress import Progress
from tfperfkit.live.view import HEIGHT, View, panel
from tfperfkit.records.steps import Loop, Marker, Site
from tfperfkit.report.terminal import Screen
from tfperfkit.storage.run_directory import RECORDS

MS = 1_000_000


def line(stream: str, item: object) -> bytes:
    return msgspec.json.encode([stream, item])


def event(kind: str, **fields: object) -> bytes:
    return line("session/events", {"kind": kind, **fields})


def progress_of(*lines: bytes) -> Progress:
    made = Progress()
    for content in lines:
        made.line(content)
    return made


SITE = Site(id=1, kind="call", target=1, name="step", file="a.py", line=9, loops=(Loop("a.py", 8),), batch_size=32)
SITES = [line("session/sites", SITE)]


def markers(count: int, each_ms: int = 20) -> list[bytes]:
    calls = [Marker(1, number * each_ms * MS, (number * each_ms + 15) * MS) for number in range(count)]
    return [line("session/markers", marker) for marker in calls]


@pytest.mark.parametrize("count", [3, 31, 200, 9000])
def test_steps_are_counted_and_their_median_is_recent(count: int) -> None:
    made = progress_of(event("agent"), *SITES, *markers(count))
    assert count - 1 <= made.steps.count <= count
    rows = [row.plain for row in panel(made, 62.0, Screen(width=100))]
    assert len(rows) == HEIGHT
    assert f"step {made.steps.count:,}" in rows[1] and "20.0 ms" in rows[1] and "1,600 examples/s" in rows[1]
    assert rows[1].endswith("1:02") and rows[3] == "warm-up"


def test_parts_are_those_since_the_warm_up() -> None:
    stacks = [line("session/samples", ["stack", 1, [], "", "python", ""])]
    stacks.append(line("session/samples", ["stack", 2, [], "", "graph", ""]))
    rate = line("session/samples", ["rate", 0, 10 * MS])
    seen = [line("session/samples", ["s", 0, number, 7]) for number in (1, 1, 1, 1)]
    since = [line("session/samples", ["s", 0, number, 7]) for number in (2, 2, 2, 1)]
    made = progress_of(event("agent"), rate, *stacks, *seen, event("warm", step=3), *since)
    assert made.parts_ms == {"graph": 30.0, "python": 10.0}
    assert "graph 75 %" in panel(made, 1.0, Screen(width=80))[2].plain


def test_of_one_step_there_is_no_median() -> None:
    rows = [row.plain for row in panel(progress_of(event("agent"), *SITES, *markers(1)), 1.0, Screen(width=80))]
    assert rows[1].startswith("step 1 · 15.0 ms (the first)")


def test_what_imports_take_is_called_imports() -> None:
    body = ["train.py", 1, "<module>", 3, [3, 3, 0, 9], "keras:<module>", "keras.saving:<module>"]
    stack = line("session/samples", ["stack", 1, [body], "python", "saving", ""])
    rate, seen = line("session/samples", ["rate", 0, 10 * MS]), line("session/samples", ["s", 0, 1, 7])
    made = progress_of(event("agent"), rate, stack, seen)
    rows = [row.plain for row in panel(made, 1.0, Screen(width=80))]
    assert "imports 100 %" in rows[2] and "saving" not in rows[2]


def test_windows_open_and_close() -> None:
    made = progress_of(event("agent"), event("warm", step=3), event("window", probe="lines", step=20, steps=28))
    assert panel(made, 1.0, Screen())[3].plain == "window of lines is open, steps 20 to 47"
    made.line(event("window_end", probe="lines", step=48))
    assert panel(made, 1.0, Screen())[3].plain == "clean steps"


def test_retraces_name_the_worst() -> None:
    between = [*SITES, *markers(4)]
    traced = [line("session/traces", ["/x/a.py", 9, "step", (20 * n + 1) * MS, (20 * n + 10) * MS]) for n in range(4)]
    made = progress_of(*between, *traced, line("session/traces", ["/x/a.py", 20, "other", 0, 1]))
    assert "3 retraces (step, a.py:9)" in panel(made, 1.0, Screen())[3].plain
    one = progress_of(*traced[:2], *between)  # streams come in any order
    assert "1 retrace (step" in panel(one, 1.0, Screen())[3].plain


def test_variables_made_in_the_first_call_are_no_retrace() -> None:
    """TensorFlow traces such a function a second time within its first call."""
    traced = [line("session/traces", ["/x/a.py", 9, "step", begin * MS, (begin + 2) * MS]) for begin in (1, 4)]
    made = progress_of(*SITES, *markers(4), *traced)
    assert made.traces.total() == 2 and not made.retraces
    assert "retrace" not in panel(made, 1.0, Screen())[3].plain


@pytest.mark.parametrize("width", [40, 80, 140])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_screen_and_names_are_harmless(width: int, unicode: bool) -> None:
    hostile = "\x1b[2J\x1b]0;title\x07" + "ü" * 300
    traced = [line("session/traces", [hostile, 9, hostile, 0, 1])] * 3
    made = progress_of(*traced, event("window", probe=hostile, step=20, steps=28))
    rows = panel(made, 1.0, Screen(width=width, unicode=unicode))
    assert all(row.cell_len <= width and row.plain.isprintable() for row in rows)
    assert unicode or all(row.plain.isascii() for row in rows)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'["session/events"',
        b'["session/events",7]',
        b'["session/samples",["s"]]',
        b'["session/markers",[99,0,1,1]]',
        b'["session/markers",["a",0]]',
        b'["session/traces",[]]',
        b'["session/sites",{}]',
        b'["other/stream",{}]',
        b"\xff\xfe",
    ],
)
def test_a_line_that_is_none_is_passed_over(content: bytes) -> None:
    made = progress_of(content)
    assert (made.steps.count, made.retraces.total(), made.phase) == (0, 0, "starting")


@pytest.fixture
def terminal() -> tuple[int, int]:
    outer, inner = pty.openpty()
    ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return outer, inner


def arrived(outer: int, ending: str, times: int) -> str:
    """Return the text written to the terminal, which takes its time to come through: until ``ending`` came so often."""
    told = ""
    while told.count(ending) < times:
        told += os.read(outer, 65536).decode()
    return told


def test_the_region_is_made_once_and_given_back(terminal: tuple[int, int]) -> None:
    outer, inner = terminal
    with os.fdopen(inner, "w") as file:
        bottom = Bottom(file, HEIGHT)
        for _ in range(2):
            bottom.draw([Text("x")] * HEIGHT, Screen(width=80))
        told = arrived(outer, "\x1b8", 3)
        assert told.count("\x1b[1;20r") == 1 and told.count("\x1b[21;1H\x1b[2Kx") == 2
        # Each drawing leaves the cursor where the script has it.
        assert told.count("\x1b7") == 3 and told.endswith("\x1b8")
        ioctl(file.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 30, 80, 0, 0))
        bottom.draw([Text("x")] * HEIGHT, Screen(width=80))
        told = arrived(outer, "\x1b8", 3)
        assert "\x1b[21;1H\x1b[2K\x1b[22;1H" in told and "\x1b[1;26r" in told
        bottom.close()
        assert arrived(outer, "\x1b8", 1).endswith("\x1b[r\x1b8")
        ioctl(file.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 6, 80, 0, 0))
        small = Bottom(file, HEIGHT)
        small.draw([Text("x")] * HEIGHT, Screen(width=80))
        small.close()
        os.write(file.fileno(), b"end")
        assert arrived(outer, "end", 1) == "end"
    os.close(outer)


def test_nothing_is_drawn_in_pipes_or_on_a_terminal_that_can_not(tmp_path: Path, terminal: tuple[int, int]) -> None:
    with (tmp_path / "file").open("w") as file:
        assert not can_draw(file, {"TERM": "xterm"})
        view = View(tmp_path, file)
        view.look()
        view.close()
        assert file.tell() == 0
    assert not can_draw(None, {"TERM": "xterm"})
    with os.fdopen(terminal[1], "w") as file:
        assert not can_draw(file, {"TERM": "dumb"}) and not can_draw(file, {})
        assert not can_draw(file, {"TERM": "xterm"})  # a terminal, but not the one that we are in the foreground of
    os.close(terminal[0])


def test_it_reads_on_where_it_stopped(tmp_path: Path) -> None:
    view = View(tmp_path, None)
    view.read()
    content = b"\n".join([event("agent"), *SITES, *markers(40)]) + b"\n"
    for part in re.findall(rb".{1,97}", content, re.DOTALL):
        with (tmp_path / RECORDS).open("ab") as file:
            file.write(part)
        view.read()
    assert view.progress.steps.count >= 39
    view.close()
