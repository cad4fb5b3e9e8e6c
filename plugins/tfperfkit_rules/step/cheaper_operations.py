"""Replacements for an operation that is slow at what it is given, by its type."""

from __future__ import annotations

from tfperfkit.graph import optable

_DEFAULT = (
    "Compute on fewer elements or smaller intermediate tensors. Or: use an operation that does less (the largest few "
    "instead of a sort, a slice instead of a gather)."
)
#: Operations that copy a tensor to another place, or take a part of one. They read and write its bytes once, and no
#: operation can do the same with less, so they cost too much only if their kernel is slow.
MOVES = optable.names(trait="moves")
#: Operations that draw random numbers. A number takes a few dozen instructions; nothing cheaper gives as many numbers.
DRAWS = optable.names(kind=optable.DRAWING)
#: Kinds of operations, and the advice.
_INSTEAD: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("sort",),
        "Sort less: tf.math.top_k for the few that are used, or tf.reduce_max for one. Or: narrow the rows first.",
    ),
    (
        ("unique",),
        "Multiply by a mask instead of tf.where with one argument or tf.boolean_mask, which copy on one thread. Or: "
        "compute it once, or in the input pipeline.",
    ),
    (
        ("scatter", "segment", "bincount", "write"),
        "Scatter whole rows, few and long instead of many and short. Or: use tf.math.segment_sum on sorted ids, or "
        "variable.scatter_nd_update, which writes in place.",
    ),
    (
        ("gather", "variable-gather"),
        "Gather whole rows, along the first axis, with the long axis last. Or: take a slice if the indices are next to "
        "each other.",
    ),
    (
        ("transpose",),
        "Keep one order of the axes: matmul with transpose_a or transpose_b, tf.einsum, or a reduction over another "
        "axis. Or: store data in the order in which it is needed.",
    ),
    (
        ("scan",),
        "Replace a running sum over few numbers with a matmul by a triangular matrix. Or: sum along the last axis, or "
        "use tf.reduce_sum if only the last sum is used.",
    ),
    (
        ("reduction", "arg-reduction"),
        "Reduce along the last axes. Or: replace a sum over the first axis with a matmul by a vector of ones.",
    ),
    (
        ("depthwise",),
        "Use a smaller kernel, no dilation, or fewer channels at this size. Or: use a plain Conv2D with fewer "
        "channels; on a CPU a depthwise convolution moves much and computes little.",
    ),
    (
        ("space-batch",),
        "Use a stride or a pooling before the layer instead of a dilation, which copies the image apart and together "
        "again.",
    ),
    (
        ("convolution",),
        "Use channels in multiples of 8 (16 with AVX-512), float32 and no dilation. Or: put a stride or a pooling "
        "before it, or use k×1 and 1×k instead of k×k.",
    ),
    (
        ("product",),
        "Multiply large matrices for a whole batch: merge axes (tf.reshape) first. Many small, or long and thin, "
        "matmuls are slower.",
    ),
    (
        optable.DRAWING,
        "Draw fewer numbers: one for each row or channel. Or: draw uniform instead of normal ones, or in the input "
        "pipeline.",
    ),
    (
        ("fft",),
        "Use sizes that are powers of two. Or: transform what does not change once, in the input pipeline (cache()).",
    ),
    (
        ("decode", "parse", "string", "table"),
        "Move it into the input pipeline (Dataset.map with num_parallel_calls), where it runs in parallel.",
    ),
    (
        ("resize", "image"),
        "Move it into the input pipeline. Or: keep the result: cache() before what is random.",
    ),
    (
        ("tile", "concat", "stack", "pad", "split", "slice"),
        "Let operations broadcast ([:, None]) instead of repeating. Or: join or cut once, not in each iteration.",
    ),
)


def advise_for(name: str) -> str:
    """Return the advice for an operation, by its plain type (``optable.plain``)."""
    row = optable.row(name)
    kind = "depthwise" if row.flops.startswith("depthwise") else row.kind
    return next((text for kinds, text in _INSTEAD if kind in kinds), _DEFAULT)
