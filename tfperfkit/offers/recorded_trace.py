"""Contents of a trace of another profiler: the records of the JSON of ``tfperf report TRACE``, which rules ask for too.

Times are in ms unless the name says otherwise.
"""

from __future__ import annotations

import enum

import msgspec

from tfperfkit.model import Finding

#: Version of the JSON. Raised when a name that others rely on changes its meaning.
SCHEMA = 1


class Doing(enum.Enum):
    """Activity of the host. The order is that of explanations: the first that covers a moment explains it."""

    INPUT = "input"
    COMPILE = "compiling"
    COLLECTIVE = "collective"
    COPY = "copy"
    LAUNCH = "launch"
    RUNTIME = "host runtime"
    PYTHON = "Python"


#: The other reasons for which an accelerator waits: its next kernel starts, it works on another stream, and unknown.
BETWEEN, QUEUED, UNKNOWN = "between kernels", "another stream", "not recorded"


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """None if the trace does not tell."""

    vendor: str = ""
    multiprocessors: int | None = None
    clock_mhz: float | None = None
    memory_bytes: int | None = None
    memory_bytes_per_s: float | None = None
    capability: tuple[int, int] | None = None
    flops_per_s: float | None = None  # in 32 bits
    tensor_flops_per_s: float | None = None  # dense, in 16 bits


class StepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """``source``: "markers", "profiler", "repeated call", "repeated kernels", "none"; ``words`` say it."""

    count: int
    source: str
    words: str
    median_ms: float | None = None
    mean_ms: float | None = None
    p90_ms: float | None = None
    lengths_ms: tuple[float, ...] = ()


class DeviceRow(msgspec.Struct, frozen=True, kw_only=True):
    """An accelerator. Within the steps (or from its first work to its last, without them): ``window_ms`` is
    ``busy_ms`` and ``idle_ms``, which is the sum of ``waits_ms``. ``short_kernels``: no longer than a launch takes.
    ``span_*``: from its first work to its last."""

    device: str
    host: str
    window_ms: float
    busy_ms: float
    idle_ms: float
    waits_ms: dict[str, float]
    only_copies_ms: float
    only_collectives_ms: float
    kernels: int
    short_kernels: int
    copies: int
    span_ms: float
    span_busy_ms: float
    used: bool = True


class KernelRow(msgspec.Struct, frozen=True, kw_only=True):
    """All runs of a kernel; ``bound``: "compute", "memory", "gather", "launch" or ""."""

    kernel: str
    runs: int
    total_ms: float
    share: float
    mean_us: float
    operation: str = ""
    bound: str = ""
    occupancy: float | None = None
    tensor_cores: bool = False
    source: str = ""


class TimeRow(msgspec.Struct, frozen=True, kw_only=True):
    """Device time of a name scope, an operation or a source line."""

    name: str
    runs: int
    total_ms: float
    share: float


class CopyRow(msgspec.Struct, frozen=True, kw_only=True):
    """``bytes`` and what follows: 0 or None if the trace does not tell."""

    kind: str
    runs: int
    total_ms: float
    bytes: int = 0
    synchronous: int = 0
    pageable: int | None = None
    awaited: int = 0  # of runs: XLA's own copies, of which only what the program waits for them is known


class CollectiveRow(msgspec.Struct, frozen=True, kw_only=True):
    """Of one run on each device the shortest is the transfer; the rest is waiting for the last device; None if the
    trace has one device, or does not tell which runs belong together. ``hidden_ms``:
    of the total, in which a kernel that is no collective ran on the same device; None if that is unknown.
    ``bytes``: of all runs, 0 if the trace does not tell."""

    name: str
    devices: int
    runs: int
    total_ms: float
    transfer_ms: float | None = None
    wait_ms: float | None = None
    last: str = ""  # the device that came last most often
    last_share: float = 0.0
    hidden_ms: float | None = None
    bytes: int = 0
    compared: int = 0  # number of runs that have the same exchange on all devices


class HostRow(msgspec.Struct, frozen=True, kw_only=True):
    """Activity of a thread of the host while an accelerator waited for the host."""

    what: str
    idle_ms: float
    share: float


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One host of several.

    ``devices``: those that were used; ``waits_share`` of their windows, ``doing_share`` (without accelerators) of the
    host's steps, or of the recorded time.
    """

    host: str
    devices: int
    steps: int
    median_ms: float | None = None
    idle_share: float | None = None
    waits_share: dict[str, float] = {}
    doing_share: dict[str, float] = {}


class OperationRow(msgspec.Struct, frozen=True, kw_only=True):
    """An operation on the host, in its own time, that of operations within it left out."""

    name: str
    runs: int
    own_ms: float


class TraceReport(msgspec.Struct, frozen=True, kw_only=True):
    """A trace, read."""

    schema: int
    kind: str
    path: str
    run: str
    files: tuple[str, ...]
    events: int
    steps: StepFacts
    headline: str = ""
    idle_share: float | None = None
    waits_share: dict[str, float] = {}
    machine: Machine | None = None
    devices: tuple[DeviceRow, ...] = ()
    kernels: tuple[KernelRow, ...] = ()
    scopes: tuple[TimeRow, ...] = ()
    operations: tuple[TimeRow, ...] = ()
    lines: tuple[TimeRow, ...] = ()
    copies: tuple[CopyRow, ...] = ()
    collectives: tuple[CollectiveRow, ...] = ()
    hosts: tuple[HostFacts, ...] = ()  # where there are several
    host: tuple[HostRow, ...] = ()
    host_looked_at: str = ""  # whose threads ``host`` is about, where there are several
    host_operations: tuple[OperationRow, ...] = ()
    host_share: dict[str, float] = {}
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # files that can't be read, and why


class LastToBeReady(msgspec.Struct, frozen=True, kw_only=True):
    """The rank that the others of a Horovod timeline wait for: last in ``times`` (0 to 1) of all exchanges.

    ``waiting`` and ``exchanging``: shares of the recorded time in which some tensor waits for the last rank, and is
    exchanged.
    """

    rank: str
    times: float
    waiting: float
    exchanging: float
