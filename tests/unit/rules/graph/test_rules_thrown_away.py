"""GRF038, GRF039 and GRF015 on graphs that TensorFlow traces: work that is thrown away, or done at the wrong size."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE
from graph_causes import causes_in
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_rules.graph.copied_rows import JoinedCopies
from tfperfkit_rules.graph.diagonal_only import DiagonalOfMatrix, WholeMatrix
from tfperfkit_rules.graph.pricing import Part as WastePart
from tfperfkit_rules.graph.ranked_mask import RankedRow
from tfprof_builder import brief

from tfperfkit.graph.model import Graph
from tfperfkit.instruments.graphs.reading import read_finished
from tfperfkit.model import SourceSpan
from tfperfkit.pricing import Part
from tfperfkit.testing import evidence_of

pytestmark = needs_tensorflow


def find(kind: type, function: Any, *shapes: tuple[int | None, ...]) -> list[Any]:
    """Return the causes of a type in a function that takes tensors of these shapes."""
    specs = [tf.TensorSpec(shape) for shape in shapes]
    traced = tf.function(function).get_concrete_function(*specs)
    graphs: dict[str, Graph] = {}
    for record in read_finished(traced.graph, "step", lambda file: True):
        graphs[record.name] = Graph(record, graphs.get)
    return [cause for cause in causes_in(graphs["step"], 64) if isinstance(cause, kind)]


def of_product(x: Any, y: Any) -> Any:
    return tf.linalg.diag_part(tf.matmul(x, y, transpose_b=True))


def of_einsum(x: Any, y: Any) -> Any:
    return tf.linalg.diag_part(tf.einsum("ik,jk->ij", x, y))


def of_trace(x: Any, y: Any) -> Any:
    return tf.linalg.trace(tf.matmul(x, y, transpose_b=True) * 2.0 + 1.0)


def of_kernel(x: Any, y: Any) -> Any:
    return tf.linalg.diag_part(tf.exp(-tf.reduce_sum(tf.square(x[:, None] - y[None]), axis=-1)))


def of_two_kernels(x: Any, y: Any) -> Any:
    """Stacked along another axis, weighted by pairs, and summed, as kernels of regimes are."""
    product = tf.matmul(x, y, transpose_b=True)
    weights = tf.sigmoid(x[:, :1, None]) * tf.transpose(tf.sigmoid(y[:, :1, None]), [1, 0, 2])
    weights = tf.concat([tf.ones([60, 60, 1]), weights], axis=2)
    return tf.linalg.diag_part(tf.reduce_sum(tf.stack([product, tf.tanh(product)], axis=2) * weights, axis=2))


def of_transposed(x: Any, y: Any) -> Any:
    product = tf.matmul(x, y, transpose_b=True)
    return tf.linalg.diag_part(product + tf.transpose(product))


@pytest.mark.parametrize("function", [of_product, of_einsum, of_trace, of_kernel, of_two_kernels, of_transposed])
def test_a_matrix_of_which_only_the_diagonal_is_used(function: Any) -> None:
    (cause,) = find(WholeMatrix, function, (60, 8), (60, 8))
    assert cause.size == 60 and cause.left == 1 / 60 and len(cause.operations) >= 2
    assert cause.where is not None and cause.where.file == __file__
    assert cause.alone == (function in (of_product, of_einsum))


@pytest.mark.parametrize("function", [of_product, of_einsum, of_trace, of_kernel, of_two_kernels, of_transposed])
def test_other_numbers_off_the_diagonal_change_nothing(function: Any) -> None:
    specs = [tf.TensorSpec((60, 8))] * 2
    definition = tf.function(function).get_concrete_function(*specs).graph.as_graph_def()
    (cause,) = find(WholeMatrix, function, *[(60, 8)] * 2)
    with tf.Graph().as_default() as graph:
        x, y = (tf.random.stateless_normal((60, 8), (seed, 1)) for seed in (1, 2))
        known = dict(zip(("x", "y"), (x, y), strict=True))
        (result,) = tf.graph_util.import_graph_def(definition, known, ["Identity:0"], name="as_it_is")
        changed = []
        for name in cause.operations[1:]:
            made = graph.get_tensor_by_name(f"as_it_is/{name}:0")
            on = [60 if size == 60 else 1 for size in made.shape]
            mask = tf.reshape(tf.eye(60), on) > 0
            noise = tf.where(mask, made, made + tf.random.stateless_uniform(made.shape, (3, 1), 1.0, 2.0))
            changed += tf.graph_util.import_graph_def(definition, {**known, f"{name}:0": noise}, ["Identity:0"])
        with tf.compat.v1.Session(graph=graph) as session:
            first, *others = session.run([result, *changed])
    assert others
    for other in others:
        assert other == pytest.approx(first, rel=1e-5)


def used_whole(x: Any, y: Any) -> Any:
    product = tf.matmul(x, y, transpose_b=True)
    return tf.linalg.diag_part(product), tf.reduce_max(product)


def returned(x: Any, y: Any) -> Any:
    product = tf.matmul(x, y, transpose_b=True)
    return tf.linalg.diag_part(product), product


def of_determinant(x: Any, y: Any) -> Any:
    return tf.reduce_sum(tf.math.log(tf.linalg.diag_part(tf.linalg.cholesky(tf.matmul(x, y, transpose_b=True)))))


def of_inverse(x: Any, y: Any) -> Any:
    return tf.linalg.diag_part(tf.linalg.inv(tf.matmul(x, y, transpose_b=True)))


def of_softmax(x: Any, y: Any) -> Any:
    """Each number of a row needs the whole row."""
    return tf.linalg.diag_part(tf.nn.log_softmax(tf.matmul(x, y, transpose_b=True)))


def beside_the_diagonal(x: Any, y: Any) -> Any:
    return tf.linalg.diag_part(tf.matmul(x, y, transpose_b=True), k=1)


def of_given(x: Any, y: Any) -> Any:
    return tf.linalg.diag_part(tf.reshape(tf.concat([x, y], 0)[:32], [16, 16]))


def in_a_loop(x: Any, y: Any) -> Any:
    product = tf.matmul(x, y, transpose_b=True)
    return tf.linalg.diag_part(tf.while_loop(lambda p: tf.reduce_sum(p) < 9.0, lambda p: (p @ p,), (product,))[0])


@pytest.mark.parametrize(
    "function",
    [used_whole, returned, of_determinant, of_inverse, of_softmax, beside_the_diagonal, of_given, in_a_loop],
)
def test_a_matrix_that_is_needed_whole(function: Any) -> None:
    assert find(WholeMatrix, function, (60, 8), (60, 8)) == []


@pytest.mark.parametrize(("alone", "said"), [(True, False), (False, True)])
def test_the_advice_for_a_product_and_for_a_kernel(alone: bool, said: bool) -> None:
    here = SourceSpan(FILE, 20, "variances")
    cause = WholeMatrix(where=here, operations=["diag_part"], left=0.001, size=1000, alone=alone)
    part = WastePart(brief(), cause, 0.6, 0.0, Part(0.5, 0.6), "breakdown")
    finding = DiagonalOfMatrix().report(evidence_of(), part)
    assert finding.where[0] == here and "tf.reduce_sum(a * tf.transpose(b), axis=-1)" in finding.advice
    assert ("f(x, x)" in finding.advice) is said


INDEX = [[n % 50 for n in range(1200)]][0]


def gathered(nodes: Any, edges: Any, kernel: Any) -> Any:
    return tf.matmul(tf.concat([tf.gather(nodes, INDEX), edges], axis=-1), kernel)


def gathered_last(nodes: Any, edges: Any, kernel: Any) -> Any:
    return tf.nn.relu(tf.matmul(tf.concat([edges, tf.gather(nodes, INDEX)], axis=1), kernel) + 1.0)


def projected_twice(nodes: Any, edges: Any, kernel: Any) -> Any:
    both = tf.concat([tf.gather(nodes, INDEX), edges], axis=-1)
    return tf.matmul(both, kernel) * tf.sigmoid(tf.matmul(both, kernel))


def repeated(nodes: Any, edges: Any, kernel: Any) -> Any:
    whole = tf.repeat(nodes[:, None], 24, axis=1)
    both = tf.concat([whole, tf.reshape(edges, [50, 24, 8])], axis=-1)
    return tf.tensordot(both, kernel, 1)


def tiled(nodes: Any, edges: Any, kernel: Any) -> Any:
    whole = tf.tile(nodes[:, None], [1, 24, 1])
    both = tf.concat([whole, tf.reshape(edges, [50, 24, 8])], axis=-1)
    return tf.reshape(tf.matmul(tf.reshape(both, [-1, 40]), kernel), [50, 24, 16])


def broadcast(nodes: Any, edges: Any, kernel: Any) -> Any:
    whole = tf.broadcast_to(nodes[:, None], [50, 24, 32])
    both = tf.concat([whole, tf.reshape(edges, [50, 24, 8])], axis=-1)
    return tf.einsum("btd,du->btu", both, kernel)


SHAPES = (50, 32), (1200, 8), (40, 16)


@pytest.mark.parametrize("function", [gathered, gathered_last, projected_twice, repeated, tiled, broadcast])
def test_copies_that_are_joined_and_then_projected(function: Any) -> None:
    (cause,) = find(JoinedCopies, function, *SHAPES)
    assert (cause.times, cause.columns, cause.end - cause.begin) == (24, 40, 32)
    assert cause.begin == (8 if function is gathered_last else 0)
    assert cause.units == (32 if function is projected_twice else 16)
    units = cause.units
    assert cause.flops == 2 * 50 * 32 * units + 2 * 1200 * 8 * units and cause.bytes > 0
    assert len(cause.operations) == 3 + (function is projected_twice)


def test_the_number_of_examples_may_be_open() -> None:
    def open_examples(days: Any, hours: Any, kernel: Any) -> Any:
        both = tf.concat([tf.repeat(days[:, None], 24, axis=1), hours], axis=-1)
        return tf.tensordot(both, kernel, 1)

    (cause,) = find(JoinedCopies, open_examples, (None, 32), (None, 24, 8), (40, 16))
    assert (cause.times, cause.units, len(cause.operations)) == (24, 16, 3)


def test_copies_that_something_else_takes_stay() -> None:
    def kept(nodes: Any, edges: Any, kernel: Any) -> Any:
        senders = tf.gather(nodes, INDEX)
        return tf.matmul(tf.concat([senders, edges], axis=-1), kernel), tf.reduce_sum(senders * senders, -1)

    (cause,) = find(JoinedCopies, kept, *SHAPES)
    assert len(cause.operations) == 2


def joined_is_used(nodes: Any, edges: Any, kernel: Any) -> Any:
    both = tf.concat([tf.gather(nodes, INDEX), edges], axis=-1)
    return tf.matmul(both, kernel), tf.reduce_max(both, -1)


def activated(nodes: Any, edges: Any, kernel: Any) -> Any:
    """The joined columns change before they are projected, as by a layer's normalisation."""
    return tf.matmul(tf.math.l2_normalize(tf.concat([tf.gather(nodes, INDEX), edges], -1), -1), kernel)


def few_copies(nodes: Any, edges: Any, kernel: Any) -> Any:
    return tf.matmul(tf.concat([tf.gather(nodes, INDEX[:100]), edges[:100]], -1), kernel)


def along_rows(nodes: Any, edges: Any, kernel: Any) -> Any:
    return tf.matmul(tf.concat([tf.gather(nodes, INDEX), nodes], 0), kernel[:32])


def as_the_matrix(nodes: Any, edges: Any, kernel: Any) -> Any:
    return tf.matmul(tf.concat([tf.gather(nodes, INDEX), edges], -1), tf.zeros([1200, 4]), transpose_a=True)


def columns_gathered(nodes: Any, edges: Any, kernel: Any) -> Any:
    wide = tf.gather(nodes, [n % 32 for n in range(512)], axis=1)
    return tf.matmul(tf.concat([wide, nodes], -1), tf.zeros([544, 4]))


@pytest.mark.parametrize(
    "function", [joined_is_used, activated, few_copies, along_rows, as_the_matrix, columns_gathered]
)
def test_what_is_joined_is_needed(function: Any) -> None:
    assert find(JoinedCopies, function, *SHAPES) == []


def nucleus(scores: Any) -> Any:
    shares = tf.nn.softmax(scores)
    ordered, places = tf.math.top_k(shares, k=tf.shape(shares)[1])
    keep = tf.cumsum(ordered, axis=-1) <= 0.9
    return tf.where(keep, ordered, tf.zeros_like(ordered)), places


def sorted_scores(scores: Any) -> Any:
    ordered = tf.sort(scores, direction="DESCENDING")
    shares = tf.nn.softmax(ordered)
    return tf.reduce_sum(tf.cast(tf.cumsum(shares, axis=-1) - shares > 0.9, tf.int32), -1)


def looked_up(scores: Any) -> Any:
    places = tf.argsort(scores, direction="DESCENDING")
    return tf.cumsum(tf.gather(scores, places, batch_dims=1), axis=1) < 0.5


@pytest.mark.parametrize(("function", "normalised"), [(nucleus, False), (sorted_scores, True), (looked_up, False)])
def test_a_full_sort_whose_sum_is_compared(function: Any, normalised: bool) -> None:
    (cause,) = find(RankedRow, function, (4, 9000))
    assert (cause.length, cause.rows, cause.normalised) == (9000, 4, normalised)
    assert cause.left is not None and cause.left < 0.2


def test_the_length_may_be_open() -> None:
    def open_rows(scores: Any) -> Any:
        return nucleus(tf.matmul(scores, tf.zeros([8, 9000])))

    (cause,) = find(RankedRow, open_rows, (None, 8))
    assert cause.length == 9000


def few_of_it(scores: Any) -> Any:
    ordered, _ = tf.math.top_k(scores, k=100)
    return tf.cumsum(ordered, axis=-1) <= 0.9


def all_sums(scores: Any) -> Any:
    """As of a Lorenz curve, whose all numbers are used."""
    return tf.cumsum(tf.sort(scores, direction="DESCENDING"), axis=-1)


def by_rank(scores: Any) -> Any:
    """Sum the benefits whose threshold depends on the rank."""
    return tf.sort(scores, direction="DESCENDING") <= 0.1


@pytest.mark.parametrize("function", [few_of_it, all_sums, by_rank])
def test_other_sorts(function: Any) -> None:
    assert find(RankedRow, function, (4, 9000)) == []
