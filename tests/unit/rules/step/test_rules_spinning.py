"""STP015: a thread that asks without waiting, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_evidence, one
from tfperfkit_rules.step.spinning import spins

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import SourceSpan
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence
from tfperfkit.syntax.polling import find_polling_lines

SOURCE = """\
import threading
def collect():
    while not done.is_set():
        if len(ready) < 8:
            ready.append(read())

threading.Thread(target=collect).start()
for step in range(100):
    learn(ready.popleft())
"""
THREAD = 77


def spinning(
    lines: dict[int, int],
    *,
    busy: float = 0.9,
    often_ms: int = 4,
    usual_ms: int = 12,
    steps: int = 100,
    called: str = "",
) -> Evidence:
    """Steps of which the first half had the lock handed over often; ``lines``: a thread's samples by line."""
    table, when = [], 0
    for number in range(steps):
        each = (often_ms if 2 * number < steps else 12) * MS
        table.append(Step(number + 1, when, when + each, 1, 0, "clean"))
        when += each
    half = table[steps // 2].begin_ns
    rows: list[list[Any]] = []
    seen = [line for line, count in lines.items() for _ in range(count)]
    for number, line in enumerate(sorted(set(seen)), 1):
        frame = [FILE, 2, "collect", line, None, *([called] if called else [])]
        rows.append(["stack", number, [frame], "", "python", ""])
    numbers = {line: number for number, line in enumerate(sorted(set(seen)), 1)}
    rows += [["busy", when * (n + 1) // (len(seen) + 1), numbers[line], THREAD] for n, line in enumerate(seen)]
    rows += [["ran", when * n // 5, THREAD, round(busy * when / 5), when // 5] for n in range(1, 6)]
    events = [{"kind": "precise", "ns": 0}, {"kind": "precise_end", "ns": half}]
    return make_evidence(
        parts_ms={"graph": 4.0, "dispatch": 4.0},
        steps=StepTable(steps=tuple(table), source="custom"),
        source=SOURCE,
        records={"samples": rows, "events": events},
    )


def test_a_thread_that_asks_whether_there_is_room() -> None:
    found = one(spins(spinning({3: 40, 4: 50, 5: 10})))
    assert found.title == "Polling thread collect takes the interpreter lock from the loop"
    assert (found.code, found.where) == ("STP015", (SourceSpan(FILE, 3, "collect"), SourceSpan(FILE, 4, "collect")))
    assert found.gain.low == pytest.approx(3) and found.share_of_step == pytest.approx(2 / 3)
    assert found.evidence[0].value == pytest.approx(0.9)


def test_a_queue_that_is_asked_without_waiting() -> None:
    found = one(spins(spinning({5: 100}, called="queue:get_nowait")))
    assert found.where[0].line == 3


def test_where_the_steps_do_not_feel_it_it_is_a_remark() -> None:
    for evidence in (spinning({4: 100}, often_ms=12), spinning({4: 100}, steps=40)):
        found = one(spins(evidence))
        assert (rank([found])[0].severity, found.gain.low, found.gain.likely) == ("info", None, None)


@pytest.mark.parametrize(
    "evidence",
    [
        spinning({4: 30, 5: 70}),
        spinning({3: 100}, busy=0.3),
        spinning({3: 5}),
        spinning({5: 100}, called="numpy.random:normal"),
        make_evidence(parts_ms={"graph": 4.0}, source=SOURCE),
    ],
    ids=["works", "waits", "hardly seen", "numpy", "no thread"],
)
def test_other_threads_are_left_in_peace(evidence: Evidence) -> None:
    assert not list(spins(evidence))


def test_lines_that_only_ask() -> None:
    source = """\
while waiting(
    3
):
    if a:
        pass
    elif b:
        work()
    try:
        item = take()
    except Empty:
        continue
    for x in xs:
        if x:
            pass
if c:
    pass
"""
    assert sorted(find_polling_lines(tuple(source.splitlines()))) == [1, 2, 3, 4, 5, 6, 8, 10, 11]
    assert find_polling_lines(("while",)) == frozenset()
