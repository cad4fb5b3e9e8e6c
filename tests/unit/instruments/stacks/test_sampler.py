"""The stack sampler, on a real thread that stands still at known lines."""

from __future__ import annotations

import _thread
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from tfperfkit.instruments.stacks import sampler as module
from tfperfkit.instruments.stacks.sampler import RARE_S, USUAL_S, Sampler, interval_s, line_of
from tfperfkit.records.samples import FAST_S, Frame, read_log


class Standing:
    """A thread that waits inside ``outer`` → ``inner``, at one of two lines."""

    def __init__(self) -> None:
        self.go, self.there, self.end = threading.Event(), threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.outer)

    def outer(self) -> None:
        self.inner()

    def inner(self) -> None:
        self.there.set()
        self.go.wait()  # first line
        self.there.set()
        self.end.wait()  # second line


@contextmanager
def standing() -> Iterator[Standing]:
    found = Standing()
    found.thread.start()
    found.there.wait()
    try:
        yield found
    finally:
        found.go.set()
        found.end.set()
        found.thread.join()


def rows_of(rows: list[Any], kind: str) -> list[Any]:
    return [row for row in rows if row[0] == kind]


def settled(thread: int, function: str) -> None:
    """Until the thread waits below ``function``, no deeper than it will."""
    before: list[int] = []
    for _ in range(200):
        frame: FrameType | None = sys._current_frames()[thread]
        now = []
        while frame is not None:
            now.append(frame.f_lasti)
            frame = frame.f_back
        if now == before:
            return
        before = now
        threading.Event().wait(0.01)
    raise AssertionError(f"{function} does not stand still")


def test_a_stack_is_written_once_and_counted_each_time() -> None:
    rows: list[Any] = []
    sampler = Sampler(rows.append, lambda name: name == __file__)
    with standing() as found:
        thread = found.thread.ident or 0
        settled(thread, "inner")
        for when in (1, 2, 3):
            sampler.take(when, thread)
        found.there.clear()
        found.go.set()
        found.there.wait()
        settled(thread, "inner")
        sampler.take(4, thread)
    stacks = rows_of(rows, "stack")
    assert [row[1] for row in rows_of(rows, "s")] == [1, 2, 3, 4]
    assert [row[2] for row in rows_of(rows, "s")] == [1, 1, 1, 2]
    lines = open(__file__).read().splitlines()
    innermost = [stack[2][-1] for stack in stacks]
    assert [lines[line - 1].partition("# ")[2] for _, _, _, line, *_ in innermost] == ["first line", "second line"]
    assert [[frame[2] for frame in stack[2]] for stack in stacks] == [["outer", "inner"]] * 2
    assert sampler.samples == 4
    assert {function[2]: count for function, count in sampler.hits().items()} == {"outer": 4, "inner": 4}


def test_a_frame_tells_its_expression_and_what_it_called_of_libraries() -> None:
    """``wait`` is Python's own: two of its functions are below ``inner``, none below ``outer``."""
    rows: list[Any] = []
    with standing() as found:
        settled(found.thread.ident or 0, "inner")
        Sampler(rows.append, lambda name: name == __file__).take(1, found.thread.ident or 0)
    ((_, _, (outer, inner), *_),) = rows_of(rows, "stack")
    assert not outer[5:]
    assert list(inner[5:]) == ["threading:wait", "threading:wait"]  # Event.wait, Condition.wait
    if sys.version_info >= (3, 11):
        line, last, begin, end = inner[4]
        assert line == last == inner[3]
        assert open(__file__).read().splitlines()[line - 1][begin:end] == "self.go.wait()"


def test_stacks_are_read_back_as_they_were_written_and_older_ones_too() -> None:
    rows: list[Any] = []
    with standing() as found:
        settled(found.thread.ident or 0, "inner")
        Sampler(rows.append, lambda name: name == __file__).take(1, found.thread.ident or 0)
    older = ["stack", 2, [["train.py", 1, "main", 9]], "keras"]
    (_, new), (_, old) = read_log([*rows, older, ["s", 2, 2, 7]]).inside([(0, 9)])
    assert new.frames[-1].calls == ("threading:wait", "threading:wait") and new.frames[0].calls == ()
    assert (new.frames[-1].span is None) == (sys.version_info < (3, 11))
    assert old.frames == (Frame("train.py", 1, "main", 9, None, None),)


def test_what_was_hot_before_is_reported_apart() -> None:
    sampler = Sampler(lambda row: None, lambda name: name == __file__)
    with standing() as found:
        thread = found.thread.ident or 0
        sampler.take(1, thread)
        sampler.forget_hits()
        assert (sampler.samples, sampler.hits()) == (0, {})
        assert {function[2]: count for function, count in sampler.earlier().items()} == {"outer": 1, "inner": 1}
        assert {code.co_name for code in sampler.codes.values()} == {"outer", "inner"}


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 1)
    rows: list[Any] = []
    sampler = Sampler(rows.append, lambda name: name == __file__)
    with standing() as found:
        thread = found.thread.ident or 0
        settled(thread, "inner")
        for _ in range(3):
            sampler.take(1, thread)
            sampler.take(1, threading.get_ident())
        assert len(sampler._known) == 1
    # Forgotten and read again, a stack keeps its number.
    assert len({tuple(map(tuple, row[2])) for row in rows_of(rows, "stack")}) == len(rows_of(rows, "stack"))


def test_stacks_are_counted_no_further_than_the_limit() -> None:
    rows: list[Any] = []
    sampler = Sampler(rows.append, lambda name: name == __file__, max_stacks=0)
    with standing() as found:
        sampler.take(1, found.thread.ident or 0)
    assert rows == []
    assert sampler.samples == 0


def test_a_thread_that_is_gone_is_an_empty_stack() -> None:
    sampler = Sampler(lambda row: None, lambda name: True)
    assert sampler.take(1, -1) == ("", False)
    assert sampler.hits() == {}


def test_lines_are_those_of_the_frames() -> None:
    def lines() -> Iterator[tuple[int, int, int]]:
        frame = sys._getframe()
        code = frame.f_code
        yield frame.f_lineno, frame.f_lasti, line_of(code, frame.f_lasti)
        for _ in range(2):
            yield frame.f_lineno, frame.f_lasti, line_of(code, frame.f_lasti)

    found = list(lines())
    assert [line for line, _, _ in found] == [told for _, _, told in found]
    assert line_of(test_lines_are_those_of_the_frames.__code__, -1) == (
        test_lines_are_those_of_the_frames.__code__.co_firstlineno
    )


def test_a_jump_without_a_line_is_at_the_line_that_jumps_to_it() -> None:
    loop = ["for line in lines:", "  for word in line:", "    if word not in seen:", "      seen.append(word)"]
    text = ['"""text"""', *loop]
    code = compile("\n".join(text), "words.py", "exec")
    nowhere = [begin for begin, _, line in code.co_lines() if line is None]
    assert all(line_of(code, at) == 4 for at in nowhere)
    loops = [begin for begin, _, line in code.co_lines() if line is None or line > 1]
    assert {line_of(code, at) for at in loops} == {2, 3, 4, 5}


@pytest.mark.parametrize(
    ("age_s", "shares", "pause"),
    [
        (0, True, FAST_S),
        (29, True, FAST_S),
        (31, True, USUAL_S),
        (1, False, USUAL_S),
        (200, False, 0.1),
        (400, True, 0.2),
        (601, True, RARE_S),
    ],
)
def test_samples_are_dense_only_while_shares_are_drawn_from_them(age_s: int, shares: bool, pause: float) -> None:
    assert interval_s(age_s * 10**9, shares) == pause


class Pipe:
    """Letting go of it waits, in C alone, until the other end is read, as a dataset's iterator for its threads."""

    def __init__(self) -> None:
        self.out, end = os.pipe()
        self.full = open(end, "wb", buffering=1 << 20)
        self.full.write(b"x" * 300_000)  # more than a pipe holds, less than its buffer

    def drain(self) -> None:
        with open(self.out, "rb") as file:
            while file.read(1 << 16):
                pass


@pytest.mark.parametrize(("ran", "doing"), [(lambda when: 5_000_000, "waiting"), (lambda when: when, "python")])
def test_a_thread_that_waits_while_an_object_goes_does_no_python(ran: Callable[[int], int], doing: str) -> None:
    """The reader of the clock alone is made: whether the thread had a processor meanwhile."""
    rows: list[Any] = []
    when = 0
    sampler = Sampler(rows.append, lambda name: name == __file__, lambda: ran(when))
    sampler._main = threading.get_ident()
    pipe = Pipe()

    def watch(thread: int) -> None:
        nonlocal when
        while sys._current_frames()[thread].f_lineno != here:
            time.sleep(0.01)
        time.sleep(0.1)  # it is in the call, or about to be
        for when in range(10_000_000, 60_000_000, 10_000_000):
            sampler.take(when, thread)
        pipe.drain()

    here = next(n for n, text in enumerate(open(__file__).read().splitlines(), 1) if text.endswith("# it goes here"))
    full, pipe.full = pipe.full, None  # type: ignore[assignment]
    watcher = threading.Thread(target=watch, args=(sampler._main,))
    watcher.start()
    del full  # it goes here
    watcher.join()
    stacks = {row[1]: (row[2][-1][3], row[4]) for row in rows_of(rows, "stack")}
    seen = [stacks[row[2]] for row in rows_of(rows, "s")]
    assert {line for line, _ in seen} == {here}
    assert [activity for _, activity in seen] == ["python", *[doing] * 4]


class Holder:
    held: Any = None


def _returns(given: list[Any], each: Callable[[], None]) -> None:
    held = given.pop()  # freed as it returns
    each()
    each()
    each()
    assert held


@pytest.mark.parametrize("way", ["attribute", "return"])
def test_a_wait_where_an_attribute_or_a_variable_goes(way: str) -> None:
    rows: list[Any] = []
    sampler = Sampler(rows.append, lambda name: name == __file__, lambda: 5)
    sampler._main = threading.get_ident()
    pipe, holder = Pipe(), Holder()
    given, pipe.full = [pipe.full], None  # type: ignore[assignment]
    begin = threading.Event()

    def watch(thread: int) -> None:
        begin.wait()
        time.sleep(0.1)
        for when in range(10_000_000, 60_000_000, 10_000_000):
            sampler.take(when, thread)
        pipe.drain()

    watcher = threading.Thread(target=watch, args=(sampler._main,))
    watcher.start()
    if way == "return":
        _returns(given, lambda: (sampler.take(0, sampler._main), begin.set())[1])
    else:
        holder.held = given.pop()
        begin.set()
        holder.held = None
    watcher.join()
    stacks = {row[1]: row[4] for row in rows_of(rows, "stack")}
    assert [stacks[row[2]] for row in rows_of(rows, "s")][-5:] == ["python", *["waiting"] * 4]


def test_a_thread_that_waits_in_a_call_is_counted_as_before() -> None:
    rows: list[Any] = []
    sampler = Sampler(rows.append, lambda name: name == __file__, lambda: 5)
    with standing() as found:
        sampler._main = found.thread.ident or 0
        settled(sampler._main, "inner")
        for when in (10, 20, 30):
            sampler.take(when * 1_000_000, sampler._main)
    assert {row[4] for row in rows_of(rows, "stack")} == {"python"}


def test_a_thread_beside_is_a_row_of_its_own_and_counts_for_no_share() -> None:
    rows: list[Any] = []
    sampler = Sampler(rows.append, lambda name: name == __file__)
    with standing() as found:
        thread = found.thread.ident or 0
        settled(thread, "inner")
        sampler.beside(5, [thread, -1])
    assert [row[:2] for row in rows_of(rows, "beside")] == [["beside", 5]]
    assert sampler.samples == 0 and not read_log(rows).inside([(0, 9)])
    ((_, stack),) = read_log(rows, "beside").inside([(0, 9)])
    assert [frame.name for frame in stack.frames] == ["outer", "inner"]


def test_a_thread_in_which_nothing_of_the_person_s_runs_is_no_row() -> None:
    rows: list[Any] = []
    with standing() as found:
        Sampler(rows.append, lambda name: False).beside(5, [found.thread.ident or 0])
    assert not rows_of(rows, "beside")


def test_of_a_thread_that_waits_the_one_that_works_meanwhile_is_a_row() -> None:
    rows: list[Any] = []
    sampler, until = Sampler(rows.append, lambda name: name == __file__), threading.Event()

    def works() -> None:
        while not until.is_set():
            time.sleep(0.001)

    worker = threading.Thread(target=works)
    with standing() as found:
        thread = found.thread.ident or 0
        settled(thread, "inner")
        worker.start()
        settled(thread, "inner")
        sampler.awaited(5, thread)
        sampler.awaited(6, worker.ident or 0)  # it does not wait
        until.set()
        worker.join()
    assert [row[1] for row in rows_of(rows, "awaited")] == [5]
    ((_, stack),) = read_log(rows, "awaited").inside([(0, 9)])
    assert stack.frames[-1].name == "works"


def test_of_threads_that_all_wait_those_beside_are_rows() -> None:
    rows: list[Any] = []
    sampler, box = Sampler(rows.append, lambda name: name == __file__), queue.Queue[int]()

    def gathers() -> None:
        box.get(timeout=100)

    gathering = threading.Thread(target=gathers)
    with standing() as found:
        thread = found.thread.ident or 0
        settled(thread, "inner")
        gathering.start()
        for when in range(10_000):
            sampler.awaited(when, thread)
            if rows_of(rows, "standing"):
                break
            time.sleep(0.001)
        box.put(1)
        gathering.join()
    ((_, stack),) = read_log(rows, "standing").inside([(0, 10_000)])
    assert stack.frames[-1].name == "gathers" and stack.frames[-1].calls == ("queue:get", "threading:wait")
    assert sampler.samples == 0


def test_a_thread_on_which_python_is_called_is_a_row_and_one_that_python_started_is_none() -> None:
    rows: list[Any] = []
    sampler, gate = Sampler(rows.append, lambda name: name == __file__), _thread.allocate_lock()
    gate.acquire()

    def made() -> None:
        gate.acquire()
        gate.release()

    started = threading.Thread(target=made)
    with standing() as found:
        thread = found.thread.ident or 0
        settled(thread, "inner")
        started.start()
        settled(started.ident or 0, "made")
        sampler.awaited(5, thread)
        assert not rows_of(rows, "called")
        other = _thread.start_new_thread(made, ())  # unknown to ``threading``, as are those of TensorFlow's
        while other not in sys._current_frames():
            time.sleep(0.001)
        settled(other, "made")
        sampler.awaited(6, thread)
        gate.release()
        started.join()
    ((_, stack),) = read_log(rows, "called").inside([(0, 9)])
    assert stack.frames[-1].name == "made" and sampler.samples == 0
