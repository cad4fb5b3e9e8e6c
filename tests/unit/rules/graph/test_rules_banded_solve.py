"""GRF036 on graphs that TensorFlow traces: matrices built from diagonals, and matrices like them."""

from __future__ import annotations

from typing import Any

import pytest
from graph_causes import causes_in
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_rules.graph.banded_solve import BandedMatrix

from tfperfkit.graph.model import Graph
from tfperfkit.instruments.graphs.reading import read_finished

SIZE = 64


def solved(matrix: Any) -> list[BandedMatrix]:
    """Return the rule's causes in a solution with the matrix that ``matrix`` makes of three rows and a matrix."""

    def step(middle: Any, side: Any, whole: Any, right: Any) -> Any:
        return tf.linalg.solve(matrix(middle, side, whole), right)

    row, square = tf.TensorSpec([SIZE]), tf.TensorSpec([SIZE, SIZE])
    traced = tf.function(step).get_concrete_function(row, tf.TensorSpec([SIZE - 1]), square, tf.TensorSpec([SIZE, 2]))
    graphs: dict[str, Graph] = {}
    for record in read_finished(traced.graph, "step", lambda file: True):
        graphs[record.name] = Graph(record, graphs.get)
    return [cause for cause in causes_in(graphs["step"]) if isinstance(cause, BandedMatrix)]


def three_diagonals(middle: Any, side: Any, whole: Any) -> Any:
    return tf.linalg.diag(middle) - tf.linalg.diag(side, k=-1) - 2.0 * tf.linalg.diag(side, k=1)


def one_call(middle: Any, side: Any, whole: Any) -> Any:
    return tf.eye(SIZE) + tf.linalg.diag(tf.stack([middle, middle, middle]), k=(-1, 1))


def two_diagonals_multiplied(middle: Any, side: Any, whole: Any) -> Any:
    below = tf.eye(SIZE) + tf.linalg.diag(side, k=-1)
    return tf.matmul(below, below, transpose_b=True)


def set_in_zeros(middle: Any, side: Any, whole: Any) -> Any:
    return tf.linalg.set_diag(tf.zeros([SIZE, SIZE]), side, k=1) + tf.linalg.diag(middle)


def masked(middle: Any, side: Any, whole: Any) -> Any:
    return tf.linalg.band_part(whole, 1, 1)


def one_diagonal(middle: Any, side: Any, whole: Any) -> Any:
    return tf.transpose(tf.linalg.diag(middle)) / 2.0


def factor(middle: Any, side: Any, whole: Any) -> Any:
    return tf.linalg.cholesky(whole)


def cut_out(middle: Any, side: Any, whole: Any) -> Any:
    return tf.linalg.band_part(whole, 0, -1) + tf.eye(SIZE)


@needs_tensorflow
@pytest.mark.parametrize(
    ("matrix", "form", "operations"),
    [
        (three_diagonals, "tridiagonal", 7),
        (one_call, "tridiagonal", 4),
        (two_diagonals_multiplied, "tridiagonal", 8),
        (set_in_zeros, "tridiagonal", 5),
        (masked, "tridiagonal", 2),
        (one_diagonal, "diagonal", 4),
        (factor, "lower triangular", 1),
        (cut_out, "upper triangular", 1),
    ],
)
def test_a_matrix_of_few_diagonals(matrix: Any, form: str, operations: int) -> None:
    (cause,) = solved(matrix)
    assert (cause.form, cause.size, cause.columns, len(cause.operations)) == (form, SIZE, 2, operations)
    assert cause.flops < cause.uncounted_flops / 5
    assert cause.where is not None and cause.where.file == __file__


def not_of_diagonals(middle: Any, side: Any, whole: Any) -> Any:
    return whole + tf.linalg.diag(middle)


def two_diagonals_away(middle: Any, side: Any, whole: Any) -> Any:
    return tf.linalg.diag(middle) + tf.linalg.diag(side[1:], k=2) + tf.linalg.diag(side[1:], k=-2)


def a_number_for_all(middle: Any, side: Any, whole: Any) -> Any:
    """``+ 1`` fills the matrix."""
    return tf.linalg.diag(middle) + 1.0


def padded(middle: Any, side: Any, whole: Any) -> Any:
    return tf.linalg.diag(middle, padding_value=0.5)


def cut_and_joined(middle: Any, side: Any, whole: Any) -> Any:
    made = tf.linalg.diag(tf.concat([middle, middle], 0))
    return tf.reshape(made, [4, SIZE, SIZE])[0]


def of_an_exponential(middle: Any, side: Any, whole: Any) -> Any:
    """exp(0) is 1."""
    return tf.exp(tf.linalg.diag(middle))


def periodic(middle: Any, side: Any, whole: Any) -> Any:
    return three_diagonals(middle, side, whole) + tf.linalg.diag(side[:1], k=SIZE - 1)


@needs_tensorflow
@pytest.mark.parametrize(
    "matrix",
    [
        not_of_diagonals,
        two_diagonals_away,
        a_number_for_all,
        padded,
        cut_and_joined,
        of_an_exponential,
        periodic,
    ],
)
def test_a_matrix_that_may_have_numbers_elsewhere(matrix: Any) -> None:
    assert solved(matrix) == []
