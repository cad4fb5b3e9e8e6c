"""Pictures of a run: neutral records, bounded in size, in the order in which they are to be seen.

A probe gives them (``tfperfkit.picture``), the analysis gives those of the whole run, a renderer draws them. The JSON
report has no pictures. ``key`` is the anchor of a picture in a page; ``note`` says what it is of and what is left out.
"""

from __future__ import annotations

import msgspec

from tfperfkit.records.source_span import SourceSpan

#: More than this of one kind tells an eye nothing more.
MAX_BARS, MAX_EVENTS, MAX_NODES, MAX_POINTS, MAX_ENTRIES = 2_000, 600, 4_000, 1_000, 400


class Node(msgspec.Struct, frozen=True, array_like=True):
    """A box of a ``Tree``. ``parent``: the index of the one above, which comes earlier; -1 at the root. ``value`` holds
    that of the nodes below."""

    parent: int
    name: str
    value: float
    kind: str = ""
    file: str = ""
    line: int = 0
    note: str = ""


class Tree(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Shares of a whole, level by level: a flame graph or an icicle. ``unit`` as ``model.Unit``; ``kinds``: what the
    kinds of nodes are called, in the order of the legend."""

    key: str
    title: str
    unit: str
    nodes: tuple[Node, ...]
    kinds: dict[str, str] = {}
    note: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a ``Series``, one value for each point."""

    label: str
    unit: str
    values: tuple[float | None, ...]


class Series(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Values over ``x``, which rises; ``x_label`` says what it counts."""

    key: str
    title: str
    x_label: str
    x: tuple[float, ...]
    lines: tuple[Line, ...]
    note: str = ""


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A stage of a ``Flow``. ``ms``: its own time for one output of the whole, None if not measured; ``share`` of
    the own time of all; ``marked``: it sets the pace; ``facts``: what else to say, as (name, value)."""

    name: str
    ms: float | None = None
    share: float | None = None
    where: SourceSpan | None = None
    marked: bool = False
    facts: tuple[tuple[str, str], ...] = ()


class Flow(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A pipeline from its source (first) to what takes from it (``end``, in words)."""

    key: str
    title: str
    stages: tuple[Stage, ...]
    end: str = ""
    note: str = ""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened once, for what is named ``lane``. ``marked``: it need not have been."""

    lane: str
    step: int
    ms: float
    kind: str
    text: str = ""
    where: SourceSpan | None = None
    marked: bool = False


class Ledger(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Events with their times and causes, in order of time."""

    key: str
    title: str
    entries: tuple[Entry, ...]
    note: str = ""


Picture = Tree | Series | Flow | Ledger


class Bar(msgspec.Struct, frozen=True, array_like=True):
    """A step, or ``count`` neighbours together. Times in ms; ``window`` as ``records.steps.Step`` has it."""

    step: int
    count: int
    min_ms: float
    median_ms: float
    max_ms: float
    window: str


class Happening(msgspec.Struct, frozen=True, array_like=True):
    """Something in or before a step that explains its length. ``kind``: "tracing", "gc", "saving", "evaluate"."""

    kind: str
    step: int
    ms: float


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """All steps in order, and what happened in them (the longest, if it was too much)."""

    bars: tuple[Bar, ...]
    happenings: tuple[Happening, ...] = ()


class Phase(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of time, in seconds since the process began."""

    name: str
    begin_s: float
    end_s: float


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """From the start of the process to the first steady step, in order: ``phases``, named as the parts of its
    account, follow each other without a gap; ``steps``: what came before the steps, and the steps of the warm-up."""

    phases: tuple[Phase, ...]
    steps: tuple[Phase, ...]


class LineHeat(msgspec.Struct, frozen=True, array_like=True):
    """Time that a line takes in the mean step, with all its calls: ``python_ms`` by stack samples (waiting for compiled
    functions is included), the others inside of compiled functions, by a trace.
    """

    file: str
    line: int
    python_ms: float = 0.0
    forward_ms: float = 0.0
    backward_ms: float = 0.0
    update_ms: float = 0.0


class Album(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be drawn of a run, and the source that it speaks of, by file."""

    timeline: Timeline | None = None
    start: Start | None = None
    pictures: tuple[Picture, ...] = ()
    sources: dict[str, tuple[str, ...]] = {}
    heat: tuple[LineHeat, ...] = ()
    #: By part of the step: the innermost lines of the user's that it ran for, with ms of the mean step.
    part_lines: dict[str, tuple[tuple[SourceSpan, float], ...]] = {}
