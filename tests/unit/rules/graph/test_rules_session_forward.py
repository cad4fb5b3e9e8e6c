"""GRF001 of sessions: several runs with one feed, for what one run gives."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import site
from evidence_builder import FILE, MS, one
from tfperfkit_rules.graph.session_forward import session_forward
from work_builder import SESSION, frame, sampled, work_evidence

from tfperfkit.model import Finding, SourceSpan

SOURCE = """\
import tensorflow.compat.v1 as tf
x, y, rate = tf.placeholder(tf.float32), tf.placeholder(tf.float32), tf.placeholder(tf.float32)
h = tf.layers.dense(x, 10)
other = tf.layers.dense(x, 10)
loss = tf.reduce_mean(tf.square(h - y))
right = tf.reduce_mean(tf.cast(tf.equal(h, y), tf.float32))
best = tf.argmax(h)
train = tf.train.AdamOptimizer().minimize(loss)
train_b = tf.train.AdamOptimizer().minimize(right)
session = tf.Session()
for bx, by in batches:
    a = session.run({first}, {{x: bx, y: by}})
    b = session.run({second}, {feed})
"""


def found(
    first: str = "loss", second: str = "right", feed: str = "{x: bx, y: by}", took: tuple[float, float] = (5.0, 5.0)
) -> list[Finding]:
    stacks = [sampled(50, "graph", frame(12, SESSION)), sampled(50, "graph", frame(13, SESSION))]
    rows = [
        row
        for turn in range(100)
        for row in (
            [1, turn * 20 * MS, int((turn * 20 + took[0]) * MS), 1],
            [2, (turn * 20 + 10) * MS, int((turn * 20 + 10 + took[1]) * MS), 1],
        )
    ]
    made = [msgspec.to_builtins(site(1, "session", 12)), msgspec.to_builtins(site(2, "session", 13))]
    fields: dict[str, Any] = {"loop": 11, "iterations": 100, "records": {"sites": made, "markers": rows}}
    return list(session_forward(work_evidence(SOURCE.format(first=first, second=second, feed=feed), stacks, **fields)))


@pytest.mark.parametrize(
    ("first", "second", "feed"),
    [
        ("loss", "right", "{x: bx, y: by}"),
        ("[loss, right]", "best", "{x: bx}"),
        ("loss", "right", "feed_dict={x: bx, y: by}"),
        ("train", "loss", "{x: bx, y: by}"),
    ],
)
def test_one_run_gives_both(first: str, second: str, feed: str) -> None:
    finding = one(found(first, second, feed))
    assert finding.title == "session.run is called 2 times with one feed, and each runs the same network"
    assert (finding.code, finding.where) == ("GRF001", (SourceSpan(FILE, 12), SourceSpan(FILE, 13)))
    assert finding.gain.bounds == pytest.approx((1 / 0.7, 2.0))
    assert ("update" in finding.advice) == (first == "train")


@pytest.mark.parametrize(
    ("first", "second", "feed", "took"),
    [
        ("loss", "other", "{x: bx, y: by}", (5.0, 5.0)),  # another network
        ("train", "train_b", "{x: bx, y: by}", (5.0, 5.0)),  # one answers to the other
        ("loss", "right", "{x: bz}", (5.0, 5.0)),
        ("loss", "right", "{x: batch(), y: by}", (5.0, 5.0)),
        ("loss", "right", "given", (5.0, 5.0)),
        ("train", "loss", "{x: bx, y: by}", (9.0, 0.5)),  # it costs next to nothing
    ],
)
def test_silence_where_one_run_may_not_do(first: str, second: str, feed: str, took: tuple[float, float]) -> None:
    assert found(first, second, feed, took) == []
