"""Memory, reads and pauses of the process, and its environment."""

from __future__ import annotations

import msgspec

from tfperfkit.records.spans import Span


class GarbageCollections(msgspec.Struct, frozen=True, kw_only=True):
    """When Python collected garbage, in ns of ``clock.now_ns``. Very short collections may be left out. ``threads``:
    for each the one that made the objects, as Python numbers them; 0 if that is not known."""

    spans: tuple[Span, ...]
    threads: tuple[int, ...] = ()


class MemoryLimit(msgspec.Struct, frozen=True, kw_only=True):
    """Maximum memory that the process may hold."""

    limit_bytes: int


class MemoryUse(msgspec.Struct, frozen=True, kw_only=True):
    """Maximum memory that the process held, and its growth with each step; None if too few steps were seen, 0 if the
    growth is no more than noise.
    """

    peak_bytes: int
    growth_bytes_per_step: float | None = None


class HostRead(msgspec.Struct, frozen=True, kw_only=True):
    """Values of tensors read by Python at one line. ``per_step``: None when no whole step was seen. ``through``: the
    library's call that reads them for the line, "" when the line itself does."""

    file: str
    line: int
    per_step: float | None = None
    through: str = ""


class HostReads(msgspec.Struct, frozen=True, kw_only=True):
    """The lines where Python waits for values, the costliest first."""

    rows: tuple[HostRead, ...]


class Gpus(msgspec.Struct, frozen=True, kw_only=True):
    """The physical GPUs' compute capability (major, minor); those that don't tell are left out."""

    capabilities: tuple[tuple[int, int], ...]


class InputPace(msgspec.Struct, frozen=True, kw_only=True):
    """How long the pipeline of the training steps needs for what a step takes (ms), whether or not a step waits for it:
    the time of its slowest section."""

    ms_per_step: float


class InputBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Number of examples in a batch of the training steps, by the pipeline that a strategy distributes: the part of
    this process, one batch a step.
    """

    examples: int


class Pipelines(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the tf.data pipelines of a run.

    ``iterated``: Python went through one, so that its iterator was freed; ``feeds_steps``: one is known to feed the
    training steps.
    """

    iterated: bool
    feeds_steps: bool
