"""The records of the probe ``memory``: what is written while recording, and what ``analyze`` gives."""

from __future__ import annotations

from typing import Literal

import msgspec

from tfperfkit.records.memory import Limit

#: Streams in the probe's folder.
RSS, LOOKS, NAMES, LENGTHS, LIVE, GPUS, GC, FACTS = "rss", "looks", "names", "lengths", "live", "gpus", "gc", "facts"

GrowerKind = Literal["list", "dict", "set", "deque", "tensors", "arrays", "variables", "graphs"]


class Sample(msgspec.Struct, frozen=True, array_like=True):
    """The process's memory at a time. ``at_boundary``: read as a step began, on the training thread."""

    ns: int
    at_boundary: bool
    rss_bytes: int
    own_bytes: int  # RSS without pages of files and shared memory
    peak_bytes: int
    virtual_bytes: int = 0


class LookRecord(msgspec.Struct, frozen=True, array_like=True):
    """One look at the user's containers, at the beginning of a step."""

    ns: int
    took_ns: int
    complete: bool
    containers: int
    skipped: tuple[str, ...] = ()
    blocks: int = 0  # sys.getallocatedblocks(): Python's own small objects


class NameRecord(msgspec.Struct, frozen=True, array_like=True):
    """A container that has changed its length, interned; see ``records.memory.Container``."""

    id: int
    name: str
    kind: str
    file: str
    function: str
    line: int


class LengthRecord(msgspec.Struct, frozen=True, array_like=True):
    """The length of a container at a look (``ns`` is the look's). Written when it has changed."""

    id: int
    ns: int
    length: int
    element: str = ""
    element_bytes: int | None = None


class LiveRecord(msgspec.Struct, frozen=True, array_like=True):
    """How many graphs ("graphs", size in operations) or variables ("variables", size in bytes) of a place live."""

    kind: str
    ns: int
    file: str
    line: int
    function: str
    count: int
    size: int


class GpuRecord(msgspec.Struct, frozen=True, array_like=True):
    """TensorFlow's allocator of a GPU, at the beginning of a step."""

    ns: int
    device: str
    current_bytes: int
    peak_bytes: int


class CollectionRecord(msgspec.Struct, frozen=True, array_like=True):
    """A garbage collection: every full one (generation 2) and each that took a millisecond or more. ``thread``: on
    which, as Python numbers them; 0 in older runs."""

    begin_ns: int
    end_ns: int
    generation: int
    collected: int
    thread: int = 0


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Written when recording begins and again when it ends (then with the totals)."""

    limits: tuple[Limit, ...] = ()
    only_peak: bool = False
    ended: bool = False
    gc_count: tuple[int, int, int] = (0, 0, 0)  # all collections by generation
    gc_ns: tuple[int, int, int] = (0, 0, 0)
    looks_ns: int = 0
    callback_ns: int = 0  # time spent at the beginnings of steps, looks included


class Grower(msgspec.Struct, frozen=True, kw_only=True):
    """Something that gets longer with the steps.

    ``kind`` is what it is made of: "tensors", "arrays", "variables" when the newest element (or the whole) is one,
    "graphs" for the graphs of a traced function, else the container. ``per_step`` is in elements. ``line`` is where
    it grows if ``found`` is "grows", where it is made if "made", else the function's or 0.
    """

    name: str
    kind: GrowerKind
    container: str  # "list", "dict", "set", "deque", "ndarray", "tensor"; "" for graphs and variables
    per_step: float
    bytes_per_step: float | None
    first: int  # its length at the first look of the steady phase, and at the last one
    last: int
    file: str
    line: int
    function: str
    element: str = ""
    found: Literal["grows", "made", "defined"] = "defined"
    looks: int = 0
    operations: int | None = None  # graphs: of all that live


class FunctionMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A function of the user on the sampled stacks. ``mean_increase_bytes``: from the first to the last sample of
    one stay on the stack, over ``stays`` with two samples or more; None without any."""

    function: str
    file: str
    line: int
    peak_bytes: int
    mean_increase_bytes: float | None
    samples: int
    stays: int


class DeviceMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU's allocator over the run. ``limit_bytes`` is known from a profiler trace only."""

    device: str
    peak_bytes: int
    last_bytes: int
    growth_bytes_per_step: float | None = None
    limit_bytes: int | None = None


class OpMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory that an operation had allocated at the allocator's highest point in the trace."""

    op: str
    bytes: int
    allocations: int


class Allocator(msgspec.Struct, frozen=True, kw_only=True):
    """One of TensorFlow's allocators in a profiler trace. ``ops`` hold what was allocated within the trace and was
    alive at its highest point; the rest (weights, say) is older than the trace."""

    name: str
    peak_in_trace_bytes: int
    peak_bytes: int | None  # since the process began, as the allocator says; None when it does not
    allocations: int
    ops: tuple[OpMemory, ...] = ()


class GcTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Garbage collections: all by generation; the steady phase's full and long (1 ms or more) ones."""

    count: int = 0
    full: int = 0
    ms: float = 0.0
    longest_ms: float = 0.0
    steady_count: int = 0
    steady_ms: float = 0.0
    steady_share: float = 0.0  # of the time of the steady steps, 0 to 1


class MemoryData(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of the whole run. All sizes in bytes; ``own``: without pages of files and shared memory.

    ``rss_steady_bytes`` is at the beginning of the steady phase. The growth is of ``own`` memory, as steps begin,
    over the steps ``growth_first_step`` to ``growth_last_step``; ``growth_range`` holds it with 95 %. All three are
    None when too few steps were seen.
    """

    rss_first_bytes: int | None = None
    rss_steady_bytes: int | None = None
    rss_last_bytes: int | None = None
    rss_peak_bytes: int | None = None
    growth_bytes_per_step: float | None = None
    growth_range: tuple[float, float] | None = None
    growth_is_significant: bool = False
    growth_first_step: int | None = None
    growth_last_step: int | None = None
    explained_bytes_per_step: float = 0.0  # the sum over the growers whose bytes are known
    python_blocks_per_step: float | None = None  # small objects of Python that stay, each step
    steps_to_limit: int | None = None
    growers: tuple[Grower, ...] = ()
    limit_bytes: int | None = None
    limit_source: str = ""
    share_of_limit: float | None = None  # the peak, 0 to 1
    limits: tuple[Limit, ...] = ()
    devices: tuple[DeviceMemory, ...] = ()
    functions: tuple[FunctionMemory, ...] = ()
    allocators: tuple[Allocator, ...] = ()
    gc: GcTotals = GcTotals()
    series: tuple[tuple[float, int, int, int], ...] = ()  # (seconds, step, rss, own), at most 200
    looks: int = 0
    looks_ms: float = 0.0
