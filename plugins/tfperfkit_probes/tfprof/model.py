"""The records of the probe ``tfprof`` in the JSON report: what rules and renderers read."""

from __future__ import annotations

import msgspec


class OpRow(msgspec.Struct, frozen=True, kw_only=True):
    """One operation over all traced steps. ``share`` is of the own time of all operations on that side (0 to 1).

    A fetch (IteratorGetNext) waits for the pipeline's other operations: its time is given, its share is 0.
    """

    name: str
    type: str
    count: int
    self_ms: float
    share: float
    where: str  # "eager", "graph", "xla", "device"; "input" in ``input_ops``
    kernel_ms: float | None = None  # of eager ones: in their kernels, undisturbed (see ``kernels``)


class DeviceRow(msgspec.Struct, frozen=True, kw_only=True):
    """An accelerator in the traced steps. ``busy_share`` is of their wall time (0 to 1)."""

    device: str
    busy_ms: float
    busy_share: float


class CallRow(msgspec.Struct, frozen=True, kw_only=True):
    """A compiled function that Python called in the traced steps; ``name`` is the runtime's
    (``__inference_train_step_1234``). ``ms``: in the runtime, per step, on the training thread."""

    name: str
    per_step: float
    ms: float


class ExchangeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A collective operation of one traced step on one rank: when it began after the step did, and how long it took:
    the wait for the last rank and the transfer. ``name`` is the operation's in its graph."""

    step: int
    name: str
    after_ms: float
    ms: float


class TfprofData(msgspec.Struct, frozen=True, kw_only=True):
    """The probe's record in the JSON report. ``trace_dir`` is relative to the run directory."""

    steps: int
    trace_dir: str
    trace_file: str
    top_ops: tuple[OpRow, ...]
    input_share: float | None
    breakdown_ms: dict[str, float] | None
    step_ms: float | None
    first_step: int | None
    last_step: int | None
    window_ms: dict[str, float]
    wall_ms: float
    input_ops: tuple[OpRow, ...]
    rest_ms: float
    devices: tuple[DeviceRow, ...]
    python_tracer: bool
    ended: str
    start_ms: float
    stop_ms: float
    graph_wait_share: float | None = None  # of the time in compiled functions, what is waiting for their data
    longer_wait_share: float | None = None  # the same of what makes a step's calls longer than another's
    prefetches: bool = False  # the pipeline ends with a prefetch, the script's or one that tf.data put in
    calls: tuple[CallRow, ...] = ()
    xla_compiles: int = 0  # in the traced steps, in all
    xla_compile_ms: float = 0.0  # of these, making machine code
    xla_programs: dict[str, int] = {}  # compiled until the trace ended, by function: one for each shape of its inputs
    instantiations: int = 0  # calls that instantiated a compiled function that had been called in the trace before
    instantiation_ms: float = 0.0  # in all of them
    exchanges: tuple[ExchangeRow, ...] = ()  # with other replicas, of the first traced steps
    exchange_ms: float = 0.0  # ms of a traced step in which any exchange was under way
    exchange_hidden_ms: float | None = None  # ms of these in which a graph's operation computed, if known
