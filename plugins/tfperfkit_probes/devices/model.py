"""The records of the probe ``devices``: on disk, and in the JSON report."""

from __future__ import annotations

import msgspec

from tfperfkit.records.devices import Device, DeviceFacts
from tfperfkit.records.placement import EagerCopy, EagerFallback, Placement, Sync

FACTS, FUNCTIONS, SLICES = "facts", "functions", "slices"


class FunctionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A concrete function after its first execution. Without ``placement`` the ``reason`` says why."""

    graph: str
    function: str
    file: str
    line: int
    owner: str
    step: int
    placement: Placement | None = None
    reason: str = ""
    error: str | None = None
    first_ns: int = 0  # the first execution
    own_ns: int = 0  # what reading its graphs took


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one step in the window, or (not ``complete``) in a part of one or without steps."""

    complete: bool
    syncs: list[Sync]
    calls: dict[str, int]  # by concrete function
    eager_ops: dict[str, int] = {}  # by device
    eager_copies: list[EagerCopy] = []
    eager_fallbacks: list[EagerFallback] = []


class PlacementRow(msgspec.Struct, frozen=True, kw_only=True):
    """A device's operations in all functions; ``asked``: those for which this device was asked."""

    device: str
    ops: int
    asked: int
    functions: int
    variables: int
    variable_bytes: int
    eager_per_step: float | None  # operations that Python calls one by one
    types: dict[str, int]


class FallbackRow(msgspec.Struct, frozen=True, kw_only=True):
    """Operations of one type, built at one line, that run elsewhere than asked."""

    op: str
    dtype: str
    requested: str
    assigned: str
    kind: str
    reason: str
    count: int
    file: str
    line: int
    function: str


class CopyRow(msgspec.Struct, frozen=True, kw_only=True):
    """The copies from one device to another that one line causes. ``bytes_per_step``: None when not known.

    ``kind``: "input" of a compiled function, "variable" read, between "replicas" of a strategy, "eager" for an
    operation that Python calls, else "result" of an operation. ``repeated``: in a loop in the graph, counted once.
    """

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    bytes_per_step: int | None
    file: str
    line: int
    function: str
    kind: str
    ops: tuple[str, ...]  # types of what made it
    users: tuple[str, ...]  # and of what takes it
    copies_per_step: float | None
    bytes_per_call: int
    unknown_sizes: int
    estimated: bool
    repeated: bool
    made_file: str
    made_line: int


class SyncRow(msgspec.Struct, frozen=True, kw_only=True):
    """Values of tensors read by Python at one line. Null ``per_step``: the window saw no whole step."""

    file: str
    line: int
    per_step: float | None
    blocked_ms: float | None  # per step
    function: str
    how: tuple[str, ...]
    device: str
    through: str
    count: int
    total_ms: float  # of all that were counted
    share_of_step: float | None


class FunctionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A concrete function: its operations by device, and how often the window saw it run."""

    function: str
    file: str
    line: int
    ops: dict[str, int]
    calls_per_step: float | None
    reason: str


class TransferRow(msgspec.Struct, frozen=True, kw_only=True):
    """Memory copies of an accelerator as a profiler trace shows them, over the whole trace."""

    device: str
    kind: str  # "H2D", "D2H", "D2D", "P2P", "other"
    count: int
    bytes: int
    ms: float


class AcceleratorRow(msgspec.Struct, frozen=True, kw_only=True):
    """How long an accelerator was busy, over the whole trace."""

    device: str
    busy_ms: float
    kernels: int


class DevicesData(msgspec.Struct, frozen=True, kw_only=True):
    """The probe's record in the JSON report."""

    devices: tuple[Device, ...]
    placements: tuple[PlacementRow, ...]
    fallbacks: tuple[FallbackRow, ...]
    copies: tuple[CopyRow, ...]
    host_syncs: tuple[SyncRow, ...]
    functions: tuple[FunctionRow, ...]
    facts: DeviceFacts | None
    no_gpu: str  # why there is none, in words; empty with one
    window_steps: int
    transfers: tuple[TransferRow, ...]
    accelerators: tuple[AcceleratorRow, ...]
    recording_ms: float  # spent on reading graphs, in all
    first_runs_ms: float  # of the first executions that it belongs to
    no_gpu_kind: str = ""  # what is in the way, see ``gpu_reason``: "script", "environment", "libraries" ...
    no_gpu_remedy: str = ""
    gpu_required: bool = False  # --require-gpu: the run must not train on a CPU
