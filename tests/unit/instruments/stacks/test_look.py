"""Stacks of threads: the same by C code and by Python, and of threads that won't stand still."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tfperfkit.instruments.stacks import look as module

WAYS = [
    pytest.param(module._by_python, id="python"),
    pytest.param(
        module.look,
        id="c",
        marks=pytest.mark.skipif(
            module.look is module._by_python, reason="_look.c could not be built where tfperfkit was installed"
        ),
    ),
]
ways = pytest.mark.parametrize("look", WAYS)
Look = Callable[[int, dict[bytes, Any]], Any]


@contextmanager
def standing(depth: int) -> Iterator[int]:
    """Start a thread that waits for a lock below so many calls of ``deep``."""
    there, lock = threading.Event(), threading.Lock()

    def deep(left: int) -> None:
        if left:
            deep(left - 1)
        else:
            there.set()
            lock.acquire()

    lock.acquire()
    thread = threading.Thread(target=deep, args=(depth,))
    thread.start()
    there.wait()
    try:
        yield thread.ident or 0
    finally:
        lock.release()
        thread.join()


@ways
@pytest.mark.parametrize("depth", [0, 5, 63, 64, 700])
def test_a_new_stack_is_described(look: Look, depth: int) -> None:
    with standing(depth) as thread:
        key, codes, instructions = look(thread, {})
        frame, found = sys._current_frames()[thread], []
        while frame is not None:
            found.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back  # type: ignore[assignment]
        assert list(zip(codes, instructions, strict=True)) == found
        assert [code.co_name for code in codes].count("deep") == depth + 1
        assert key and isinstance(key, bytes)


@ways
def test_a_known_one_is_found_again(look: Look) -> None:
    with standing(3) as thread, standing(4) as other:
        key, codes, _ = look(thread, {})
        known = {key: "this"}
        assert [look(thread, known) for _ in range(3)] == ["this"] * 3
        assert look(other, known)[0] != key
        assert known == {key: "this"} and codes


@ways
def test_a_thread_that_is_gone_has_no_frames(look: Look) -> None:
    with standing(1) as thread:
        pass
    assert look(thread, {}) == (b"", [], [])


@ways
def test_generators_and_comprehensions_are_frames_too(look: Look) -> None:
    seen: list[Any] = []

    def numbers() -> Iterator[int]:
        yield len(seen)
        seen.append(look(threading.get_ident(), {}))

    for _ in numbers():
        assert not seen
    names = [code.co_name for code in seen[0][1]]
    # Python's own way has a frame of itself on top.
    assert names[names.index("numbers") :][:2] == ["numbers", sys._getframe().f_code.co_name]


@ways
def test_threads_that_come_go_and_raise_meanwhile(look: Look) -> None:
    stop = threading.Event()

    def climb(left: int) -> int:
        if left == 0:
            raise LookupError
        return sum(climb(left - 1) for _ in range(1))

    def work() -> None:
        while not stop.is_set():
            try:
                climb(left=40)
            except LookupError:
                threading.Thread(target=dict).start()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    known: dict[bytes, Any] = {}
    names = set()
    try:
        for turn in range(20_000):
            found = look(workers[turn % 3].ident or 0, known)
            if type(found) is tuple:
                names |= {code.co_name for code in found[1]}
                known[found[0]] = list(found[1:])  # keeps the code objects, whose addresses are in the key
            else:
                codes, instructions = found
                assert len(codes) == len(instructions)
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert {"work", "run"} <= names and known


_COLLECTED_MEANWHILE = """
import gc, sys, threading
from tfperfkit.instruments.stacks import look
from tfperfkit.launch import child

class Ring:
    pass

def litter():
    ring = Ring()
    ring.itself, ring.local = ring, threading.local()

def wait(event, depth):
    return event.wait() if depth == 0 else wait(event, depth - 1)

for frames in (look.frames, look._frames_by_python, child._frames):
    event = threading.Event()
    threads = [threading.Thread(target=wait, args=(event, 3), daemon=True) for _ in range(60)]
    for thread in threads:
        thread.start()
    gc.collect()
    gc.set_threshold(40)
    litter()
    found = frames()
    gc.set_threshold(700)
    assert gc.isenabled() and {thread.ident for thread in threads} <= set(found)
    gc.disable()
    frames()
    assert not gc.isenabled()
    gc.enable()
    event.set()
"""


def test_no_garbage_is_collected_while_python_holds_its_list_of_threads() -> None:
    """Python 3.11 would wait for ever where a ``threading.local`` is in it."""
    subprocess.run([sys.executable, "-c", _COLLECTED_MEANWHILE], check=True, timeout=60)
