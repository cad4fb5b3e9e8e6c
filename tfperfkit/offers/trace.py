"""Facts from a trace of a few steps."""

from __future__ import annotations

from typing import Literal

import msgspec

from tfperfkit.offers.functions import LayerWork
from tfperfkit.offers.source import CompiledFunctions


class StepBreakdown(msgspec.Struct, frozen=True, kw_only=True):
    """Account of a traced step: ms of the training thread by part, each moment counted once.

    Parts are those of ``tfperfkit.analysis.step_account.PARTS``; what has another name counts as "other". ``steps``:
    how many were traced. ``words``: its source, as the report should call it ("the trace"). ``longer_wait_share``: the
    share (0 to 1) of waiting for input in what makes compiled calls of one step longer than of another; None if the
    traced steps don't tell it.
    """

    parts_ms: dict[str, float]
    steps: int
    words: str = ""
    longer_wait_share: float | None = None


class GraphWaits(msgspec.Struct, frozen=True, kw_only=True):
    """Share (0 to 1) of the time in compiled functions in which they waited for their data, by a trace that holds no
    whole step.

    ``words``: its source, as the report should call it ("the trace").
    """

    share: float
    words: str = ""


class RanOperation(msgspec.Struct, frozen=True, kw_only=True):
    """An operation over all traced steps. ``type`` is TensorFlow's; ``self_ms`` its own time, all threads together;
    ``kernel_ms``: of an eager one, what its kernels take where nothing disturbs them, None if that is not known."""

    name: str
    type: str
    count: int
    self_ms: float
    where: Literal["eager", "graph", "xla", "device", "input"]
    kernel_ms: float | None = None


class RanOperations(msgspec.Struct, frozen=True, kw_only=True):
    """The operations of the steps, the costliest first, over ``steps`` traced steps; ``input``: those of the input
    pipeline. ``rest_ms``: the own time of operations that are not listed."""

    steps: int
    rows: tuple[RanOperation, ...]
    input: tuple[RanOperation, ...] = ()
    rest_ms: float = 0.0


class OperationsAfterSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The operations of a stretch of ``wall_ms`` after the steps had ended, the costliest first. ``rest_ms``: as of
    ``RanOperations``."""

    wall_ms: float
    rows: tuple[RanOperation, ...]
    rest_ms: float = 0.0


class ComputedOperation(msgspec.Struct, frozen=True, kw_only=True):
    """An operation of the compiled functions of a step. ``stage``: "forward", "backward" or "update".

    ``ms`` is its part of the step: each moment of the calls counted once, shared by what ran side by side; of it
    ``alone_ms`` are the moments in which nothing else ran, None if not known; ``busy_ms`` the sum over threads.
    ``flops`` of a step, forward-sized for a gradient's, None if the shapes don't tell.
    ``file``, ``line``: the innermost of the user's lines on the way to it, "" and 0 if none is known.
    ``direct``: made by that line itself, in no layer or other part of Keras that it calls.
    ``of``: the operation by its name in its own graph; of a gradient's, the one that it differentiates.
    ``name`` is "" for the rest of a type and stage, in which many small operations are summed up.
    ``bytes`` of a step that it reads and writes, None if the shapes don't tell; ``shapes`` of what it takes and
    makes: "32×784, 784×256 → 32×256". ``bound``: what bounds it, see ``records.bounds``; ``lower_ms``: of a
    step, what this machine needs for its arithmetic and its bytes, None if not known.
    """

    name: str
    type: str
    stage: Literal["forward", "backward", "update"]
    runs: float
    ms: float
    busy_ms: float
    alone_ms: float | None = None
    flops: float | None = None
    layer: str = ""
    file: str = ""
    line: int = 0
    direct: bool = False
    of: str = ""
    bytes: float | None = None
    shapes: str = ""
    bound: str = ""
    lower_ms: float | None = None

    def times(self, scale: float) -> ComputedOperation:
        """Return the operation with all its times and counts scaled."""
        return msgspec.structs.replace(
            self,
            runs=self.runs * scale,
            ms=self.ms * scale,
            busy_ms=self.busy_ms * scale,
            alone_ms=self.alone_ms * scale if self.alone_ms is not None else None,
            flops=self.flops * scale if self.flops is not None else None,
            bytes=self.bytes * scale if self.bytes is not None else None,
            lower_ms=self.lower_ms * scale if self.lower_ms is not None else None,
        )


class ComputedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step's compiled functions, ms of a traced step: ``ms`` is what the calls took without waiting for their input.
    The operations' ``ms``, ``idle_ms`` (the runtime, gaps), ``waits_ms`` and ``unknown_ms`` (operations whose place
    is not known) add up to it. ``batch``: examples of a step, 0 if not known. ``traced_ms``: how long a trace was
    that holds no whole steps; 0
    of one that does."""

    ms: float
    idle_ms: float
    waits_ms: float
    unknown_ms: float
    operations: tuple[ComputedOperation, ...]
    batch: int = 0
    traced_ms: float = 0.0


class FunctionCalls(msgspec.Struct, frozen=True, kw_only=True):
    """Compiled functions that Python called: calls per step, by the function's name in the runtime."""

    per_step: dict[str, float]


class ComputedStretch(msgspec.Struct, frozen=True, kw_only=True):
    """The same of a trace without steps: of all of its ``wall_ms``, in the window of the probe ``window``. Its compiled
    ``functions`` line by line, how often each was called by Python, and the FLOPs of their layers."""

    wall_ms: float
    window: str
    computed: ComputedStep
    functions: CompiledFunctions = CompiledFunctions(functions=())
    calls: dict[str, float] = {}
    layer_flops: float = 0.0

    def scale_to(self, ms: float) -> tuple[ComputedStep, CompiledFunctions, FunctionCalls, LayerWork]:
        """Return the part of the step that ``ms`` hold, if the step were the same throughout."""
        scale = ms / self.wall_ms
        step = ComputedStep(
            ms=self.computed.ms * scale,
            idle_ms=self.computed.idle_ms * scale,
            waits_ms=self.computed.waits_ms * scale,
            unknown_ms=self.computed.unknown_ms * scale,
            operations=tuple(row.times(scale) for row in self.computed.operations),
            traced_ms=self.wall_ms,
        )
        calls = {name: count * scale for name, count in self.calls.items()}
        layers = LayerWork(flops=self.layer_flops * scale)
        return step, self.functions.times(scale), FunctionCalls(per_step=calls), layers


class XlaCompilations(msgspec.Struct, frozen=True, kw_only=True):
    """How often XLA compiled in the traced steps, the ms of that which made machine code, and the wall time of these
    steps in ms. ``programs``: how many it had compiled when the trace ended, by function as XLA names it: one for each
    shape of the function's inputs."""

    count: int
    ms: float
    wall_ms: float
    programs: dict[str, int] = {}


class Instantiations(msgspec.Struct, frozen=True, kw_only=True):
    """How often a call in the trace instantiated a compiled function that had been called before, because the runtime
    no longer had it; the ms of that on the training thread, and the wall time of the trace in ms."""

    count: int
    ms: float
    wall_ms: float


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A collective operation of one traced step, as one rank saw it: ``ms`` from its start there to its end, the wait
    for the last rank and the transfer together. ``name`` is the operation's in its graph. ``ended_ns``: when it ended,
    by ``clock.now_ns`` of its machine; None if the trace could not be set against that clock."""

    step: int
    name: str
    ms: float
    ended_ns: int | None = None


class Exchanges(msgspec.Struct, frozen=True, kw_only=True):
    """Collective operations of the first traced steps, in order of time.

    ``ms_per_step``: in which any was under way, each moment counted once, over all ``steps`` that were traced;
    ``hidden_ms_per_step``: the part in which an operation of a graph computed on the same rank, if it is known.
    ``clock_error_ms``: of the rows' ``ended_ns``.
    """

    rows: tuple[Exchange, ...]
    ms_per_step: float
    steps: int
    clock_error_ms: float = 0.0
    hidden_ms_per_step: float | None = None


class AcceleratorUse(msgspec.Struct, frozen=True, kw_only=True):
    """The share (0 to 1) of the traced steps in which an accelerator worked, by device."""

    busy_share: dict[str, float]


class InputPrefetch(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the input pipeline ends with a prefetch: the script's, or one that tf.data put in."""

    there: bool
