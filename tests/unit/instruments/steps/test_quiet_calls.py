"""Markers of known calls by C code: which calls it takes, what it leaves to Python, and that nothing of it is seen."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tfperfkit.instruments.hooks import method_seam
from tfperfkit.instruments.steps import quiet_calls
from tfperfkit.instruments.steps.sites import chain_of

pytestmark = pytest.mark.skipif(
    not quiet_calls.NATIVE, reason="_quiet.c could not be built where tfperfkit was installed"
)


class Noted(NamedTuple):
    site: int
    begin: int
    end: int


class Library:
    """A class with the method that is observed, called from the lines of ``script.py``; ``asked`` are the calls that
    Python was asked about. The first call from a line is taught to C code, as number ``site``."""

    def __init__(self) -> None:
        class Function:
            def __init__(self, does: Callable[..., Any] = lambda *_, **__: None) -> None:
                self.does = does

            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                return self._call(*args, **kwargs)

            def _call(self, *args: Any, **kwargs: Any) -> Any:
                return self.does(*args, **kwargs)

        self.calls: Any = quiet_calls.Calls()
        self.asked: list[Any] = []
        self.noted: list[Noted] = []
        self.late: list[tuple[int, int, int]] = []
        self.site = 7
        self.teaches = True
        self.eager = SimpleNamespace(is_eager=True)
        self.calls.context = {"_context": SimpleNamespace(_thread_local_data=self.eager)}
        self.calls.thread = threading.get_ident()
        self.calls.marker, self.calls.quietly = Noted, self.noted.append
        self.calls.late = lambda *told: self.late.append(told)
        self.function: Any = Function
        self.restore = method_seam.install(
            Function, "_call", self._before, lambda *_: None, quiet_calls.seam_of(self.calls)
        )

    def _before(self, instance: Any) -> None:
        self.asked.append(instance)
        frame = sys._getframe(2)
        depth, chain = chain_of(frame, lambda name: name == "script.py")
        if self.teaches and chain:
            self.calls.remember(id(instance), frame.f_code, frame.f_lasti, depth, chain, self.site)

    def run(self, source: str, **names: Any) -> dict[str, Any]:
        exec(compile(source, "script.py", "exec"), names)
        return names


@pytest.fixture
def library() -> Library:
    return Library()


def test_a_known_call_is_noted_and_python_is_not_asked_again(library: Library) -> None:
    step = library.function(lambda a, *, b: (a, b))
    names = library.run("got = [step(i, b=-i) for i in range(5)]", step=step)
    assert names["got"] == [(i, -i) for i in range(5)]
    assert library.asked == [step]
    assert [row.site for row in library.noted] == [7] * 4
    assert all(row.begin <= row.end for row in library.noted)
    assert all(a.end <= b.begin for a, b in zip(library.noted, library.noted[1:], strict=False))
    assert library.calls.counted(id(step)) == 4 and library.calls.inside == 0 and library.calls.cost_ns > 0


def test_its_markers_and_pythons_wait_in_one_queue(library: Library) -> None:
    queue = quiet_calls.queue(Noted)  # type: ignore[arg-type]
    library.calls.quietly = queue.append
    step = library.function()
    library.run("for i in range(4):\n    step()\n    if i == 2: append('between')", step=step, append=queue.append)
    found: list[Any] = [queue.popleft() for _ in range(len(queue))]
    assert found.pop(2) == "between"  # after the second of three that were noted
    assert [type(row) for row in found] == [Noted] * 3 and [row.site for row in found] == [7] * 3
    assert all(a.begin <= a.end <= b.begin for a, b in zip(found, found[1:], strict=False))
    library.calls.quietly = library.noted.append
    del queue
    library.run("for i in range(2):\n    step()", step=step)
    assert len(library.noted) == 1


def test_each_line_is_a_site_of_its_own_and_so_is_each_way_to_it(library: Library) -> None:
    source = """
def once():
    step()
for _ in range(3):
    step()
    step()
    once()
once()
"""
    step = library.function()
    library.run(source, step=step)
    assert len(library.asked) == 4 and len(library.noted) == 6


def test_what_the_call_raises_is_the_scripts_and_the_call_is_noted(library: Library) -> None:
    def fail() -> None:
        raise KeyError("its own")

    source = """
for _ in range(3):
    try:
        step()
    except KeyError as error:
        seen.append(error)
"""
    seen: list[BaseException] = []
    library.run(source, step=library.function(fail), seen=seen)
    assert len(seen) == 3 and len(library.noted) == 2 and library.calls.inside == 0
    lines = [traceback.format_tb(error.__traceback__) for error in seen]
    assert lines[1] == lines[2] and not any("/tfperfkit/" in line for line in lines[2])
    assert seen[2].__context__ is None


def test_while_each_call_is_reported_python_is_asked(library: Library) -> None:
    step = library.function()
    library.calls.quietly = None
    library.run("for _ in range(3): step()", step=step)
    assert library.asked == [step] * 3 and not library.noted


def test_one_during_whose_call_somebody_begins_to_listen_is_reported(library: Library) -> None:
    def listen() -> None:
        if len(library.asked) and turn.append(0) is None and len(turn) == 3:
            library.calls.quietly = None

    turn: list[int] = []
    library.run("for _ in range(4): step()", step=library.function(listen))
    assert len(library.noted) == 1 and [told[0] for told in library.late] == [7] and len(library.asked) == 2


def test_while_somebody_waits_for_a_call_python_is_asked(library: Library) -> None:
    step = library.function()
    library.run("step()\nfor _ in range(2): step()", step=step)
    library.calls.held = True
    library.run("for _ in range(2): step()", step=step)
    assert len(library.asked) == 4


def test_a_call_within_another_is_pythons(library: Library) -> None:
    inner = library.function()
    outer = library.function(lambda: inner())
    library.run("for _ in range(3): outer()", outer=outer)
    assert library.asked.count(outer) == 1 and library.asked.count(inner) == 3
    assert len(library.noted) == 2


def test_where_a_graph_is_built_python_is_asked(library: Library) -> None:
    step = library.function()
    source = "for eager in (True, True, False, True): local.is_eager = eager; step()"
    library.run(source, step=step, local=library.eager)
    assert len(library.asked) == 2 and len(library.noted) == 2


def test_where_it_can_not_be_told_whether_a_graph_is_built_python_is_asked(library: Library) -> None:
    library.calls.context = {}
    library.run("for _ in range(3): step()", step=library.function())
    assert len(library.asked) == 3 and not library.noted


def test_a_thread_that_trains_on_the_side_is_passed_by_once_it_is_known(library: Library) -> None:
    step = library.function(lambda: done.append(0))
    done: list[int] = []

    def aside() -> None:
        library.run("step()\nstep()\nelsewhere()\nfor _ in range(3): step()", step=step, elsewhere=tell)

    def tell() -> None:
        library.calls.elsewhere()

    for _ in range(2):  # a second thread may get the identity of the first, and is asked about again
        asked = len(library.asked)
        thread = threading.Thread(target=aside)
        thread.start()
        thread.join()
        assert len(library.asked) == asked + 2
    assert len(done) == 10 and not library.noted


def test_what_is_forgotten_is_asked_again_and_stays_counted(library: Library) -> None:
    step = library.function()
    library.run("for _ in range(3): step()\nforget(id(step))\nstep()", step=step, forget=library.calls.forget)
    assert len(library.asked) == 2 and library.calls.counted(id(step)) == 2
    library.calls.drop(id(step))
    assert library.calls.counted(id(step)) == 0


def test_a_function_of_no_interest_leaves_nothing_until_it_is_forgotten(library: Library) -> None:
    step = library.function(lambda: 3)
    library.calls.pass_by(id(step))
    assert library.run("got = [step() for _ in range(3)]", step=step)["got"] == [3] * 3
    assert not library.asked and not library.noted
    library.calls.forget(id(step))
    library.run("step()", step=step)
    assert library.asked == [step]


def test_more_lines_than_are_kept_are_pythons(library: Library) -> None:
    step = library.function()
    library.run("for _ in range(4):\n" + "    step()\n" * 5, step=step)
    assert len(library.asked) + len(library.noted) == 20 and len(library.asked) > 5


def test_a_marker_that_can_not_be_noted_is_lost_and_nothing_else(library: Library) -> None:
    def full(_: Any) -> None:
        raise MemoryError

    library.calls.quietly = full
    assert library.run("got = [step() for _ in range(3)]", step=library.function(lambda: 1))["got"] == [1] * 3


def test_what_is_looked_up_on_the_class_and_after_the_end_is_the_original(library: Library) -> None:
    seam = vars(library.function)["_call"]
    assert library.function._call is seam.original
    library.restore()
    assert vars(library.function)["_call"] is seam.original


def test_where_all_instances_are_alike_a_new_one_is_known_and_calls_within_count(library: Library) -> None:
    library.restore()
    make = quiet_calls.seam_of(library.calls, shared=True)

    def before(instance: Any) -> None:
        library.asked.append(instance)
        frame = sys._getframe(2)
        library.calls.remember(0, frame.f_code, frame.f_lasti, *chain_of(frame, lambda name: name == "script.py"), 3)

    class Batches:
        left = 3

        def __iter__(self) -> Any:
            return self

        def __next__(self) -> int:
            self.left -= 1
            if self.left < 0:
                raise StopIteration
            return inner()

    inner = library.function(lambda: 5)
    method_seam.install(Batches, "__next__", before, lambda *_: None, make)
    source = "got = []\nfor _ in range(2):\n    for batch in batches(): got.append(batch)"
    assert library.run(source, batches=Batches)["got"] == [5] * 6
    assert len(library.asked) == 1 and [row.site for row in library.noted] == [3] * 7  # the last of each tells the end
    assert library.calls.inside == 0
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.extend(library.run("got = list(batches())", batches=Batches)["got"]))
    thread.start()
    thread.join()
    assert got == [5] * 3 and len(library.asked) == 1 and len(library.noted) == 7  # not the training thread


class EagerContextThreadLocalData:
    is_eager = True


class Other:
    is_eager = True


@pytest.mark.parametrize(
    "names, known",
    [
        ({"_context": SimpleNamespace(_thread_local_data=EagerContextThreadLocalData())}, True),
        ({"_context": SimpleNamespace(_thread_local_data=Other())}, False),
        ({"_context": SimpleNamespace(local=EagerContextThreadLocalData())}, False),
        ({"_context": None}, False),
        ({}, False),
    ],
)
@pytest.mark.parametrize("eager", [True, False])
def test_where_tensorflow_says_whether_it_runs_eagerly(names: dict[str, Any], known: bool, eager: bool) -> None:
    context = SimpleNamespace(**names, executing_eagerly=lambda: eager)
    assert quiet_calls.names_of(context) == (vars(context) if known and eager else None)


@pytest.mark.parametrize("chain", [(), ((1, 2),), ("x",), tuple((sys._getframe().f_code, i) for i in range(13))])
def test_what_can_not_be_remembered(library: Library, chain: Any) -> None:
    code = sys._getframe().f_code
    try:
        assert library.calls.remember(1, code, 0, 0, chain, 1) is False
    except TypeError:
        assert chain
