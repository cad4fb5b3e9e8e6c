"""While one thread waits for another one, the other is looked at: with real threads."""

from __future__ import annotations

import asyncio
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tfperfkit.instruments.stacks.worker_thread import Workers


def is_user(name: str) -> bool:
    return name == __file__


def seen(waits: Callable[[], object], until: threading.Event, looks: int = 10_000) -> tuple[int, int]:
    """The waiting thread, and who is looked at instead of it once it waits."""
    workers = Workers(is_user)
    waiting = threading.Thread(target=waits)
    waiting.start()
    found = ident = waiting.ident or 0
    try:
        for _ in range(looks):
            time.sleep(0.01)
            found = workers.instead_of(ident, sys._current_frames(), threading.get_ident())
            if found != ident:
                break
    finally:
        until.set()
        waiting.join()
    return ident, found


def busy(until: threading.Event) -> int:
    count = 0
    while not until.is_set():
        count += 1
    return count


@pytest.mark.parametrize("way", ["pool", "join", "queue", "asyncio"])
def test_the_worker_is_looked_at(way: str) -> None:
    until, idents = threading.Event(), list[int]()

    def work() -> None:
        idents.append(threading.get_ident())
        busy(until)

    def waits() -> None:
        if way == "pool":
            with ThreadPoolExecutor(1) as pool:
                pool.submit(work).result()
        elif way == "asyncio":

            async def answers() -> None:
                await asyncio.get_running_loop().run_in_executor(None, work)

            asyncio.run(answers())
        elif way == "join":
            worker = threading.Thread(target=work)
            worker.start()
            worker.join()
        else:
            box: queue.Queue[int] = queue.Queue()
            threading.Thread(target=lambda: (work(), box.put(1))).start()
            box.get()

    ident, found = seen(waits, until)
    assert [found] == idents and found != ident


def test_a_thread_that_works_or_waits_for_nobody_is_looked_at_itself() -> None:
    until = threading.Event()
    workers = Workers(is_user)
    assert workers.instead_of(threading.get_ident(), sys._current_frames(), 0) == threading.get_ident()
    ident, found = seen(until.wait, until, looks=100)
    assert found == ident


def test_the_worker_is_found_among_many_that_wait() -> None:
    """Serve each request by a client's thread; all of them wait for the one that computes."""
    until, idents, answers = threading.Event(), list[int](), queue.Queue[int]()
    clients = [threading.Thread(target=answers.get) for _ in range(40)]

    def work() -> None:
        idents.append(threading.get_ident())
        busy(until)

    for client in clients:
        client.start()
    worker = threading.Thread(target=work)
    worker.start()
    try:
        _, found = seen(worker.join, until)
    finally:
        until.set()
        for client in clients:
            answers.put(1)
            client.join()
    assert found == idents[0]


def test_one_that_waits_for_an_answer_over_a_socket_may_wait_for_the_thread_that_works() -> None:
    until, workers = threading.Event(), Workers(is_user)
    ours, theirs = socket.socketpair()
    server = threading.Thread(target=busy, args=(until,))
    client = threading.Thread(target=ours.makefile("rb").read, args=(1,))
    server.start()
    client.start()
    asking, found, instead = client.ident or 0, 0, 0
    try:
        for _ in range(1_000):
            time.sleep(0.01)
            frames = sys._current_frames()
            looks = (workers.answering, workers.instead_of)
            found, instead = (look(asking, frames, threading.get_ident()) for look in looks)
            if found != asking:
                break
    finally:
        until.set()
        theirs.sendall(b"1")
        for thread in (client, server):
            thread.join()
        ours.close()
        theirs.close()
    assert found == server.ident
    assert instead == asking  # the answer may as well be another machine's: its samples stay its own


@pytest.mark.parametrize("rests", [True, False])
def test_one_that_sleeps_until_the_other_has_done_waits_too(rests: bool) -> None:
    until = threading.Event()
    worker = threading.Thread(target=busy, args=(until,))
    worker.start()
    frames = sys._current_frames()
    try:
        me = threading.get_ident()
        found = Workers(is_user).instead_of(me, frames, 0, lambda: rests)
    finally:
        until.set()
        worker.join()
    assert found == (worker.ident if rests else me)


def test_where_nobody_works_those_that_wait_too_are_looked_at() -> None:
    until, answers = threading.Event(), queue.Queue[int]()

    def batches() -> None:
        try:
            answers.get(timeout=100)
        except queue.Empty:
            return

    threads = [threading.Thread(target=until.wait), threading.Thread(target=batches)]
    for thread in threads:
        thread.start()
    waiting, batcher = (thread.ident or 0 for thread in threads)
    workers, found = Workers(is_user), list[int]()
    worker = threading.Thread(target=busy, args=(until,))
    try:
        for _ in range(10_000):
            time.sleep(0.01)
            frames = {ident: frame for ident, frame in sys._current_frames().items() if ident in (waiting, batcher)}
            found = workers.standing(waiting, frames, threading.get_ident())
            if found:
                break
        worker.start()
        at_work = workers.standing(waiting, sys._current_frames(), threading.get_ident())
    finally:
        until.set()
        answers.put(1)
        for thread in (*threads, worker):
            thread.join()
    # ``until.wait`` has no frame of the user's: it is who waits, not one that is looked at.
    assert found == [batcher] and at_work == []
