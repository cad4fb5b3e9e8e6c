"""MEM002 for sessions: by the operations of the graph, counted at the runs of the session."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tfperfkit_rules.eager.small_calls import called_for_little
from tfperfkit_rules.memory.session_graph import session_graph
from work_builder import FILE, frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.records.steps import Loop, Site

SOURCE = """\
import tensorflow.compat.v1 as tf
session = tf.Session()
def score(t):
    return tf.reduce_sum(x * t)
for t in ts:
    session.run(score(t))
"""
HELPER = """\
import tensorflow.compat.v1 as tf
def score(t):
    return tf.reduce_sum(x * t)
def ask(t):
    return session.run(score(t))
session = tf.Session()
for t in ts:
    ask(t)
"""
RUN, MUL = "tensorflow.python.client.session:run", "tensorflow.python.ops.math_ops:multiply"
MS = 1_000_000


def records(counts: list[tuple[int, int]], line: int, loop: int, took: tuple[float, float]) -> dict[str, list[Any]]:
    """``counts``: (calls, operations); ``took``: ms of the first and of the last run, with even steps between them."""
    site = Site(id=1, kind="session", target=0, file=FILE, line=line, loops=(Loop(FILE, loop),))
    first, last = took
    each = [first + (last - first) * number / 31 for number in range(32)]
    return {
        "sites": [msgspec.to_builtins(site)],
        "markers": [[1, n * 200 * MS, int((n * 200 + each[n]) * MS)] for n in range(32)],
        "events": [{"kind": "graph_size", "site": 1, "calls": calls, "operations": n} for calls, n in counts],
    }


GROWS = [(1, 4), (2, 6), (4, 10), (8, 18), (16, 34)]
STACKS = [sampled(70, "dispatch", frame(6, RUN)), sampled(20, "dispatch", frame(6), frame(4, MUL))]


def test_operations_that_a_function_adds_in_the_loop() -> None:
    evidence = work_evidence(SOURCE, STACKS, loop=5, records=records(GROWS, 6, 5, (10.0, 100.0)))
    (found,) = session_graph(evidence)
    assert [(place.line) for place in found.where] == [6, 4]
    assert found.share_of_step == pytest.approx(1.0)
    figures = {row.name: row.value for row in found.evidence}
    assert figures["operations added per session.run"] == 2.0
    assert figures["operations in the graph at the end"] == 34.0
    assert found.gain.bounds is not None and found.gain.bounds[0] > 2
    assert list(called_for_little(evidence)) == []


def test_a_session_that_a_function_runs() -> None:
    stacks = [
        sampled(70, "dispatch", frame(8), frame(5, RUN)),
        sampled(20, "dispatch", frame(8), frame(5), frame(3, MUL)),
    ]
    (found,) = session_graph(work_evidence(HELPER, stacks, loop=7, records=records(GROWS, 5, 7, (10.0, 100.0))))
    assert found.where[:2] == (SourceSpan(FILE, 8), SourceSpan(FILE, 5))


def test_runs_that_take_no_longer_are_no_certain_gain() -> None:
    (found,) = session_graph(work_evidence(SOURCE, STACKS, loop=5, records=records(GROWS, 6, 5, (50.0, 50.0))))
    assert found.gain.bounds is not None and found.gain.bounds[0] == pytest.approx(90 / 70)  # making them goes


def test_what_the_session_takes_is_counted_where_a_helper_or_a_library_runs_it() -> None:
    """Without counts the lines of the loop tell; the same line may make the operation and run it."""
    source = """\
import tensorflow.compat.v1 as tf
def ask(op):
    return session.run(op)
session = tf.Session()
for t in ts:
    op = tf.reduce_sum(x * t)
    ask(op)
"""
    monitored = ("tensorflow.python.training.monitored_session:run", RUN)
    stacks = [
        sampled(10, "dispatch", frame(6, MUL)),
        sampled(20, "graph", frame(6), frame(3, *monitored)),
        sampled(70, "graph", frame(7), frame(3, *monitored)),
    ]
    (found,) = session_graph(work_evidence(source, stacks, loop=5))
    assert found.share_of_step == pytest.approx(1.0) and found.gain.bounds is not None
    assert found.gain.bounds[0] == pytest.approx(1 / 0.9) and found.gain.bounds[1] > 10


@pytest.mark.parametrize(
    "counts",
    [
        [(1, 900), (2, 900), (4, 900), (8, 900), (16, 900)],
        [(1, 10), (2, 900), (4, 900), (8, 900)],  # what the first turn makes is used by all others
        [(1, 10), (2, 12), (4, 16), (8, 16)],
        [(1, 4), (2, 6), (4, 10), (8, 18), (1, 30), (2, 30), (4, 30), (8, 30)],  # another graph, that stays
    ],
)
def test_a_graph_that_stays_is_no_matter_what_the_loop_looks_like(counts: list[tuple[int, int]]) -> None:
    source = SOURCE.replace("session.run(score(t))", "session.run(best, {x: tf.name_scope(t)})")
    stacks = [sampled(90, "dispatch", frame(6, RUN))]
    assert list(session_graph(work_evidence(source, stacks, loop=5, records=records(counts, 6, 5, (1.0, 1.0))))) == []


def test_runs_of_an_inner_loop_are_not_counted_to_the_outer_one() -> None:
    source = SOURCE + "    for row in rows:\n        session.run(best, {x: row})\n"
    stacks = [sampled(4, "dispatch", frame(6, RUN)), sampled(96, "dispatch", frame(8, RUN))]
    assert list(session_graph(work_evidence(source, stacks, loop=5, records=records(GROWS, 6, 5, (1.0, 9.0))))) == []
