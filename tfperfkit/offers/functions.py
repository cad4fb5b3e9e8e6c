"""Costs of compiled functions: to trace, to run, in arithmetic."""

from __future__ import annotations

import msgspec


class FunctionCost(msgspec.Struct, frozen=True, kw_only=True):
    """A concrete function in short. ``graph``: its name in the runtime and in a trace. ``owner``: "user", "keras",
    "tensorflow" or "tf.data".

    ``elementwise``: operations that work number by number, which a compiler could fuse; ``heavy``: matrix products,
    convolutions and the like. Both after Grappler where that is known, else before. ``flops`` and ``moved_bytes`` are
    those of one call; ``flops_note`` says what is not in them. Shares are of the FLOPs, 0 to 1.
    """

    function: str
    file: str
    line: int
    owner: str
    graph: str
    operations: int
    flops: float | None
    flops_note: str
    moved_bytes: float
    first_execution_ms: float | None
    trace_ms: float
    jit_compile: bool
    elementwise: int
    heavy: int
    float64_flops_share: float
    half_flops_share: float | None
    python_calls: int
    control: int


class FunctionCosts(msgspec.Struct, frozen=True, kw_only=True):
    """Every concrete function of the run, Keras' own included."""

    functions: tuple[FunctionCost, ...]


class LayerWork(msgspec.Struct, frozen=True, kw_only=True):
    """FLOPs of one step in the layers that ran, forward and backward, as far as their shapes tell."""

    flops: float


class FixedOperations(msgspec.Struct, frozen=True, kw_only=True):
    """Operations of one function that trains which give the same for the same example, whenever it comes: they depend
    on its arguments, and on no variable that it changes, no random number and no Python. ``operations``: their names;
    ``kept_bytes``: of what the others take from them in a call, open first dimensions counted as one; None where others
    are open. ``arguments``: the types of the tensors that it takes, as ``float32[32,10]``, open sizes as "?"."""

    graph: str
    owner: str
    file: str
    line: int
    operations: tuple[str, ...]
    kept_bytes: int | None
    arguments: tuple[str, ...]


class FixedWork(msgspec.Struct, frozen=True, kw_only=True):
    """Operations that are the same in each epoch, for each function that trains.

    ``writers``: how many other functions of the user's change variables (the weights of a teacher that follows slowly,
    say): of which ones is not known.
    """

    functions: tuple[FixedOperations, ...]
    writers: int = 0


class TraceCount(msgspec.Struct, frozen=True, kw_only=True):
    """Number of traces of a function, over all its objects.

    ``retraces``: traces beyond the first, those left out that TensorFlow makes by itself. ``site``: where the last one
    was called from, file and line. ``owner``: as of ``FunctionCost``.
    """

    function: str
    file: str
    line: int
    owner: str
    traces: int
    retraces: int
    ms: float
    site: tuple[str, int] | None = None


class TraceCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Every function that was traced in the run."""

    functions: tuple[TraceCount, ...]


class VaryingArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A Python value that made a function trace again. ``file`` and ``line`` of the function; ``argument`` by its name,
    or a path such as ``args[1]``; ``values`` that were seen, as Python writes them, not all of many."""

    file: str
    line: int
    argument: str
    values: tuple[str, ...]


class VaryingArguments(msgspec.Struct, frozen=True, kw_only=True):
    """All Python values that made functions trace again."""

    arguments: tuple[VaryingArgument, ...]


class CallShape(msgspec.Struct, frozen=True, kw_only=True):
    """A line that calls a compiled function. ``rows``: the first dimension of the tensor with the most rows, the same
    in all traces of the function; ``argument``: its parameter."""

    file: str
    line: int
    argument: str
    rows: int


class CallShapes(msgspec.Struct, frozen=True, kw_only=True):
    """Lines whose calls of compiled functions all get the same number of rows."""

    calls: tuple[CallShape, ...]


class AvoidableTracing(msgspec.Struct, frozen=True, kw_only=True):
    """ms of the whole run in traces that need not have been, and have findings of their own."""

    ms: float
