"""What can usually replace an operation that is slow at what it is given, by its type."""

from __future__ import annotations

from tfperfkit.graph import optable

_DEFAULT = (
    "Look at what this line needs: fewer elements, an operation that does less (the largest few in place of a "
    "sort, a slice in place of a gather), smaller intermediate tensors, or its result once for several steps."
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
        "Sort fewer: tf.math.top_k with the few that are used, tf.reduce_max for one, or rows that were narrowed "
        "before.",
    ),
    (
        ("unique",),
        "Compute it once where it does not change, or in the input pipeline; multiply by a mask in place of tf.where "
        "with one argument or tf.boolean_mask, which copy on one thread.",
    ),
    (
        ("scatter", "segment", "bincount", "write"),
        "Scattering goes number by number: whole rows at a time (few, long rows in place of many short ones), "
        "tf.math.segment_sum on sorted ids, or variable.scatter_nd_update, which writes in place.",
    ),
    (
        ("gather", "variable-gather"),
        "Gather whole rows (along the first axis, with the long axis last), fewer of them, or take a slice where the "
        "indices are next to each other.",
    ),
    (
        ("transpose",),
        "Keep one order of the axes: matmul with transpose_a or transpose_b, tf.einsum, a reduction with another "
        "axis, or data that is stored in the order in which it is needed.",
    ),
    (
        ("scan",),
        "A running sum over few numbers is a product with a triangular matrix; along the last axis it is faster than "
        "along the first. Where only the last sum is used, it is tf.reduce_sum.",
    ),
    (
        ("reduction", "arg-reduction"),
        "Reduce along the last axes where the layout allows it, or fewer numbers; over the first axis a product with "
        "a vector of ones does the same.",
    ),
    (
        ("depthwise",),
        "On a processor a depthwise convolution moves much and computes little: a smaller kernel, no dilation, fewer "
        "channels at this size, or a plain Conv2D with fewer channels.",
    ),
    (
        ("space-batch",),
        "A dilation is made by copying the picture apart and together again: a stride or a pooling before the layer "
        "sees as far.",
    ),
    (
        ("convolution",),
        "Give the convolution a shape that its kernel is good at: channels in multiples of 8 (16 with AVX-512), a "
        "stride or a pooling before it, k×1 and 1×k in place of k×k, no dilation, float32.",
    ),
    (
        ("product",),
        "One product of large matrices is faster than many small ones or than one with a long, thin side: put axes "
        "together (tf.reshape) before it, and do it for a whole batch.",
    ),
    (
        optable.DRAWING,
        "Draw fewer numbers: one for each row or channel, uniform ones in place of normal ones, or in the input "
        "pipeline.",
    ),
    (
        ("fft",),
        "Take sizes that are powers of two, and transform what does not change once, in the input pipeline (cache()).",
    ),
    (
        ("decode", "parse", "string", "table"),
        "Do it in the input pipeline (Dataset.map with num_parallel_calls), where it runs in parallel.",
    ),
    (
        ("resize", "image"),
        "Do it in the input pipeline, or keep the result: cache() before what is random.",
    ),
    (
        ("tile", "concat", "stack", "pad", "split", "slice"),
        "This only copies: let operations broadcast ([:, None]) in place of repeating, and join or cut once, not in "
        "each iteration.",
    ),
)


def advise_for(name: str) -> str:
    """Return the advice for an operation, by its plain type (``optable.plain``)."""
    row = optable.row(name)
    kind = "depthwise" if row.flops.startswith("depthwise") else row.kind
    return next((text for kinds, text in _INSTEAD if kind in kinds), _DEFAULT)
