"""Markers that are only noted: in order and once, whoever drains, and whatever comes in between."""

from __future__ import annotations

import threading

import pytest

from tfperfkit.recording.boundaries import QuietMarkers
from tfperfkit.records.steps import Marker


def _marker(number: int) -> Marker:
    return Marker(1, number, number + 1)


def test_they_are_handed_over_once_and_in_order() -> None:
    found: list[Marker] = []
    quiet = QuietMarkers(found.append)
    for number in range(5):
        quiet.note(_marker(number))
    assert found == []
    assert quiet.drain() and quiet.drain()
    assert [marker.begin_ns for marker in found] == [0, 1, 2, 3, 4]


def test_one_thread_notes_while_another_drains() -> None:
    found: list[int] = []
    quiet = QuietMarkers(lambda marker: found.append(marker.begin_ns))
    stop = threading.Event()

    def drain() -> None:
        while not stop.is_set():
            quiet.drain()

    thread = threading.Thread(target=drain)
    thread.start()
    try:
        for number in range(50_000):
            quiet.note(_marker(number))
    finally:
        stop.set()
        thread.join()
    quiet.drain()
    assert found == list(range(50_000))


def test_a_drain_within_a_drain_does_nothing_and_what_is_noted_then_comes_later() -> None:
    found: list[int] = []
    answers: list[bool] = []

    def hand_over(marker: Marker) -> None:
        found.append(marker.begin_ns)
        if marker.begin_ns == 0:  # as a finalizer would that runs now
            answers.append(quiet.drain())
            quiet.note(_marker(2))

    quiet = QuietMarkers(hand_over)
    quiet.note(_marker(0))
    quiet.note(_marker(1))
    assert not quiet.drain()  # one came meanwhile
    assert answers == [False]
    assert found == [0, 1]
    assert quiet.drain()
    assert found == [0, 1, 2]


def test_the_last_drain_goes_on_though_another_never_ended() -> None:
    found: list[int] = []
    quiet = QuietMarkers(lambda marker: found.append(marker.begin_ns))
    quiet._draining.acquire()  # as a signal leaves it that comes right after
    quiet.note(_marker(0))
    assert not quiet.drain()
    assert quiet.drain(last=True)
    assert found == [0]
    assert quiet._draining.locked()  # it was not this drain's to let go


def test_an_interrupted_drain_goes_on_where_it_stopped() -> None:
    found: list[int] = []

    def hand_over(marker: Marker) -> None:
        found.append(marker.begin_ns)
        if marker.begin_ns == 1:
            raise KeyboardInterrupt

    quiet = QuietMarkers(hand_over)
    for number in range(4):
        quiet.note(_marker(number))
    with pytest.raises(KeyboardInterrupt):
        quiet.drain()
    assert quiet.drain()
    assert found == [0, 1, 2, 3]


def test_a_last_drain_within_a_drain_hands_each_over_once_and_the_lock_is_let_go() -> None:
    """As a signal handler that ends the recording now."""
    found: list[int] = []

    def hand_over(marker: Marker) -> None:
        found.append(marker.begin_ns)
        if marker.begin_ns == 2:
            assert quiet.drain(last=True)

    quiet = QuietMarkers(hand_over)
    for number in range(5):
        quiet.note(_marker(number))
    quiet.drain()
    assert found == [0, 1, 2, 3, 4]
    quiet.note(_marker(5))
    assert quiet.drain() and found[-1] == 5
