"""The neutral records that cross module boundaries: what the report knows, and all that it knows.

Everything is frozen. Names contain units: ``*_ms``, ``share_of_step`` (0 to 1), ``bytes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tfperfkit import calibration
from tfperfkit.records.children import Children
from tfperfkit.records.conclusion import Conclusion
from tfperfkit.records.gains import AtLeast, Range, Unknown, UpTo
from tfperfkit.records.gains import Gain as Gain
from tfperfkit.records.history import History as History
from tfperfkit.records.history import Period as Period
from tfperfkit.records.history import RunChange as RunChange
from tfperfkit.records.history import WatchedWindow as WatchedWindow
from tfperfkit.records.parts import Cause, PartName, RunPart, StartPart
from tfperfkit.records.pictures import Album
from tfperfkit.records.source_span import LineTime as LineTime
from tfperfkit.records.source_span import SourceSpan as SourceSpan
from tfperfkit.records.stated_gains import TakesStated
from tfperfkit.records.trials import Keeps as Keeps
from tfperfkit.records.trials import Measured as Measured
from tfperfkit.records.trials import TrialReport as TrialReport
from tfperfkit.remedy import Remedy, Rewrite

Family = Literal[
    "input",
    "eager",
    "retrace",
    "compile",
    "batch",
    "precision",
    "device",
    "sync",
    "memory",
    "graph",
    "step",
    "distribution",
]
Severity = Literal["high", "medium", "low", "info"]
ProbeStatus = Literal["ok", "failed", "skipped", "cut"]
RunStatus = Literal["finished", "failed", "killed", "interrupted", "running", "unknown"]
#: Phase of a window; "closed": not long ago.
WindowPhase = Literal["opening", "open", "closing", "closed"]
#: "work": iterations of a loop that trains nothing, in ``Work`` only.
StepSource = Literal["keras", "custom", "function", "work", "none"]
#: Base of ``share_of_step``: the steady step, one iteration of the loop with the time between steps, or the whole run
#: (a short run spent on tracing). "risk": no time is lost yet (memory that grows, a device that is not used), so the
#: share says nothing.
Basis = Literal["step", "turn", "run", "risk"]
#: The time between two steps is reported next to the step time from this share on.
MIN_BETWEEN = calibration.MIN_BETWEEN.value
#: Imports, and whatever else ran, before ``import tensorflow``: nothing is sampled then.
BEFORE_TENSORFLOW = "before TensorFlow"
#: How a column is printed. ``ms``, ``us`` and ``bytes`` are scaled; ``share`` is 0 to 1, printed as per cent.
Unit = Literal["text", "count", "ms", "us", "bytes", "share", "ratio", "source", "location", "number"]


class Measurement(msgspec.Struct, frozen=True):
    """One measured number: every figure in the words of a finding comes from one of these."""

    name: str
    value: float
    unit: str
    window: str = ""  # where it was measured: "baseline", "breakdown", "run" ..., see docs/writing-a-rule.md


class OnceFixed(msgspec.Struct, frozen=True, kw_only=True):
    """Gain of a finding once the earlier findings ``codes`` are fixed."""

    codes: tuple[str, ...]
    gain: Range | AtLeast


class AfterEarlier(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds that a finding saves, from and to, once the earlier findings ``numbers`` (from 1) are fixed that change
    the same steps or the same work."""

    numbers: tuple[int, ...]
    saves_s: tuple[float, float]


class Elsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """Time that a finding's remedy also takes off the run outside of the time that its share refers to, because the
    same cause is at work there; or time that the run pays once after the remedy, and that its share counts.

    ``seconds``, from and to, below 0 if the run pays them; ``where``, in words: "validation, which waits for the
    same map".
    """

    seconds: tuple[float, float]
    where: str


class Finding(msgspec.Struct, frozen=True, kw_only=True, metaclass=TakesStated):
    """One thing that costs time, with its proof and its remedy.

    ``code`` is stable and never reused; ``docs/findings/<code>.md`` explains it. ``share_of_step`` is the time
    lost as a share of the steady step time (0 to 1). ``gain`` is the factor by which the step should get faster if
    this alone is fixed. ``evidence`` is never empty.
    """

    code: str
    if TYPE_CHECKING:
        family: Family = "step"  # ``TakesStated`` gives a finding without one that of its code
    else:
        family: Family
    title: str
    #: "info": a remark. Else it follows from the gain, if that is a share of the steps or of a work.
    severity: Severity = "low"
    share_of_step: float
    gain: Gain = Unknown()
    where: tuple[SourceSpan, ...] = ()
    evidence: tuple[Measurement, ...]
    advice: str
    remedy: Remedy = Rewrite()  # what the advice asks for; not part of the JSON report
    detail: str = ""  # more lines for the console, plain text, e.g. the causes of a retrace
    basis: Basis = "step"
    absorbs: tuple[str, ...] = ()  # codes of findings that only show what this one explains: folded into it
    absorbs_here: tuple[str, ...] = ()  # the same, if they share one of its places (file and line)
    #: No cause, but room: what another choice would gain (``Report.headroom``).
    headroom: bool = False
    #: The parts of the account (``records.parts``) that it explains; empty: those of its family.
    parts: tuple[PartName, ...] = ()
    #: Name of the work outside of training steps (``Work.name``); "" for the training steps or the run.
    work: str = ""
    #: Kind of that work ("" with ``work``, and in reports of before this field).
    work_kind: Literal["loop", "call", ""] = ""
    #: Cost as a share of the run, from the start of the process to its end; None if it is not known.
    share_of_run: float | None = None
    #: The same in seconds of the run; None if that is not known.
    costs_s: float | None = None
    #: 95 % interval of ``costs_s``, by the number of samples; None if there are none.
    costs_range_s: tuple[float, float] | None = None
    #: Seconds that its remedy would take off this run, from and to; None if nothing is predicted. The centre orders the
    #: findings. For a gain that is only known from below, the upper end is the time of the finding's call sites.
    saves_s: tuple[float, float] | None = None
    #: The same as shares of the run (0 to 1).
    saves_share: tuple[float, float] | None = None
    #: Numbers (from 1) of the findings before it whose saved time can't be told from its own: it may as well save more.
    ties_with: tuple[int, ...] = ()
    #: Seconds in ``saves_s`` from other parts of the run: no factor and no share has them.
    elsewhere: tuple[Elsewhere, ...] = ()
    #: Measurement of its remedy by an experiment, if one was tried (``tfperf try``).
    measured: Measured | None = None
    #: Gain once the findings before it are fixed, if that is more; None if it is not known.
    once: OnceFixed | None = None
    #: Seconds that it saves once those before it are fixed; None if none of these changes the same time.
    after: AfterEarlier | None = None
    #: Origin of the silencing: "ignore in pyproject.toml", "comment at train.py:12"; "" if it is reported.
    silenced: str = ""
    #: Changes of a mechanical fix to the script's own lines, as a unified diff; "" if none is known, or wanted.
    patch: str = ""

    @property
    def is_note(self) -> bool:
        """Return whether it is a note and no finding: an observation without a predicted gain."""
        return self.severity == "info" or isinstance(self.gain, UpTo)

    @property
    def subject(self) -> str:
        """Name what gets faster, and what ``share_of_step`` is a share of: "step", "training loop", "run", "call"."""
        if self.work and self.basis in ("step", "turn"):
            return self.work_kind or "work"
        return {"turn": "training loop", "run": "run"}.get(self.basis, "step")


class Column(msgspec.Struct, frozen=True):
    """A column of a table. ``name`` is the heading, ``unit`` says how its values are printed."""

    name: str
    unit: Unit = "text"


def make_columns(*columns: str) -> tuple[Column, ...]:
    """Make columns of their headings, each with its unit: "highest: bytes"; texts have none.

    Raises:
        msgspec.ValidationError: a unit is none of ``Unit``.
    """
    parts = [each.partition(": ") for each in columns]
    return tuple(Column(name, msgspec.convert(unit or "text", Unit)) for name, _, unit in parts)


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A neutral table. Each row has one value per column: str, int, float or None (printed as a dash).

    ``marked`` are the numbers of rows (from 0) to emphasise. ``language`` names the syntax of ``source`` columns;
    ``words`` are the rows in which they hold words of ours, no code.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    note: str = ""
    marked: tuple[int, ...] = ()
    language: str = "python"
    words: tuple[int, ...] = ()


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a probe's ``analyze``: its own record, neutral tables, and its offers to others.

    ``data`` is anything msgspec can encode to a JSON object. ``summary`` is one line under the probe's heading.
    ``findings`` are for a probe without rules: those that come with tfperfkit give none. ``reason`` with status ``cut``
    says what is missing; notes are limits that the reader must know. ``offers`` are records of ``tfperfkit.offers`` or
    of your own, one of a type at most: msgspec Structs or dataclasses.
    """

    data: Any = msgspec.field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    findings: tuple[Finding, ...] = ()
    summary: str = ""
    notes: tuple[str, ...] = ()
    status: ProbeStatus = "ok"
    reason: str | None = None
    offers: tuple[Any, ...] = ()


class ProbeOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A probe's row in the report: its result, or why there is none."""

    name: str
    status: ProbeStatus
    reason: str | None = None
    data: Any = msgspec.field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    summary: str = ""
    notes: tuple[str, ...] = ()


class WindowDeath(msgspec.Struct, frozen=True, kw_only=True):
    """The script was killed by a signal while a window was open, or right after. ``stack`` of the thread that was
    struck, innermost first; empty if it could not be had."""

    signal: str
    probe: str
    phase: WindowPhase
    stack: tuple[SourceSpan, ...] = ()


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The command, its machine and its end. ``exit_code`` is None when it is not known."""

    argv: tuple[str, ...]
    exit_code: int | None
    status: RunStatus
    versions: dict[str, str] = {}
    machine: dict[str, Any] = {}
    wall_s: float = 0.0
    directory: str = ""
    folder: str = ""  # of the script
    handle: str = ""  # what to type after "tfperf report": the run's name, or its folder
    window_death: WindowDeath | None = None
    watched: bool = False  # a part of a program, by ``tfperfkit.watch``
    revision: str = ""  # of the working folder, where Git keeps it; what was changed since is not in it


class Outlier(msgspec.Struct, frozen=True, kw_only=True):
    """A clean step that took much longer than the ordinary one. ``cause``: "" when nothing explains it.

    ``found_ms``: how much of ``excess_ms`` the cause was seen to take.
    """

    step: int
    ms: float
    excess_ms: float
    cause: Cause | Literal[""] = ""
    found_ms: float = 0.0


class StepAccount(msgspec.Struct, frozen=True, kw_only=True):
    """The steady phase, see ``tfperfkit.analysis.step_account``. All times are ms for one step; ``parts_ms`` add up to
    ``mean_ms``.

    ``idle_ms``: of a step, in which an accelerator did nothing, by device (the parts are the training thread's time).
    ``between_ms``: what ran between steps (validation, checkpoints), by kind, on top of ``mean_ms``.
    ``windows``: where the proportions come from: the probe that offered a breakdown, "samples".
    ``input_in_graph_ms``: of the part "input", what passes in compiled functions, as the pace of the pipeline tells, or
    how much longer the first steps of epochs take.
    """

    steps: int
    mean_ms: float
    ordinary_ms: float
    parts_ms: dict[PartName, float] = {}
    windows: tuple[str, ...] = ()
    outliers: tuple[Outlier, ...] = ()
    between_ms: dict[str, float] = {}
    between_total_ms: float = 0.0
    idle_ms: dict[str, float] = {}
    input_in_graph_ms: float = 0.0


class WarmUp(msgspec.Struct, frozen=True, kw_only=True):
    """From the start of the process to the first steady step, in seconds; ``parts_s`` add up to ``total_s``.

    "compile and first runs": what the first steps took in compiled functions beyond tracing and an ordinary step:
    Grappler, XLA, memory; "first steps": what they took beyond that, of whatever kind.
    """

    total_s: float
    parts_s: dict[StartPart, float] = {}


class RunAccount(msgspec.Struct, frozen=True, kw_only=True):
    """The whole run, every second of it in one part: ``parts_s`` add up to ``total_s``, the length that shares of the
    run refer to. Only parts that took time are there, in the order of ``records.parts.RUN_PARTS``.

    ``lines``: for which lines of the user's a part ran, three at most: first the innermost line with half of the part
    below it, then those that were most often the innermost. ``imports_s``: of the part "imports", "before TensorFlow"
    (the interpreter's start and all that ran then), "tensorflow", and the packages that were imported later.
    """

    total_s: float
    parts_s: dict[RunPart, float] = {}
    lines: dict[RunPart, tuple[LineTime, ...]] = {}
    imports_s: dict[str, float] = {}

    def seconds_of(self, *parts: RunPart) -> float:
        """Seconds in these parts."""
        return sum(self.parts_s.get(part, 0.0) for part in parts)

    @property
    def training_share(self) -> float:
        """Return the share of the training steps (0 to 1) in the time since TensorFlow had been imported."""
        since = self.total_s - sum(self.imports_s.get(name, 0.0) for name in (BEFORE_TENSORFLOW, "tensorflow"))
        return min(self.seconds_of("training") / since, 1.0) if since > 0 else 0.0


class StepSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The training steps. Times are of the clean windows (nothing invasive ran); None if not measured.

    ``breakdown_ms`` adds up to ``mean_ms``; ``breakdown_window`` names where its proportions come from.
    """

    count: int
    source: StepSource
    warmup: int = 0
    clean: int = 0  # how many steps the times below rest on
    median_ms: float | None = None
    mean_ms: float | None = None
    p90_ms: float | None = None
    examples_per_s: float | None = None  # what passes between the steps included
    batch_size: int | None = None
    breakdown_ms: dict[str, float] | None = None
    breakdown_window: str = ""
    definition: str = ""  # what counts as a step, in words: "a call of Model.fit's batch", "loop at train.py:88"
    note: str = ""
    account: StepAccount | None = None
    warm_up: WarmUp | None = None


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Work outside of training steps that took a tenth of the run: a loop, or a line that made one long call.

    ``iterations`` that were counted, None if no call that tfperf sees separates them; ``iterations_went_on``: there
    were more after the last one that was timed; ``steps``: their times and their account. Without iterations all of the
    work outside of windows is one, without a breakdown if that would explain little; ``share_of_run``: of the time from
    the start of the process to its end; ``spent_s``: kinds of time in all of its ``seconds``, by stack samples, in the
    kinds of ``StepAccount.between_ms``.
    """

    kind: Literal["loop", "call"]
    where: SourceSpan
    seconds: float
    share_of_run: float
    iterations: int | None = None
    iterations_went_on: bool = False
    definition: str = ""
    spent_s: dict[str, float] = {}
    steps: StepSummary = msgspec.field(default_factory=lambda: StepSummary(count=0, source="work"))

    @property
    def name(self) -> str:
        """``infer.py:40``"""
        return f"{self.where.file.replace(chr(92), '/').rpartition('/')[2]}:{self.where.line}"


class CallTime(msgspec.Struct, frozen=True, kw_only=True):
    """A call site of the user's code that took 2 % of the run or more, with all that ran below it.

    ``call``: what the line calls, as the user wrote it; "" for the user's own Python. ``seconds`` are of the run; no
    moment counts for two of a report's calls. ``seconds_range``: their 95 % interval, by the number of samples; None if
    that is not known. ``parts_s``: the same seconds by part of the run. ``times``: how often the line
    was seen to run, at least; 0 if that is not known. ``rows``: of its largest argument, 0 if they are unknown or few.
    ``callers``: the user's lines on the way to it, outermost first. ``findings``: the codes of those that own most of
    its time; none if its time has no known cause.
    """

    where: SourceSpan
    call: str
    seconds: float
    share_of_run: float
    seconds_range: tuple[float, float] | None = None
    parts_s: dict[str, float] = {}
    times: int = 0
    rows: int = 0
    callers: tuple[SourceSpan, ...] = ()
    findings: tuple[str, ...] = ()


class Overhead(msgspec.Struct, frozen=True, kw_only=True):
    """The tool's own cost, measured in this very run.

    ``baseline_ratio``: time our hooks took in the clean windows, plus one, over the steps' time.
    ``waited_share``: of the steady time, in which the training thread was ready but had no processor.
    ``per_probe``: median step inside the probe's window over the clean median (1.2: 20 % slower there).
    ``by_python``: why the hooks ran as Python, where their C code could not be used; "" if it was, or is not known.
    """

    baseline_ratio: float | None = None
    per_probe: dict[str, float] = {}
    waited_share: float | None = None
    notes: tuple[str, ...] = ()
    by_python: str = ""


class WindowSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A window of the schedule as it came out. ``first_step`` counts from 1; ``steps`` may be 0 (time window)."""

    name: str
    first_step: int
    steps: int
    status: Literal["ok", "cut", "skipped"] = "ok"
    reason: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report: what the JSON holds and what every renderer renders."""

    schema: int
    run: RunInfo
    probes: tuple[ProbeOutcome, ...]
    steps: StepSummary
    findings: tuple[Finding, ...]
    overhead: Overhead
    windows: tuple[WindowSummary, ...] = ()
    headline: str = ""  # the conclusion as one sentence
    conclusion: Conclusion | None = None  # None if nothing was seen that takes time
    notes: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None  # probes whose sections the console shows in full; None: all
    work: tuple[Work, ...] = ()  # outside of training steps, the longest first
    run_account: RunAccount | None = None
    calls: tuple[CallTime, ...] = ()  # where the run's time went by call site, the costliest first
    thread_calls: tuple[CallTime, ...] = ()  # the same of other threads, next to the run's time
    headroom: tuple[Finding, ...] = ()  # what other choices would gain, the most first; empty if a finding comes first
    source: dict[str, str] = {}  # code at the places of findings and calls, by "file:line"
    words: dict[str, str] = {}  # how the console calls the source of the breakdown, by window
    history: History | None = None  # of a run in watch mode
    children: Children | None = None  # of a run with --children; None also where it started none
    silenced: tuple[Finding, ...] = ()  # findings that the user silences; each says by what
    album: Album | None = None  # what can be drawn; only there where it was asked for

    def __repr__(self) -> str:
        """Short: a report has tens of thousands of characters."""
        found, steps = len(self.findings), self.steps.count
        counts = f"{found} finding{'s' * (found != 1)}, {steps} step{'s' * (steps != 1)}"
        return f"<Report of {' '.join(self.run.argv)!r:.80}: {counts}>"


#: Version of the JSON report. Raised when a name that others rely on changes its meaning.
REPORT_SCHEMA = 1
