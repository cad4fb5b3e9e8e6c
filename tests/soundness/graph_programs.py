"""Random TensorFlow functions, recorded as the instrument records them, and what execution says of claims about them.

A program is made from a seed: the same seed makes the same program.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from late_tensorflow import tf

from tfperfkit.graph.model import Graph
from tfperfkit.graph.view import View
from tfperfkit.instruments.graphs.reading import read_finished

#: Rows of the arguments, and the sizes of their other axes: all different, so that axes are not mistaken for others.
ROWS, WIDE, DEEP = 4, 3, 6
#: Operations of a program, at most, and of one that is traced together with others.
LENGTH, SHORT = 10, 8


class Program:
    """A random function of ``x`` [ROWS, WIDE, DEEP], ``y`` [ROWS, DEEP] and ``ids`` [ROWS], with two variables.

    It returns every tensor that it makes, so that claims about all of them can be checked.
    """

    def __init__(self, seed: int, length: int = LENGTH) -> None:
        self.seed = seed
        self.length = length
        self._random = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self.variables = [tf.Variable(self._floats(WIDE, DEEP)), tf.Variable(self._floats(DEEP))]
        self.start = [variable.numpy() for variable in self.variables]

    def arguments(self, seed: int) -> list[Any]:
        """Return random arguments."""
        numbers = np.random.default_rng(seed)
        return [
            numbers.uniform(-2, 2, (ROWS, WIDE, DEEP)).astype("float32"),
            numbers.uniform(-2, 2, (ROWS, DEEP)).astype("float32"),
            numbers.integers(0, WIDE, ROWS).astype("int32"),
        ]

    def _floats(self, *shape: int) -> Any:
        return self._numbers.uniform(-2, 2, shape).astype("float32")

    def make(self, x: Any, y: Any, ids: Any) -> list[Any]:
        """Add the program's operations to the graph. Return the tensors that it makes."""
        made = []
        if self._random.random() < 0.3:  # little of x is used
            for operation in self._random.choices((_unary, _transpose, _slice), k=self._random.randint(1, 3)):
                changed = self._apply(operation, [x], ids)
                x = x if changed is None else changed
            x = _slice(self, [x], ids) if x.shape.rank else x
            made.append(x)
        pool = [x, y, tf.constant(self._floats(WIDE, DEEP)), tf.constant(self._floats(ROWS, 1, DEEP))]
        for _ in range(self.length):
            new = self._apply(self._random.choice(_OPERATIONS), pool, ids)
            if new is not None and new.dtype == tf.float32 and new.shape.rank is not None and _is_small(new):
                pool.append(new)
                made.append(new)
        return made or [tf.identity(x)]

    def _apply(self, operation: Callable[..., Any], pool: list[Any], ids: Any) -> Any:
        """Return an operation's result for some of the tensors; None if their shapes don't fit."""
        try:
            return operation(self, pool, ids)
        except (ValueError, TypeError, IndexError, ZeroDivisionError, tf.errors.OpError):
            return None

    def pick(self, pool: Sequence[Any], rank: int = 0) -> Any:
        """One of the tensors, of at least this rank; the latest ones more often."""
        fitting = [each for each in pool if each.shape.rank >= rank]
        return self._random.choice(fitting[-4:] if self._random.random() < 0.6 else fitting)

    def choose(self, *values: Any) -> Any:
        return self._random.choice(values)

    def axis(self, tensor: Any) -> int:
        return self._random.randrange(tensor.shape.rank)


class Traced:
    """Programs that are traced as one function, and its graph. They share no argument and no variable.

    ``results``: for each tensor that the function returns, the number of its program and the node behind it.
    ``given``: random arguments, three for each program.
    """

    def __init__(self, programs: Sequence[Program]) -> None:
        self.programs = programs
        self.seed = programs[0].seed
        self.given = self.arguments(0)
        self._owners: list[int] = []
        specs = (
            tf.TensorSpec([ROWS, WIDE, DEEP], tf.float32),
            tf.TensorSpec([ROWS, DEEP], tf.float32),
            tf.TensorSpec([ROWS], tf.int32),
        )
        self.traced = tf.function(self._make, autograph=False).get_concrete_function(*specs * len(programs))
        records = read_finished(self.traced.graph, "step", lambda file: True)
        graphs: dict[str, Graph] = {}
        graphs.update({each.name: Graph(each, graphs.get) for each in records})
        self.graph = graphs["step"]
        self.view = View(self.graph, None)
        record = self.graph.record
        nodes = zip(record.results, record.result_outputs, strict=True)
        self.results = list(zip(self._owners, nodes, strict=True))
        types = {node.type for graph in graphs.values() for node in graph.nodes.values()}
        self._assigns = any(each.startswith("Assign") for each in types)

    def _make(self, *arguments: Any) -> list[Any]:
        made = []
        for number, program in enumerate(self.programs):
            own = program.make(*arguments[3 * number : 3 * number + 3])
            self._owners += [number] * len(own)
            made += own
        return made

    def arguments(self, more: int) -> list[Any]:
        """Return arguments for all programs, by their seeds and ``more``."""
        return [each for program in self.programs for each in program.arguments(program.seed + more)]

    def names(self, at: int) -> list[str]:
        """Return the placeholders of an argument, one for each program."""
        return self.graph.record.arguments[at : 3 * len(self.programs) : 3]

    @property
    def assigned(self) -> set[str]:
        """The placeholders of the variables that the programs assign to: only they do, none of what they call."""
        writes = [node for node in self.graph.nodes.values() if node.type.startswith("Assign")]
        return {owner.name for node in writes if (owner := self.view.source(node, 0)) is not None}

    @property
    def can_run(self) -> bool:
        """Whether it runs without an error."""
        try:
            return self.made is not None
        except tf.errors.OpError:
            return False

    @cached_property
    def made(self) -> list[Any]:
        """Return its results for the arguments ``given``."""
        return self.run(self.given)

    @cached_property
    def made_again(self) -> list[Any]:
        """Return its results in another call with the same arguments; it may draw at random."""
        return self.run(self.given)

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """Call the function with its variables as they were."""
        if self._assigns:
            for program in self.programs:
                for variable, value in zip(program.variables, program.start, strict=True):
                    variable.assign(value)
        return [each.numpy() for each in self.traced(*(tf.constant(each) for each in arguments))]


def _is_small(tensor: Any) -> bool:
    size = tensor.shape.num_elements()
    return size is not None and 0 < size <= 4000


def _unary(p: Program, pool: list[Any], ids: Any) -> Any:
    return p.choose(tf.tanh, tf.square, tf.nn.relu, tf.negative, tf.identity, tf.stop_gradient, tf.zeros_like)(
        p.pick(pool)
    )


def _binary(p: Program, pool: list[Any], ids: Any) -> Any:
    return p.choose(tf.add, tf.multiply, tf.subtract, tf.maximum, tf.math.squared_difference)(
        p.pick(pool), p.pick(pool)
    )


def _select(p: Program, pool: list[Any], ids: Any) -> Any:
    a, b = p.pick(pool), p.pick(pool)
    return tf.where(a > b, a, b)


def _reduce(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 1)
    return p.choose(tf.reduce_sum, tf.reduce_mean, tf.reduce_max)(x, axis=p.axis(x), keepdims=p.choose(True, False))


def _scan(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 1)
    return tf.cumsum(x, axis=p.axis(x), reverse=p.choose(True, False))


def _reshape(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 1)
    sizes = list(x.shape)
    how = p.choose("join", "split", "flat", "swap", "expand", "squeeze", "shape")
    at = p.axis(x)
    if how == "join" and len(sizes) > 1:
        at = min(at, len(sizes) - 2)
        return tf.reshape(x, [*sizes[:at], sizes[at] * sizes[at + 1], *sizes[at + 2 :]])
    if how == "split" and sizes[at] > 3:
        by = p.choose(*[each for each in (2, 3, 4, 6) if sizes[at] % each == 0] or [1])
        return tf.reshape(x, [*sizes[:at], sizes[at] // by, by, *sizes[at + 1 :]])
    if how == "flat":
        return tf.reshape(x, [-1])
    if how == "expand":
        return tf.expand_dims(x, at)
    if how == "squeeze":
        return tf.squeeze(x)
    if how == "shape":
        return tf.reshape(x, tf.concat([tf.shape(x)[:1], [-1]], 0))
    return tf.reshape(x, p._random.sample(sizes, len(sizes)))


def _transpose(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 2)
    return tf.transpose(x, p._random.sample(range(x.shape.rank), x.shape.rank))


def _move(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 1)
    axis = p.axis(x)
    how = p.choose("reverse", "roll", "pad", "tile", "broadcast")
    if how == "reverse":
        return tf.reverse(x, [axis])
    if how == "roll":
        return tf.roll(x, 1, axis)
    if how == "pad":
        return tf.pad(x, [[1, 0] if at == axis else [0, 0] for at in range(x.shape.rank)])
    if how == "tile":
        return tf.tile(x, [2 if at == axis else 1 for at in range(x.shape.rank)])
    return tf.broadcast_to(x, [p.choose(2, ROWS), *x.shape])


def _slice(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 1)
    axis = p.axis(x)
    how = p.choose("first", "one", "last", "slice", "new", "step")
    begin = [slice(None)] * axis
    if how == "slice":
        return tf.slice(x, [0] * x.shape.rank, [1 if at == axis else -1 for at in range(x.shape.rank)])
    part = {"first": slice(0, 2), "one": 0, "last": slice(-2, None), "new": None, "step": slice(None, None, 2)}[how]
    return x[(*begin, part)]


def _join(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 1)
    other = p.choose(x, tf.tanh(x), *[each for each in pool if each.shape == x.shape])
    how = p.choose("concat", "stack", "split", "unstack")
    axis = p.axis(x)
    if how == "concat":
        return tf.concat([x, other], axis)
    if how == "stack":
        return tf.stack([x, other], axis)
    if how == "split":
        return p.choose(*tf.split(x, 2, axis))
    return p.choose(*tf.unstack(x, axis=axis))


def _product(p: Program, pool: list[Any], ids: Any) -> Any:
    a, b = p.pick(pool, 2), p.pick(pool, 2)
    how = p.choose("matmul", "left", "right", "einsum", "gram")
    if how == "matmul":
        return tf.matmul(a, b, transpose_a=p.choose(True, False), transpose_b=p.choose(True, False))
    if how == "gram":
        return tf.matmul(a, a, transpose_b=True)
    if how == "einsum":
        rank = a.shape.rank
        labels = "abcdef"[:rank]
        out = "".join(p._random.sample(labels, rank - p.choose(0, 1)))
        return (
            tf.einsum(f"{labels}->{out}", a) if p.choose(True, False) else tf.einsum(f"{labels},{labels}->{out}", a, a)
        )
    weights = tf.constant(p._floats(a.shape[-1], 5)) if how == "right" else tf.constant(p._floats(5, a.shape[-2]))
    return tf.matmul(a, weights) if how == "right" else tf.matmul(weights, a)


def _layer(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 2)
    how = p.choose("softmax", "bias", "conv", "pool", "norm", "topk", "sort", "argmax")
    if how == "softmax":
        return tf.nn.softmax(x, axis=p.choose(-1, 0))
    if how == "bias":
        return tf.nn.bias_add(x, tf.constant(p._floats(x.shape[-1])))
    if how == "topk":
        return tf.math.top_k(x, 2).values
    if how == "sort":
        return tf.sort(x, axis=p.axis(x))
    if how == "argmax":
        return tf.cast(tf.argmax(x, p.axis(x)), tf.float32)
    if how == "norm":
        mean, variance = tf.nn.moments(x, axes=[p.axis(x)], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1.0)
    picture = x[..., None] if x.shape.rank == 3 else x
    if how == "conv":
        return tf.nn.conv2d(picture, tf.constant(p._floats(2, 2, picture.shape[-1], 2)), 1, "SAME")
    return tf.nn.max_pool2d(picture, 2, 1, "SAME")


def _gather(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool, 1)
    how = p.choose("table", "fixed", "batch", "one_hot", "nd", "scatter", "segment")
    axis = p.axis(x)
    if how == "table":
        return tf.gather(x, ids % x.shape[axis], axis=axis)
    if how == "fixed":
        return tf.gather(x, [0, x.shape[axis] - 1, 0], axis=axis)
    if how == "batch":
        if x.shape[0] != ROWS:
            raise ValueError("TensorFlow notices this when the function runs, not when it is traced")
        return tf.gather(x, ids[:, None] % x.shape[1], batch_dims=1)
    if how == "one_hot":
        return tf.one_hot(ids, WIDE, axis=p.choose(-1, 0)) + 0.0 * tf.reduce_sum(x)
    if how == "nd":
        return tf.gather_nd(x, tf.stack([ids % x.shape[0], ids % x.shape[1]], 1))
    if how == "scatter":
        return tf.tensor_scatter_nd_add(x, [[0]], x[1:2])
    return tf.math.unsorted_segment_sum(x, ids, 3)


def _noise(p: Program, pool: list[Any], ids: Any) -> Any:
    x = p.pick(pool)
    shape = list(x.shape)
    how = p.choose("normal", "truncated", "shuffle", "dropout", "seeded", "reseeded", "seed of x")
    if how == "normal":
        return x + tf.random.normal(shape)
    if how == "truncated":
        return x * tf.random.truncated_normal(shape)
    if how == "shuffle":
        return tf.random.shuffle(x)
    if how == "dropout":
        return tf.nn.dropout(x, 0.5)
    if how == "seeded":
        return x + tf.random.stateless_uniform(shape, [1, 2])
    if how == "seed of x":
        return tf.random.stateless_normal(shape, tf.cast([tf.reduce_sum(x), 1.0], tf.int32))
    return x + tf.random.stateless_uniform(shape, tf.random.uniform([2], maxval=1000, dtype=tf.int32))


def _variable(p: Program, pool: list[Any], ids: Any) -> Any:
    variable = p.choose(*p.variables)
    how = p.choose("read", "read", "gather", "assign", "add")
    if how == "read":
        return variable * 1.0
    if how == "gather":
        return tf.gather(p.variables[0], ids)
    fitting = [each for each in pool if each.shape == variable.shape]
    value = p.choose(*fitting) if fitting else tf.reduce_mean(p.pick(pool)) * tf.ones_like(variable)
    (variable.assign if how == "assign" else variable.assign_add)(value)
    return variable + 0.0


def _control(p: Program, pool: list[Any], ids: Any) -> Any:
    x, other = p.pick(pool), p.pick(pool)
    inner = [operation for operation in _OPERATIONS if operation not in (_control, _variable)]
    first, second = p._random.choice(inner), p._random.choice(inner)

    def apply(operation: Callable[..., Any], value: Any) -> Any:
        made = operation(p, [value, other], ids)
        return made if made is not None and made.shape == value.shape and made.dtype == value.dtype else tf.tanh(value)

    how = p.choose("while", "until", "cond", "cond of all", "call", "map", "mapped rows")
    if how == "while":
        return tf.while_loop(
            lambda i, v: i < 3, lambda i, v: (i + 1, apply(first, v)), (0, x), maximum_iterations=p.choose(None, 5)
        )[1]
    if how == "until":
        goes_on = lambda i, v: tf.logical_and(i < 3, tf.reduce_sum(v) < 1.0)  # noqa: E731
        return tf.while_loop(goes_on, lambda i, v: (i + 1, apply(first, v) + 0.5), (0, x))[1]
    if how.startswith("cond"):
        asked = tf.reduce_sum(other) if how == "cond of all" else p.variables[1][0]
        return tf.cond(asked > 0, lambda: apply(first, x), lambda: apply(second, x))
    if how == "call":
        return tf.function(lambda v: apply(second, apply(first, v)), autograph=False)(x)
    if how == "map":
        return tf.map_fn(lambda v: apply(first, v), x)
    steps = tf.transpose(x, [1, 0, *range(2, x.shape.rank)])
    return tf.transpose(tf.scan(lambda a, v: apply(first, a + v), steps), [1, 0, *range(2, x.shape.rank)])


_OPERATIONS: list[Callable[[Program, list[Any], Any], Any]] = [
    *[_unary, _binary, _binary, _select, _reduce, _scan, _reshape, _reshape, _transpose, _move, _slice, _slice],
    *[_join, _product, _product, _layer, _layer, _gather, _gather, _noise, _variable, _control, _control],
]
