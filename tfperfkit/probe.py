"""The contract for a probe, version 1: two verbs across a disk boundary.

``record`` runs inside the user's process and writes to disk; ``analyze`` runs later, reads only files, and needs
no TensorFlow. Each verb takes one context object that grows by fields, so that probes written today keep working.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar, Protocol, runtime_checkable

import msgspec

from tfperfkit.model import ProbeResult, RunInfo, WindowSummary
from tfperfkit.option import Option
from tfperfkit.records.steps import StepTable

#: The version of this contract. A probe states the one that it was written for in ``api``.
API_VERSION = 1


class Cost(enum.Enum):
    """Cost of a probe while it records."""

    FREE = "free"  # nothing on the steady path: on from arming to the end
    WINDOW = "window"  # invasive: gets an exclusive window of a few steps


class WindowWish(msgspec.Struct, frozen=True, kw_only=True):
    """How long a probe's window should be: steps for ``seconds``, at least ``min_steps`` (``min_slow_steps`` when a
    step takes a second or more), at most ``max_steps``, and ``extra_steps`` on top, for what a tool drops at its ends.

    ``seconds_without_steps``: its length in a script that shows no step. ``after_steps``: another window of that
    length, once, where TensorFlow works on for long after the steps have ended; ``Recording.step`` is 0 in it.
    ``any_thread``: without steps ``record`` may also be entered and left on a thread of ours, while the script's is
    within a call into TensorFlow: there it gets a window in a call that is the whole of the work.
    """

    seconds: float = 0.5
    min_steps: int = 3
    min_slow_steps: int = 2
    max_steps: int = 40
    extra_steps: int = 0
    seconds_without_steps: float = 2.0
    after_steps: bool = False
    any_thread: bool = False


class HotFunction(msgspec.Struct, frozen=True):
    """A function of the user's own code and the share of the samples (0 to 1) in which it was on the stack."""

    file: str
    line: int
    function: str
    share: float


class FollowedGraphs(Protocol):
    """Graphs that are recorded as they are built, until ``end``."""

    def record(self, graph: Any, name: str) -> None:
        """Record a graph that no trace builds, such as a session's, under this name."""

    def end(self) -> tuple[str, ...]:
        """Record no more for this probe; returns in words what could not be seen."""


class Recording(Protocol):
    """Argument of ``record``. All methods are safe to call on any thread and never raise for a full disk."""

    @property
    def directory(self) -> Path:
        """Return the probe's own folder in the run directory; exists."""

    @property
    def trace_dir(self) -> Path:
        """Return the log directory in TensorBoard's layout, for profiler traces; exists."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Return the probe's options by name: each that it declares, from the command line or the configuration, else
        its default."""

    @property
    def step(self) -> int:
        """Return the number of the training step that is running, from 1; 0 before the first."""

    @property
    def planned_steps(self) -> int | None:
        """Return the number of steps that the probe's window should last; None without a window or for a time
        window."""

    @property
    def asked(self) -> bool:
        """Return whether the user asked for this window themselves, by ``--window``: then take it, though it be
        dear."""

    def append(self, stream: str, record: Any) -> None:
        """Append a record (anything msgspec encodes) to a stream of this probe, written within a second."""

    def on_step(self, callback: Callable[[int], bool | None], *, rarely: bool = False) -> None:
        """Call ``callback(number)`` as each step begins, on the training thread, while the probe records.

        ``rarely``: each step until all windows have been given, and the first 500, then 20 a second at most, so that a
        long run pays nothing; a callback that returns True is called at the next step for certain. From 50 microseconds
        on, what callbacks take is a pause between two steps and part of neither.
        """

    def when_keras(self, callback: Callable[[], object]) -> None:
        """Call ``callback()`` once Keras has been imported; at once if it has. A script that imports Keras first has
        TensorFlow, and the probes, before Keras is complete."""

    def follow_graphs(
        self,
        listener: Callable[[Mapping[str, str], Any, int], None] | None = None,
        every_line: Callable[[Any], bool] | None = None,
    ) -> FollowedGraphs:
        """Record each graph that TensorFlow builds from now on in the session's stream ``graphs``, once for all probes
        (``records.graph_contents.GraphContents``).

        ``listener(functions, traced, cost_ns)`` is called for each outermost trace, on the thread that traced.
        ``functions``: the runtime's name of each function, with the name of its graph's record. ``traced``: None for
        functions that are built outside of any trace. ``cost_ns``: what reading the graphs took. ``every_line(traced)``
        tells whether the line of every operation of a trace is wanted, at a tenth of the time that tracing takes.
        Raises ``Unavailable`` if traces can't be followed.
        """

    def is_user_code(self, filename: str) -> bool:
        """Return whether a file is the user's own: not Python's, not an installed package's, not ours."""

    def hot_functions(self) -> tuple[HotFunction, ...]:
        """Return the user's functions on the sampled stacks, hottest first; ``share`` is of the steady steps' samples
        (0 for a function seen only before them)."""

    def code(self, function: HotFunction) -> CodeType | None:
        """Return the code object of a sampled function, or None when it was not seen."""

    def keep_source(self, filename: str) -> None:
        """Keep a copy of a source file in the run directory, so that the report can show its lines later."""

    def note(self, text: str) -> None:
        """Note a limit that the report should state: what could not be seen, and why."""


class Capture(Protocol):
    """Argument of ``analyze``: files, and facts read from files."""

    @property
    def directory(self) -> Path:
        """Return the probe's own folder."""

    @property
    def trace_dir(self) -> Path:
        """Return the log directory in TensorBoard's layout."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Return the probe's options, as in ``Recording``."""

    @property
    def gpu_required(self) -> bool:
        """Return whether the run was to be refused without a GPU (``--require-gpu``)."""

    @property
    def run(self) -> RunInfo:
        """The command and its end."""

    @property
    def steps(self) -> StepTable:
        """Every training step: begin, end, window."""

    @property
    def window(self) -> WindowSummary | None:
        """Return the probe's own window as it came out; None for a probe that is on throughout."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of the probe from recording."""

    def records(self, stream: str, probe: str = "") -> Iterator[Any]:
        """Return the records appended to ``stream``, in order; a cut last line is left out. Empty if there is no such
        file. ``probe``: of another probe."""

    def session_records(self, stream: str) -> Iterator[Any]:
        """Records of the session itself: ``traces``, ``samples``, ``opens``, ``markers``, ``events``."""

    def source(self, filename: str) -> tuple[str, ...]:
        """Return the lines of a source file as kept in the run directory; empty if it was not kept."""


@runtime_checkable
class Probe(Protocol):
    """A probe. One instance is made per run for ``record`` and one per report for ``analyze``.

    Two probes with a claim in common never record at the same time: the later one is left out, with the reason. Other
    attributes of a probe are optional: ``options``, ``window``, ``background``, and ``tfperfkit.timeline``.
    """

    api: ClassVar[int]
    name: ClassVar[str]  # a noun, as given to --probes
    cost: ClassVar[Cost]
    claims: ClassVar[frozenset[str]]  # what ``record`` must own alone, e.g. {"tf.profiler", "sys.settrace"}

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        """Record while the context is open; for ``Cost.WINDOW`` it is entered at the window's first step.

        Raises ``Unavailable`` when it can't work here. The user's exception is never thrown into it.
        """

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Turn what was recorded into a result. Reads files only."""


@runtime_checkable
class ConfigurableProbe(Probe, Protocol):
    """A probe with options, see ``Option``. They are read from the class before a run; the module is imported for it,
    without TensorFlow, whenever one of them may have been typed."""

    options: ClassVar[tuple[Option, ...]]


@runtime_checkable
class WindowedProbe(Probe, Protocol):
    """A probe of ``Cost.WINDOW`` whose window should have another length than the usual one."""

    window: ClassVar[WindowWish]


@runtime_checkable
class BackgroundProbe(Probe, Protocol):
    """A windowed probe that also keeps a cheap record of the whole run, e.g. of graphs as they are traced."""

    def background(self, recording: Recording, /) -> AbstractContextManager[None]:
        """Open from arming to the end, next to ``record``; must cost nothing on the steady path."""


@runtime_checkable
class BriefProbe(Probe, Protocol):
    """A probe that knows something of a step's times, or of what was traced, which takes it a few ms to read.

    If there are more ranks than can all be looked into, most are only asked for that.
    """

    def brief(self, capture: Capture, /) -> tuple[Any, ...]:
        """In place of ``analyze``: what it offers, as in ``ProbeResult.offers``, of that alone."""


@runtime_checkable
class PreparedProbe(Probe, Protocol):
    """A probe whose ``analyze`` begins with what does not depend on how the run ends."""

    def prepare(self, capture: Capture, /) -> None:
        """Called while the script still runs, in the parent, at the lowest priority, with the run as it is so far:
        import what ``analyze`` will import, read what is complete. Once early and once when the windows are over.
        Whatever it raises is left out; it writes nothing."""
