"""How the user wrote a loop of a graph, and what to write instead."""

from __future__ import annotations

from tfperfkit_probes.ops.model import GraphLoop

from tfperfkit.graph import optable
from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

_MAPS = ("tensorflow.map_fn", "tensorflow.vectorized_map", "keras.ops.map", "keras.ops.vectorized_map")
_SCANS = (
    "tensorflow.scan",
    "tensorflow.foldl",
    "tensorflow.foldr",
    "keras.ops.scan",
    "keras.ops.fori_loop",
    "keras.ops.associative_scan",
)
_WHILES = ("tensorflow.while_loop", "keras.ops.while_loop")
#: In each iteration backward XLA copies what all iterations have kept.
_KEPT = (
    "jit_compile=True helps if an iteration has few numbers. In the gradient, each iteration copies the values that "
    "all iterations kept, so hundreds of iterations with hundreds of numbers gain nothing"
)
_XLA = "@tf.function(jit_compile=True) compiles the whole loop into machine code, without the runtime in between"


def kind_of(evidence: Evidence, where: SourceSpan) -> str:
    """``tf.map_fn``, ``the for loop``; "" if the line makes no loop itself, but a library that it calls does."""
    syntax = evidence.syntax(where.file)
    if syntax is None:
        return ""
    for call in syntax.find_line_calls(where.line):
        if call.name in (*_MAPS, *_SCANS, *_WHILES):
            return call.name.replace("tensorflow.", "tf.")
    loop = next((loop for loop in syntax.loops if loop.is_statement and loop.line == where.line), None)
    return "" if loop is None else "the for loop" if loop.iterable is not None else "the while loop"


def carries(kind: str) -> bool:
    """Whether each iteration needs the one before, by what the user wrote."""
    return kind.replace("tf.", "tensorflow.") in _SCANS


def is_map(kind: str) -> bool:
    """Whether no iteration can need the one before, by what the user wrote."""
    return kind.replace("tf.", "tensorflow.") in _MAPS


def _by_row(name: str) -> str:
    """Return what does the same as an operation for each row of a batch; "" if that is not known."""
    kind = optable.row(name).kind
    if kind == "reduction" and name != "EuclideanNorm":
        return f"tf.reduce_{name.lower()}(x, axis=-1, keepdims=True)"
    return {"product": "tf.linalg.matmul on the whole batch", "gather": "tf.gather(..., batch_dims=1)"}.get(kind, "")


def advice(kind: str, loop: GraphLoop, graded: bool = False) -> str:
    """Return the advice for the user's API, with the operations in the body.

    ``graded``: gradients go through the loop.
    """
    compiled = _KEPT if graded else _XLA
    inside = ", ".join(list(loop.types)[:4])
    name = kind.replace("tf.", "tensorflow.")
    if name in _MAPS:
        rows = [text for type_ in loop.types if (text := _by_row(type_))][:2]
        instead = f": {', '.join(rows)}" if rows else ""
        whole = f" Its operations ({inside}) work on a batch as they are or along an axis{instead}." if inside else ""
        if name.endswith("vectorized_map"):
            first = (
                "Write the function for the whole batch: tf.vectorized_map loops over operations without a batch form."
            )
        else:
            first = (
                "Write the function for the whole batch instead of one element, or let tf.vectorized_map do so. "
                "parallel_iterations does not help on a CPU."
            )
        return f"{first}{whole}"
    if name in _SCANS:
        return (
            "Use tf.math.cumsum, tf.math.cumprod or a reduction if the iterations only accumulate, a convolution for "
            "a linear filter, tfp.math.scan_associative for any associative function. Or: carry all rows or channels "
            f"in one loop instead of one after another; {compiled}."
        )
    return (
        "Compute all iterations in one operation on a whole tensor, if no iteration needs the one before"
        f"{f' ({inside} work on whole tensors)' if inside else ''}. Or: carry all rows in one loop; {compiled}. "
        "parallel_iterations does not help on a CPU."
    )
