"""EAG009 of a session that is made again for each run."""

from __future__ import annotations

import msgspec
import pytest
from eager_builder import site
from evidence_builder import FILE, one
from tfperfkit_rules.eager.remade_sessions import sessions_made_again
from tfperfkit_rules.memory.session_graph import session_graph
from work_builder import SESSION, frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

SOURCE = """\
import tensorflow.compat.v1 as tf
def predict(row):
    x, out = network()
    saver = tf.train.Saver()
    with tf.Session() as session:
        saver.restore(session, "model")
        return session.run(out, {x: row})
for row in rows:
    answers.append(predict(row))
"""
SAVER = "tensorflow.python.training.saver:__init__"


def serving(sessions: int, runs: int) -> Evidence:
    """``runs`` of each session."""
    stacks = [
        sampled(60, "dispatch", frame(9), frame(4, SAVER, name="predict")),
        sampled(40, "graph", frame(9), frame(7, SESSION, name="predict")),
    ]
    made = [msgspec.structs.replace(site(number + 1, "session", 7), target=number) for number in range(sessions)]
    rows = [
        [each.id, (each.id * runs + n) * 1000, (each.id * runs + n) * 1000 + 500, 1]
        for each in made
        for n in range(runs)
    ]
    records = {"sites": [msgspec.to_builtins(each) for each in made], "markers": rows}
    return work_evidence(SOURCE, stacks, loop=8, records=records)


def test_a_session_for_each_request() -> None:
    found = one(sessions_made_again(serving(40, 1)))
    assert (found.code, found.where[0], found.share_of_step) == ("EAG009", SourceSpan(FILE, 5, "predict"), 0.6)
    assert found.title == "Session is created again and again in the loop at train.py:8"
    assert found.gain.bounds and 1.7 < found.gain.bounds[0] < 2.5
    assert list(session_graph(serving(40, 1))) == [], "no graph grows"


@pytest.mark.parametrize(("sessions", "runs"), [(1, 40), (4, 1), (20, 5)])
def test_silence_where_sessions_are_kept_or_few(sessions: int, runs: int) -> None:
    assert list(sessions_made_again(serving(sessions, runs))) == []
