"""Work that is the same in each call or iteration, or only gets longer, in graphs that TensorFlow itself traced."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest
from graph_causes import causes_in
from graph_waste import Makes, kind_of
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_rules.graph.same_in_each import SameArgument, SameInEach
from tfperfkit_rules.graph.same_rows import StackedRows

from tfperfkit.graph.model import Graph
from tfperfkit.instruments.graphs.reading import read_finished
from tfperfkit.records.graph_contents import CallsRecord
from tfperfkit.records.pipelines import Padding

pytestmark = needs_tensorflow


def record_calls(
    function: Makes,
    same: list[int],
    grown: list[int],
    *specs: Any,
    calls: int = 33,
    padding: Sequence[Padding | None] = (),
    zeros: dict[int, float] | None = None,
) -> dict[str, Any]:
    """By kind or code, what is wasted in a function that trains nothing, of whose arguments so much is known."""
    concrete = tf.function(function, autograph=False).get_concrete_function(*specs)
    records = read_finished(concrete.graph, "step", lambda file: True)
    graphs: dict[str, Graph] = {}
    graphs.update({each.name: Graph(each, graphs.get) for each in records})
    placeholders = frozenset(graphs["step"].record.captures)
    record = CallsRecord(graph="step", calls=calls, same=same, grown=grown, padding=list(padding), zeros=zeros or {})
    known = {"idle": placeholders, "calls": record}
    return {name_of(each): each for each in causes_in(graphs["step"], **known)}


def name_of(each: Any) -> str:
    """The code; of GRF023 the kind ("stacked": rows), with "_idle" if variables of it may be trained elsewhere."""
    if isinstance(each, SameInEach):
        return ("again" if isinstance(each, SameArgument) else "fixed") + ("_idle" if each.idle else "")
    return "stacked" if isinstance(each, StackedRows) else kind_of(each)


def specs() -> tuple[Any, Any]:
    return tf.TensorSpec((2, 40), tf.int32, name="text"), tf.TensorSpec((2, 64), tf.float32, name="picture")


@functools.cache
def reads() -> tuple[Any, Any]:
    table, layer = tf.keras.layers.Embedding(50, 64), tf.keras.layers.Dense(64)
    layer(table(tf.zeros((1, 1), tf.int32)))
    return table, layer


def read(text: Any) -> Any:
    table, layer = reads()
    return tf.reduce_mean(layer(table(text)), axis=1)


def inner(text: Any) -> Any:
    return tf.function(read, autograph=False)(text)


def by_row(text: Any) -> Any:
    return tf.map_fn(lambda row: read(row[None])[0], text, fn_output_signature=tf.float32)


@pytest.mark.parametrize("reading", [read, inner, by_row])
def test_an_argument_that_stays_the_same(reading: Makes) -> None:
    found = record_calls(lambda text, picture: reading(text) @ tf.transpose(picture), [32, 0], [0, 0], *specs())
    one = found["again_idle"]
    assert one.names == ["text"] and one.times == 33 and one.left == pytest.approx(1 / 33)
    assert any("MatMul" in name or "Tensordot" in name or "while" in name or "Call" in name for name in one.operations)
    surely = found["again"].operations if "again" in found else []  # without what variables that can be trained are in
    assert not any("MatMul" in name or "Gather" in name or "Call" in name for name in surely)


@pytest.mark.parametrize(
    ("zeros", "same", "reported"), [({0: 0.998}, 32, True), ({}, 32, False), ({0: 0.998}, 8, False)]
)
@pytest.mark.parametrize("turns", [0, 9])
def test_an_argument_that_stays_the_same_and_is_nearly_all_zeros(
    zeros: dict[int, float], same: int, reported: bool, turns: int
) -> None:
    def spread(links: Any, x: Any) -> Any:
        if not turns:
            return links @ x
        return tf.while_loop(lambda n, y: n < turns, lambda n, y: (n + 1, links @ y), (0, x))[1]

    shapes = tf.TensorSpec((600, 600)), tf.TensorSpec((600, 8))
    found = record_calls(spread, [same, 0], [0, 0], *shapes, zeros=zeros)
    assert ("GRF021" in found) is reported
    if reported:
        assert found["GRF021"].filled == pytest.approx(0.002)


def test_what_follows_from_the_arguments_that_change_or_from_chance_is_left_out() -> None:
    def step(text: Any, picture: Any) -> Any:
        return read(text) + tf.random.normal((2, 64)) @ tf.ones((64, 64)) + tf.nn.relu(picture)

    names = record_calls(step, [32, 0], [0, 0], *specs())["again_idle"].operations
    assert not any("random" in name or "Relu" in name or name.startswith("MatMul") for name in names)


@pytest.mark.parametrize(("same", "expected"), [([32, 0], {"GRF016"}), ([0, 32], set())])
def test_a_matrix_that_is_handed_over_in_each_call(same: list[int], expected: set[str]) -> None:
    system = tf.TensorSpec((240, 240), tf.float32), tf.TensorSpec((240, 1), tf.float32)
    made = record_calls(lambda a, b: tf.linalg.solve(a, b * 2.0), same, [0, 0], *system)
    assert {kind for kind in made if kind == "GRF016"} == expected
    assert all(made[kind].of_argument for kind in expected)


@pytest.mark.parametrize(
    ("same", "calls"), [([0, 0], 33), ([32, 32], 33), ([4, 0], 5), ([16, 0], 33)], ids=["none", "all", "few", "seldom"]
)
def test_others_stay_or_all_or_for_too_few_calls(same: list[int], calls: int) -> None:
    found = record_calls(lambda text, picture: read(text) @ tf.transpose(picture), same, [0, 0], *specs(), calls=calls)
    assert "again_idle" not in found and "again" not in found


def test_what_no_argument_is_part_of() -> None:
    """Targets that a loss makes again of a picture, in a function that trains another picture by the same network."""
    picture, trained = tf.constant(tf.ones((1, 8, 8, 3))), tf.Variable(tf.zeros((1, 8, 8, 3)))
    network()  # its variables are made outside of the function

    def targets() -> Any:
        return network()(picture)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(network()(trained) - targets()))
        trained.assign_sub(tape.gradient(loss, trained))
        return loss

    found = record_calls(step, [], [])
    convolved = [name for name in found["fixed_idle"].operations if name.endswith("/convolution")]
    assert len(convolved) == 1, "of the two pictures that go through the network one never changes"
    assert found["fixed_idle"].where is not None and found["fixed_idle"].where.function == "targets"
    assert "fixed" not in found, "the network may be trained elsewhere"


def test_a_sequence_that_gets_longer() -> None:
    spec = tf.TensorSpec((2, None), tf.int32, name="text")
    gru, head = tf.keras.layers.GRU(32, return_sequences=True), tf.keras.layers.Dense(8, name="last_place")
    head(gru(reads()[0](tf.zeros((1, 1), tf.int32))))
    one = record_calls(lambda text: head(gru(reads()[0](text))[:, -1]), [0], [32], spec)["GRF024"]
    assert one.names == ["text"] and any("while" in name for name in one.operations)
    assert not any("last_place" in name for name in one.operations)


def test_what_is_the_same_in_each_turn_of_a_loop() -> None:
    """Weights are the same in all turns, though they may be trained behind the loop."""

    def step(text: Any, picture: Any) -> Any:
        return tf.while_loop(
            lambda n, x: n < 20, lambda n, x: (n + 1, x + read(text) * tf.reduce_mean(x)), (tf.constant(0), picture)
        )[1]

    one = record_calls(step, [0, 0], [0, 0], *specs())["again"]
    assert not one.calls and one.left == pytest.approx(1 / 20)
    assert one.where is not None and one.where.function == "<lambda>"  # it calls ``read``, of which all stays


def test_a_matrix_that_a_cell_makes_of_its_weights_in_each_turn() -> None:
    raw = tf.Variable(tf.random.stateless_uniform((256, 256), (1, 2)))

    def rotation() -> Any:
        skew = raw - tf.transpose(raw)
        return tf.linalg.solve(tf.eye(256) + skew, tf.eye(256) - skew)

    def step(text: Any, state: Any) -> Any:
        def turn(n: Any, state: Any) -> Any:
            return n + 1, tf.tanh(state @ rotation())

        with tf.GradientTape() as tape:
            result = tf.while_loop(lambda n, x: n < 20, turn, (tf.constant(0), state))[1]
        return tape.gradient(result, raw)

    made = record_calls(step, [0, 0], [0, 0], specs()[0], tf.TensorSpec((8, 256), tf.float32, name="state"))
    one = made["again"]
    assert any(name.endswith("MatrixSolve") for name in one.operations) and "GRF016" not in made
    assert one.where is not None and one.where.function == "turn"


@pytest.mark.parametrize("inside", [False, True], ids=["in the turn", "in a function that it calls"])
def test_a_variable_that_a_turn_assigns_to_is_not(inside: bool) -> None:
    matrix, offset = tf.Variable(tf.ones((64, 64))), tf.Variable(tf.ones(64))
    change = (
        (lambda: tf.function(lambda: matrix.assign_add(matrix) + 0.0)())
        if inside
        else (lambda: matrix.assign_add(matrix) + 0.0)
    )

    def step(text: Any, picture: Any) -> Any:
        def turn(n: Any, x: Any) -> Any:
            product = tf.matmul(picture, matrix, name="changes") + tf.matmul(picture, offset[:, None], name="stays")
            with tf.control_dependencies([product]):
                return n + 1, x + product + change()[:2]

        return tf.while_loop(lambda n, x: n < 20, turn, (tf.constant(0), picture))[1]

    names = record_calls(step, [0, 0], [0, 0], *specs())["again"].operations
    assert any(name.endswith("stays") for name in names) and not any(name.endswith("changes") for name in names)


@functools.cache
def network() -> Any:
    conv = tf.keras.layers.Conv2D(4, 3)
    conv(tf.zeros((1, 8, 8, 3)))
    return conv


def pictures() -> tuple[Any, Any]:
    return tuple(tf.TensorSpec((rows, 8, 8, 3), tf.float32, name=name) for rows, name in ((1, "image"), (2, "style")))


def styled(weights: bool = False, order: int = 1, apart: bool = True) -> Makes:
    def step(image: Any, style: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(image)
            rows = network()(tf.concat([image, style][::order], axis=0))
            loss = tf.reduce_sum((rows[0] - rows[1]) ** 2) if apart else tf.reduce_sum(rows)
        return tape.gradient(loss, network().trainable_variables if weights else image)

    return step


@pytest.mark.parametrize("order", [1, -1])
def test_rows_that_stay_the_same_go_through_a_network(order: int) -> None:
    one = record_calls(styled(order=order), [0, 32], [0, 0], *pictures())["stacked"]
    assert (one.same, one.rows) == (2, 3) and one.left == pytest.approx(1 / 3)
    assert any("conv" in name.lower() for name in one.operations)


def test_a_variable_that_is_handed_over_may_have_changed() -> None:
    made = tf.Variable(tf.ones((1, 8, 8, 3)))
    _, style = pictures()
    found = record_calls(lambda image, style: styled()(image.read_value(), style), [32, 32], [0, 0], made, style)
    assert found["stacked"].same == 2


@pytest.mark.parametrize(
    ("function", "same"),
    [(styled(weights=True), [0, 32]), (styled(), [0, 0]), (styled(apart=False), [0, 32])],
    ids=["trained", "all change", "not taken apart"],
)
def test_rows_that_change_or_go_through_a_network_that_is_trained(function: Makes, same: list[int]) -> None:
    assert "stacked" not in record_calls(function, same, [0, 0], *pictures())


def test_rows_that_are_multiplied_with_each_other_are_not_taken_apart() -> None:
    def step(image: Any, style: Any) -> Any:
        rows = tf.matmul(tf.concat([image, style], 0), tf.ones((64, 64)))
        return tf.matmul(rows, rows, transpose_b=True)[0]

    given = tf.TensorSpec((1, 64), tf.float32, name="image"), tf.TensorSpec((2, 64), tf.float32, name="style")
    assert "stacked" not in record_calls(step, [0, 32], [0, 0], *given)
    assert "stacked" in record_calls(
        lambda i, s: tf.matmul(tf.concat([i, s], 0), tf.ones((64, 64)))[0], [0, 32], [0, 0], *given
    )


def test_sequences_that_are_mostly_padding() -> None:
    padding = Padding(width=40, mean=4.0, longest=9, alike=5.0, quartiles=(2, 4, 6), rows=64)

    def step(text: Any, picture: Any) -> Any:
        return read(tf.where(text < 0, text + 50, text)) @ tf.transpose(picture)

    one = record_calls(step, [0, 0], [0, 0], *specs(), padding=[padding, None])["GRF018"]
    assert (one.width, one.mean) == (40, 4.0) and any("Gather" in name for name in one.operations)
    # Whole numbers that nothing looks up by are no tokens.
    counts = record_calls(lambda text, picture: text + 1, [0, 0], [0, 0], *specs(), padding=[padding, None])
    assert "GRF018" not in counts
