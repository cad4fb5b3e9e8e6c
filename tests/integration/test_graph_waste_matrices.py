"""Matrices that stay, are copied, nearly empty or used for their diagonal, in graphs that TensorFlow itself traced."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from graph_waste import Makes, found, kind_of, kinds
from late_tensorflow import needs_tensorflow, tf

pytestmark = needs_tensorflow


@functools.cache
def fixed() -> Any:
    """Make a matrix that is there before a function is traced."""
    with tf.init_scope():
        return tf.eye(240) * 3.0


def marched(b: Any) -> Any:
    def turn(i: Any, field: Any) -> Any:
        return i + 1, tf.linalg.solve(fixed() + 1.0, field)

    return tf.while_loop(lambda i, field: i < 10, turn, [0, b])[1]


def stepped(a: Any, b: Any) -> Any:
    system = tf.eye(240) + 0.1 * a
    return tf.while_loop(lambda i, f: i < 10, lambda i, f: (i + 1, tf.linalg.solve(system, f)), [0, b])[1]


def scanned(a: Any, b: Any) -> Any:
    return tf.scan(lambda state, row: tf.linalg.inv(a) @ state + row, tf.ones([8, 240, 1]), b)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda b: tf.linalg.solve(fixed(), b), ((240, 4),)),
        (lambda b: tf.linalg.inv(fixed() * 2.0 + tf.eye(240)) @ b, ((240, 4),)),
        (lambda b: tf.linalg.cholesky_solve(tf.linalg.cholesky(fixed()), b), ((240, 4),)),
        (lambda b: b * tf.linalg.logdet(fixed()), ((240, 4),)),
        (lambda b: tf.math.real(tf.linalg.logm(tf.cast(fixed(), tf.complex64))) @ b, ((240, 4),)),
        (marched, ((240, 4),)),
        (stepped, ((240, 240), (240, 4))),
        (scanned, ((240, 240), (240, 1))),
    ],
)
def test_a_matrix_that_stays(function: Makes, shapes: Any) -> None:
    """Its sources may stay too, and be large enough to be named (the second); a solution may do for an inverse."""
    assert kinds(function, *shapes) - {"GRF007", "GRF023"} == {"GRF016"}


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda a, b: tf.linalg.solve(a, b), ((240, 240), (240, 4))),
        (lambda a, b: tf.linalg.inv(fixed() + tf.random.normal([240, 240])) @ b, ((240, 240), (240, 4))),
        (lambda a, b: tf.linalg.cholesky(tf.matmul(a, a, transpose_a=True) + fixed()) @ b, ((240, 240), (240, 4))),
        (
            lambda a, b: tf.while_loop(lambda i, m: i < 10, lambda i, m: (i + 1, tf.linalg.inv(m) + a), [0, a])[1],
            ((240, 240), (240, 4)),
        ),
        (lambda a, b: tf.linalg.triangular_solve(fixed(), b), ((240, 240), (240, 4))),
        (lambda a, b: tf.linalg.solve(fixed()[:50, :50], b[:50]), ((240, 240), (240, 4))),  # small
    ],
)
def test_a_matrix_that_changes(function: Makes, shapes: Any) -> None:
    assert "GRF016" not in kinds(function, *shapes)


def assigned(makes: Makes, rows: int = 5000) -> Makes:
    """Return a function that assigns to a variable what ``makes`` returns for the variable and its rows."""
    held = tf.Variable(tf.zeros((rows, 8)), trainable=False)

    def function(x: Any) -> Any:
        held.assign(makes(held, x))
        return tf.reduce_sum(x)

    return function


@pytest.mark.parametrize(
    "makes",
    [
        lambda v, x: tf.tensor_scatter_nd_update(v, tf.range(4)[:, None], x),
        lambda v, x: tf.tensor_scatter_nd_add(v, tf.random.uniform((4, 1), 0, 5000, tf.int32), x),
        lambda v, x: tf.keras.ops.scatter_update(v, tf.range(4)[:, None], x),
        lambda v, x: tf.concat([v[4:], x], 0),
        lambda v, x: tf.concat([x, v[:-4]], 0),
        lambda v, x: tf.keras.ops.concatenate([x, v[:-4]], axis=0),
        lambda v, x: tf.concat([tf.roll(v, -4, 0)[:-4], x], 0),
        lambda v, x: tf.roll(v, -4, 0),
    ],
)
def test_a_variable_that_is_copied_to_write_rows(makes: Makes) -> None:
    (one,) = found(assigned(makes), (4, 8))
    assert kind_of(one) == "GRF019"
    assert (one.rows, one.written) == (5000, 4)
    assert one.left == pytest.approx(4 / 5000)


def test_a_variable_that_is_copied_to_write_the_row_that_a_mask_names() -> None:
    function = assigned(lambda v, x: tf.where(tf.equal(tf.range(5000), tf.cast(x[0, 0], tf.int32))[:, None], x[0], v))
    (one,) = found(function, (4, 8))
    assert (kind_of(one), one.rows, one.written) == ("GRF019", 5000, 1)


@pytest.mark.parametrize(
    "makes",
    [
        lambda v, x: tf.where(v[:, :1] == x[0, 0], x[0], v),  # as many rows as the data say
        lambda v, x: tf.where(tf.range(5000)[:, None] < 4, x[0], v),
        lambda v, x: tf.tensor_scatter_nd_update(v, tf.range(4)[:, None], x) * 0.9,  # all of it is new
        lambda v, x: tf.tensor_scatter_nd_update(v * 0.9, tf.range(4)[:, None], x),
        lambda v, x: tf.tensor_scatter_nd_update(tf.zeros_like(v), tf.range(4)[:, None], x),
        lambda v, x: tf.concat([tf.reverse(v[4:], [0]), x], 0),
        lambda v, x: tf.tensor_scatter_nd_update(v, tf.range(4000)[:, None], tf.repeat(x, 1000, axis=0)),
        lambda v, x: 0.99 * v + 0.01 * tf.reduce_mean(x),
    ],
)
def test_a_variable_that_is_new_in_whole(makes: Makes) -> None:
    assert "GRF019" not in kinds(assigned(makes), (4, 8))


def test_rows_written_in_place_are_no_copy() -> None:
    held = tf.Variable(tf.zeros((5000, 8)), trainable=False)
    other = tf.Variable(tf.zeros((5000, 8)), trainable=False)

    def in_place(x: Any) -> Any:
        held.scatter_nd_update(tf.range(4)[:, None], x)
        other.assign(tf.tensor_scatter_nd_update(held, tf.range(4)[:, None], x))  # another variable's value
        return tf.reduce_sum(x)

    assert kinds(in_place, (4, 8)) == set()


def jacobian(taken: Makes, outputs: int = 1) -> Makes:
    net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(outputs)])

    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = net(x)
            made = tf.squeeze(made, 1) if outputs == 1 else made
        return taken(tape, made, x)

    return function


_EQUAL = [
    (1, lambda t, y, x: tf.gather_nd(t.jacobian(y, x), tf.stack([tf.range(16), tf.range(16)], 1))),
    (1, lambda t, y, x: tf.einsum("bbj->bj", t.jacobian(y, x))),
    (4, lambda t, y, x: tf.einsum("bibj->bij", t.jacobian(y, x))),
    (4, lambda t, y, x: tf.linalg.diag_part(tf.transpose(t.jacobian(y, x), [1, 3, 0, 2]))),
    (1, lambda t, y, x: tf.reduce_sum(t.jacobian(y, x), axis=1)),
    (1, lambda t, y, x: tf.reduce_sum(t.jacobian(y, x), axis=0)),
    (4, lambda t, y, x: tf.reduce_sum(t.jacobian(y, x), axis=[1, 2])),
    (4, lambda t, y, x: tf.einsum("bib->bi", t.jacobian(y, x)[..., 0])),
]


@pytest.mark.parametrize(("outputs", "taken"), _EQUAL)
def test_the_diagonal_of_a_jacobian(outputs: int, taken: Makes) -> None:
    (one,) = (each for each in found(jacobian(taken, outputs), (16, 3)) if kind_of(each) == "GRF020")
    assert (one.examples, one.zeros) == (16, False)
    assert one.left == pytest.approx(1 / 16)
    assert sum("/pfor/" in name for name in one.operations) > 10


def test_its_place_is_where_the_jacobian_is_asked_for() -> None:
    def blocks(tape: Any, y: Any, x: Any) -> Any:
        whole = tape.jacobian(y, x)
        return tf.einsum("bibj->bij", whole)

    (one,) = (each for each in found(jacobian(blocks, 4), (16, 3)) if kind_of(each) == "GRF020")
    assert one.where is not None and one.where.line == blocks.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    ("outputs", "taken"),
    [
        (4, lambda t, y, x: t.batch_jacobian(y, x)),
        (4, lambda t, y, x: tf.linalg.diag_part(t.batch_jacobian(y, x)[:, :3])),
        (1, lambda t, y, x: t.jacobian(y, x)),
        (1, lambda t, y, x: tf.reduce_sum(t.jacobian(y, x), axis=2)),
        (4, lambda t, y, x: tf.reduce_sum(t.jacobian(y, x)[0], axis=1)),
        (1, lambda t, y, x: tf.reduce_max(t.jacobian(y, x), axis=1)),
        (1, lambda t, y, x: tf.linalg.diag_part(tf.matmul(x, x, transpose_b=True)[None])),
    ],
)
def test_a_jacobian_that_is_needed(outputs: int, taken: Makes) -> None:
    assert "GRF020" not in kinds(jacobian(taken, outputs), (16, 3))


def penalised(network: Makes, penalty: Makes) -> Makes:
    def penalise(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = network(x)
        return penalty(tape.jacobian(y, x))

    return penalise


@functools.cache
def weights() -> Any:
    with tf.init_scope():
        return tf.Variable(tf.ones((3, 5)))


@pytest.mark.parametrize(
    "penalty",
    [
        lambda jac: tf.reduce_sum(tf.square(jac)),
        lambda jac: tf.nn.l2_loss(jac),
        lambda jac: tf.sqrt(tf.reduce_sum(jac * jac)) / 16.0,
        lambda jac: tf.reduce_sum(tf.abs(jac), axis=[0, 2]),
    ],
)
def test_a_jacobian_that_is_added_up_is_mostly_zeros_where_each_example_is_taken_alone(penalty: Makes) -> None:
    def alone(x: Any) -> Any:
        hidden = tf.tanh(tf.matmul(x, weights()) + 1.0)
        return tf.nn.softmax(hidden - tf.reduce_mean(hidden, axis=1, keepdims=True))

    (one,) = (each for each in found(penalised(alone, penalty), (16, 3)) if kind_of(each) == "GRF020")
    assert (one.examples, one.zeros) == (16, True)

    def together(x: Any) -> Any:
        hidden = tf.tanh(tf.matmul(x, weights()))
        return tf.nn.softmax(hidden - tf.reduce_mean(hidden, axis=0, keepdims=True))

    assert "GRF020" not in kinds(penalised(together, penalty), (16, 3))
    assert "GRF020" not in kinds(penalised(lambda x: tf.matmul(tf.matmul(x, x, transpose_b=True), x), penalty), (16, 3))


def test_a_batch_with_as_many_examples_as_numbers_is_no_jacobian_of_examples_by_examples() -> None:
    def penalise(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(tf.matmul(x, tf.ones((16, 5))))
        blocks = tape.batch_jacobian(y, x)
        return tf.reduce_sum(tf.square(blocks)), tf.reduce_sum(blocks, axis=2)

    assert "GRF020" not in kinds(penalise, (16, 16))


def test_what_is_traced_for_a_jacobian_is_no_lookup() -> None:
    assert "GRF014" not in kinds(jacobian(lambda t, y, x: t.jacobian(y, x)), (300, 3))


def _links(filled: float, rows: int = 600) -> Any:
    """Return a matrix in NumPy with this share of nonzero elements."""
    import numpy as np

    rng = np.random.default_rng(0)
    return ((rng.random((rows, rows)) < filled) * rng.random((rows, rows))).astype("float32")


@pytest.mark.parametrize(
    "multiplied",
    [
        lambda a, x: tf.matmul(a, x),
        lambda a, x: a @ tf.nn.relu(x),
        lambda a, x: tf.einsum("ij,jk->ik", a, x),
        lambda a, x: tf.function(lambda y: tf.matmul(a, y))(x),
        lambda a, x: tf.matmul(x, a, transpose_a=True),
        lambda a, x: tf.while_loop(lambda n, y: n < 5, lambda n, y: (n + 1, tf.matmul(a, y)), (0, x))[1],
    ],
)
@pytest.mark.parametrize("constant", [lambda a: tf.constant(a), lambda a: a], ids=["captured", "in the graph"])
def test_a_matrix_of_zeros_is_multiplied(multiplied: Makes, constant: Makes) -> None:
    matrix = constant(_links(0.004))
    (one,) = found(lambda x: tf.reduce_sum(multiplied(tf.convert_to_tensor(matrix), x)), (600, 8))
    assert kind_of(one) == "GRF021"
    assert one.numbers == 360_000
    assert one.filled == pytest.approx(0.004, abs=0.0015)


LINKS = [[number, 2 * number] for number in range(9)]


@pytest.mark.parametrize(
    ("multiplied", "diagonal"),
    [
        (lambda x: tf.linalg.diag(tf.reduce_sum(x, 1)) @ x, 1.0),
        (lambda x: x @ tf.linalg.diag(x[0]), 1.0),
        (lambda x: tf.scatter_nd(LINKS, tf.reduce_sum(x[:9], 1), [600, 600]) @ x, 0.0),
        (lambda x: tf.sparse.to_dense(tf.SparseTensor(LINKS, tf.reduce_sum(x[:9], 1), [600, 600])) @ x, 0.0),
    ],
)
def test_a_matrix_that_is_made_of_few_numbers_is_multiplied(multiplied: Makes, diagonal: float) -> None:
    (one,) = [each for each in found(multiplied, (600, 600)) if kind_of(each) == "GRF021"]
    assert (one.numbers, one.diagonal) == (360_000, diagonal)


def test_some_rows_of_a_matrix_of_zeros_are_multiplied() -> None:
    matrix = tf.constant(_links(0.004))
    (one,) = [
        each for each in found(lambda ids, x: tf.gather(matrix, ids) @ x, "i80", (600, 8)) if kind_of(each) == "GRF021"
    ]
    assert one.looked_up


def test_a_matrix_that_is_full_small_or_not_constant_is_left_in_peace() -> None:
    some, full, small = tf.constant(_links(0.05)), tf.constant(_links(1.0)), tf.constant(_links(0.004, 100))
    held = tf.Variable(_links(0.004))
    for matrix in (some, full, held):
        assert kinds(lambda x, matrix=matrix: tf.matmul(matrix, x), (600, 8)) == set()
    assert kinds(lambda x: tf.matmul(small, x), (100, 8)) == set()
    sparse = tf.sparse.from_dense(_links(0.004))
    assert kinds(lambda x: tf.sparse.sparse_dense_matmul(sparse, x), (600, 8)) == set()


@pytest.mark.parametrize("batch", [8, None])
def test_a_dense_layer_on_whole_pictures(batch: int | None) -> None:
    layers = tf.keras.layers
    for flattens, expected in (
        ((layers.Flatten(), layers.Dense(16, activation="relu")), {"GRF022"}),
        ((layers.GlobalAveragePooling2D(), layers.Dense(16, activation="relu")), set()),
        ((layers.Dense(16),), set()),
    ):
        net = tf.keras.Sequential([tf.keras.Input((32, 32, 16)), *flattens])
        made = found(lambda x, net=net: net(x), tf.TensorSpec((batch, 32, 32, 16)), batch=8)
        assert {kind_of(each) for each in made} == expected
        for each in made:
            assert (each.places_of_example, each.axes, each.channels) == (1024, 2, 16)
            assert (each.numbers, each.units, each.kernel_bytes) == (16384, 16, 1 << 20)


def test_a_dense_layer_on_whole_sequences() -> None:
    net = tf.keras.Sequential([tf.keras.Input((400, 32)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(16)])
    (one,) = found(lambda x: net(x), tf.TensorSpec((8, 400, 32)))
    assert (kind_of(one), one.axes, one.places_of_example) == ("GRF022", 1, 400)


COVARIANCES = (3, 64, 64)


def with_jitter(a: Any) -> Any:
    return tf.exp(-a) + 0.1 * tf.eye(64)


def tf_logdet(a: Any) -> Any:
    return tf.linalg.logdet(a)


def tf_factor(a: Any) -> Any:
    return tf.linalg.cholesky(a)


def with_noise(a: Any) -> Any:
    return a + tf.random.normal([64, 64])


@pytest.mark.parametrize(
    "function",
    [
        lambda a: tf.reduce_sum(tf.linalg.inv(a)) + tf.reduce_sum(tf.linalg.slogdet(a)[1]),
        lambda a: tf.reduce_sum(tf.linalg.solve(a, tf.ones((3, 64, 1)))) + tf.reduce_sum(tf.linalg.det(a)),
        lambda a: tf.reduce_sum(tf.linalg.solve(a, a[:, :, :1]) + tf.linalg.solve(a, a[:, :, 1:2] ** 2)),
        lambda a: tf.reduce_sum(tf.linalg.inv(a) @ a[:, :, :2]) + tf.reduce_sum(tf.linalg.cholesky(a)),
        # A helper is called for each.
        lambda a: tf.reduce_sum(tf.linalg.inv(with_jitter(a))) + tf.reduce_sum(tf.linalg.det(with_jitter(a))),
    ],
)
def test_a_matrix_that_is_factorised_twice(function: Makes) -> None:
    (one,) = [each for each in found(function, COVARIANCES) if kind_of(each) == "GRF025"]
    assert one.size == 64 and one.times == 2


@pytest.mark.parametrize(("asked", "determinant"), [(tf_logdet, True), (tf_factor, False)])
def test_a_factor_of_which_only_the_diagonal_is_used_is_a_determinant(asked: Makes, determinant: bool) -> None:
    made = found(lambda a: tf.reduce_sum(tf.linalg.inv(a) @ a[:, :, :2]) + tf.reduce_sum(asked(a)), COVARIANCES)
    (one,) = [each for each in made if kind_of(each) == "GRF025"]
    assert one.determinant is determinant


@pytest.mark.parametrize(
    "function",
    [
        lambda a: tf.reduce_sum(tf.linalg.inv(a) @ tf.linalg.inv(a)),  # Grappler makes it one
        lambda a: tf.reduce_sum(tf.linalg.inv(a)) + tf.reduce_sum(tf.linalg.det(a + 1.0)),
        lambda a: tf.reduce_sum(tf.linalg.inv(a + 2.0)) + tf.reduce_sum(tf.linalg.det(a + 1.0)),
        lambda a: tf.reduce_sum(tf.linalg.inv(with_noise(a))) + tf.reduce_sum(tf.linalg.det(with_noise(a))),
        lambda a: tf.reduce_sum(tf.linalg.cholesky_solve(tf.linalg.cholesky(a), a)),
        lambda a: tf.reduce_sum(tf.linalg.inv(a[:, :8, :8])) + tf.reduce_sum(tf.linalg.det(a[:, :8, :8])),
    ],
)
def test_matrices_that_are_factorised_once_or_are_small(function: Makes) -> None:
    assert "GRF025" not in kinds(function, COVARIANCES)
