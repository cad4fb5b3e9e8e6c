"""Which runs of sessions compute the same of the same values."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from ops_builder import Builder

from tfperfkit.graph.sessions import SessionRuns, Together
from tfperfkit.records.graph_contents import SessionRun

BATCH, SQUARE = "float32[None,64]", "float32[64,64]"


def builder() -> Builder:
    """Build a trunk of one matmul, and heads of one matmul on it; ``next`` takes its batch from an iterator."""
    made = Builder("session 1")
    made.add("Placeholder", "x", makes=BATCH)
    made.add("VariableV2", "w", makes=SQUARE)
    made.add("MatMul", "trunk", ("x", "w"), BATCH)
    for name in ("age", "smile"):
        made.add("MatMul", name, ("trunk", "w"), BATCH)
    made.add("MatMul", "other", ("x", "w"), BATCH)
    made.add("ApplyGradientDescent", "train", ("w", "age"), SQUARE)
    made.add("ApplyGradientDescent", "train_b", ("w", "smile"), SQUARE)
    made.add("IteratorGetNext", "take", (), BATCH)
    made.add("MatMul", "next", ("take", "w"), BATCH)
    made.add("AddV2", "next_x", ("next", "x"), BATCH)
    made.add("Neg", "next_y", ("next_x",), BATCH)
    return made


def runs(*turn: tuple[str, str], turns: int = 5, graph: str = "session 1") -> list[SessionRun]:
    """Turns of runs (what is fetched, the mark of what is fed: with "*" it is another one in each turn)."""
    return [
        SessionRun(
            graph=graph,
            file="train.py",
            line=line,
            thread=1,
            begin_ns=number * 100 + line,
            fetched=[fetched],
            feeds={"x": mark.replace("*", str(number))} if mark else {},
        )
        for number in range(turns)
        for line, (fetched, mark) in enumerate(turn)
    ]


def found(made: Sequence[SessionRun]) -> list[Together]:
    return SessionRuns(made, {"session 1": builder().graph()}.get).together


def test_heads_share_their_trunk() -> None:
    (together,) = found(runs(("age", "b*"), ("smile", "b*")))
    age, smile = together.fetches
    assert (age.asked.fetched, age.begins) == (("age",), (0, 100, 200, 300, 400))
    assert together.share(age, smile) == pytest.approx(0.5)
    assert not age.writes


def test_a_run_that_trains_says_so_and_what_it_writes_is_not_shared() -> None:
    (together,) = found(runs(("train", "b*"), ("age", "b*")))
    train, age = sorted(together.fetches, key=lambda fetch: not fetch.writes)
    assert train.writes == {"train"} and not age.writes
    assert together.share(age, train) == pytest.approx(1.0)


def test_each_set_of_fetches_is_a_function_of_what_is_fed() -> None:
    given = runs(("age", "b*"), ("other", "b*"))
    given[0] = msgspec.structs.replace(given[0], shapes={"x": [32, 64]})
    age, other = SessionRuns(given, {"session 1": builder().graph()}.get).requests
    assert set(age.graph.nodes) == {"x", "w", "trunk", "age"} and set(other.graph.nodes) == {"x", "w", "other"}
    assert age.graph.record.arguments == ["x"] and age.graph.record.results == ["age"]
    assert age.places == (("train.py", 0),) and other.places == (("train.py", 1),)
    assert age.shapes == ((32, 64),) and other.shapes == (None,)
    assert SessionRuns(given, {}.get).requests == []


def test_one_product_on_its_own_is_not_shared() -> None:
    (together,) = found(runs(("age", "b*"), ("other", "b*")))
    assert together.share(*together.fetches) == 0.0


def test_what_takes_the_next_batch_is_another_one_each_time() -> None:
    (together,) = found(runs(("next_x", "b*"), ("next_y", "b*")))
    assert together.share(*together.fetches) == 0.0


def test_what_is_fed_is_not_computed() -> None:
    given = [
        SessionRun(
            graph="session 1",
            file="train.py",
            line=n % 2,
            thread=1,
            begin_ns=n,
            fetched=[name],
            feeds={"trunk": f"{n // 2}"},
        )
        for n, name in enumerate(("age", "smile") * 5)
    ]
    (together,) = found(given)
    assert together.share(*together.fetches) == 0.0


@pytest.mark.parametrize(
    "made",
    [
        runs(("age", "a*"), ("smile", "b*")),  # other values
        runs(("age", ""), ("smile", "")),  # nothing is fed
        runs(("age", "b*"), ("age", "b*"))[:1],
        runs(("age", "b*"), ("smile", "b*"), turns=2),  # a test before the loop
        runs(("age", "b*"), ("smile", "b*"), graph="session 2"),  # its graph was not recorded
        [run for run in runs(("age", "b*"), ("smile", "b*")) if run.line == 0],
    ],
)
def test_nothing_is_claimed_of_other_runs(made: list[SessionRun]) -> None:
    assert found(made) == []
