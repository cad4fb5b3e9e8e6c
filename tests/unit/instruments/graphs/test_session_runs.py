"""The requests to sessions, as TensorFlow resolves them: the same for each way of writing the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from late_tensorflow import needs_tensorflow
from late_tensorflow import tf1 as tf

from tfperfkit.instruments.graphs import session_runs
from tfperfkit.instruments.graphs.session_runs import Run

pytestmark = needs_tensorflow


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, [None], name="fed")
        tf.multiply(fed, 2.0, name="double")
        tf.group(tf.reduce_sum(fed, name="sum"), name="all")
        with tf.Session() as made:
            yield made


def seen(work: Callable[[], object]) -> list[Run]:
    told: list[Run] = []
    end = session_runs.subscribe(told.append, lambda file: file == __file__)
    try:
        work()
    finally:
        end()
    return told


def test_every_way_of_writing_a_run_asks_for_the_same(session: Any) -> None:
    double, fed, values = session.graph.get_tensor_by_name("double:0"), session.graph.get_tensor_by_name("fed:0"), [1.0]
    run, heads = session.run, {"double": double}

    def ask(head: str, **options: Any) -> Any:
        return session.run(fetches=heads[head], **options)

    ways = (
        lambda: session.run(double, {fed: values}),
        lambda: run("double:0", feed_dict={"fed:0": values}),
        lambda: double.eval({fed: np.array(values)}, session),
        lambda: ask("double", feed_dict={fed: values}),
        lambda: [session.run({"a": [head]}, {fed: values}) for head in heads.values()],
    )
    asked = [(each.fetched, each.feeds) for way in ways for each in seen(way)]
    assert len(asked) == len(ways) and all(each == asked[0] for each in asked)
    assert asked[0][0] == ["double"] and [*asked[0][1]] == ["fed"]


def test_other_values_are_told_from_the_same_values(session: Any) -> None:
    fed = session.graph.get_tensor_by_name("fed:0")
    kept = np.zeros(3, np.float32)

    def work() -> None:
        for value in (0.0, 0.0, 1.0):
            kept[0] = value  # one array with another content
            session.run("double:0", {fed: kept})

    first, second, third = (run.feeds for run in seen(work))
    assert first == second != third


def test_operations_count_as_fetched_and_only_the_first_runs_of_a_place_are_seen(session: Any) -> None:
    def work() -> None:
        for _ in range(session_runs.MAX_OF_PLACE + 5):
            session.run(["sum:0", "all"], {"fed:0": [1.0]})

    runs = seen(work)
    assert len(runs) == session_runs.MAX_OF_PLACE
    assert sorted(runs[-1].fetched) == ["all", "sum"] and runs[-1].calls == len(runs)


def test_the_seam_goes_when_enough_was_seen(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = tf.Session.__mro__[1]
    original = vars(owner)["_do_run"]
    monkeypatch.setattr(session_runs, "MAX", 1)
    left: list[bool] = []

    def work() -> None:
        session.run("double:0", {"fed:0": [1.0]})
        left.append(vars(owner)["_do_run"] is original)

    assert len(seen(work)) == 1 and left == [True]
