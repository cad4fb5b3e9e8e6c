"""The stack samples of the session, read back: shares of lines, functions and activities, and what ran below them."""

from __future__ import annotations

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from tfperfkit import calibration
from tfperfkit.records.events import of_kind
from tfperfkit.records.spans import Span

Place = tuple[str, int]  # file, line
FunctionKey = tuple[str, int, str]  # file, first line, name
TENSORFLOW = ("tensorflow", "keras", "tf_keras")
#: Seconds between two samples while shares are drawn from them.
FAST_S = 0.010
#: Samples further apart than this don't tell what was done in between.
NEAR_NS = round(3 * FAST_S * 1e9)
#: Fewer samples than this don't tell shares.
MIN = calibration.MIN_SAMPLES.value


class Frame(NamedTuple):
    """A frame of the user's own code. ``span``: the expression that it was in, as (line, last line, column, end
    column); ``calls``: the functions of libraries that it called, outermost first, two at most, as "module:function";
    None if the recording is older than these."""

    file: str
    first: int
    name: str
    line: int
    span: tuple[int, int, int, int] | None = None
    calls: tuple[str, ...] | None = None


class Stack(NamedTuple):
    """Facts that a sample saw: the user's frames, outermost first; the package that ran below them ("": their own
    code); ``Activity`` and ``Context`` of ``records.parts`` ("" in recordings that are older than these).
    """

    frames: tuple[Frame, ...]
    library: str
    activity: str = ""
    context: str = ""


class Samples:
    """Samples of some stretch of time. Shares are of these samples, 0 to 1."""

    def __init__(self) -> None:
        self.count = 0
        self.span_s = 0.0
        self.activities: Counter[str] = Counter()
        self.contexts: Counter[str] = Counter()
        #: Samples within Keras' ``predict`` and ``evaluate``, by activity: a part of ``activities``.
        self.evaluating: Counter[str] = Counter()
        #: The stacks that were seen, and how often.
        self.stacks: Counter[Stack] = Counter()
        self._lines: Counter[tuple[FunctionKey, int]] = Counter()
        self._places: Counter[Place] = Counter()
        self._below: defaultdict[Place, Counter[str]] = defaultdict(Counter)
        self._doing: defaultdict[Place, Counter[str]] = defaultdict(Counter)
        self._leaves: Counter[Place] = Counter()
        self._leaf_frames: defaultdict[Place, Counter[Frame]] = defaultdict(Counter)
        self._leaf_activity: defaultdict[Place, Counter[str]] = defaultdict(Counter)
        self._functions: Counter[FunctionKey] = Counter()
        self._function_activity: defaultdict[FunctionKey, Counter[str]] = defaultdict(Counter)
        self._in_tensorflow = 0
        self._leaf_above: defaultdict[Place, Counter[Place]] = defaultdict(Counter)

    def add(self, stack: Stack, times: int = 1) -> None:
        """One sample, or so many of the same stack."""
        frames, library = stack.frames, stack.library
        self.count += times
        self.stacks[stack] += times
        self.activities[stack.activity] += times
        if stack.context:
            self.contexts[stack.context] += times
        if stack.context == "evaluate":
            self.evaluating[stack.activity] += times
        # In their order: ties must not depend on the hash seed.
        for file, first, name, line in dict.fromkeys(frame[:4] for frame in frames):
            self._lines[(file, first, name), line] += times
        for function in dict.fromkeys((frame.file, frame.first, frame.name) for frame in frames):
            self._functions[function] += times
            self._function_activity[function][stack.activity] += times
        for place in dict.fromkeys((frame.file, frame.line) for frame in frames):
            self._places[place] += times
            self._below[place][library or "own"] += times
            self._doing[place][stack.activity] += times
        if library in TENSORFLOW:
            self._in_tensorflow += times
        if frames:
            leaf = (frames[-1].file, frames[-1].line)
            self._leaves[leaf] += times
            self._leaf_frames[leaf][frames[-1]] += times
            self._leaf_activity[leaf][stack.activity] += times
            for frame in frames:
                self._leaf_above[leaf][frame.file, frame.line] += times

    def share(self, place: Place) -> float:
        """Return how often the line was on the stack."""
        return self._places[place] / self.count if self.count else 0.0

    def leaf_share(self, place: Place) -> float:
        """Return how often the line was the innermost of the user's own: it, or the library that it called, ran."""
        return self._leaves[place] / self.count if self.count else 0.0

    def activity_share(self, activity: str) -> float:
        """Return the share of the samples that an activity (``records.parts``) has."""
        return self.activities[activity] / self.count if self.count else 0.0

    def leaves(self) -> list[Place]:
        """Return the innermost lines, most frequent first."""
        return [place for place, _ in self._leaves.most_common()]

    def places(self) -> list[Place]:
        """Return all lines that were on the stack, most frequent first."""
        return [place for place, _ in self._places.most_common()]

    def functions(self) -> list[FunctionKey]:
        """Return all functions that were on the stack, most frequent first."""
        return [function for function, _ in self._functions.most_common()]

    def innermost(self, place: Place) -> Counter[Frame]:
        """Return the frames whose innermost line of the user's this was, in samples."""
        return self._leaf_frames[place]

    def within(self, leaf: Place, place: Place) -> float:
        """Return the share of the samples with the innermost line ``leaf`` that have ``place`` on the stack too."""
        return self._leaf_above[leaf][place] / self._leaves[leaf] if self._leaves[leaf] else 0.0

    def below(self, place: Place) -> Counter[str]:
        """Count the samples below a line, by the package that ran ("own": the user's Python itself)."""
        return self._below[place]

    def doing(self, place: Place) -> Counter[str]:
        """Count the samples below a line, by activity."""
        return self._doing[place]

    def doing_innermost(self, place: Place) -> Counter[str]:
        """Count the samples in which a line was the user's innermost, by activity."""
        return self._leaf_activity[place]

    def doing_in(self, function: FunctionKey) -> Counter[str]:
        """Count the samples below a function, by activity."""
        return self._function_activity[function]

    def tensorflow_share(self, place: Place) -> float:
        """Return the share of all samples in which TensorFlow ran that are below this line; 0 if there are too few."""
        if self._in_tensorflow < 5:
            return 0.0
        return sum(self._below[place][name] for name in TENSORFLOW) / self._in_tensorflow

    @property
    def tensorflow_total(self) -> float | None:
        """Return the share of the samples in which TensorFlow or Keras ran below the user's code; None with too few."""
        return self._in_tensorflow / self.count if self.count >= MIN else None

    def by_function(self) -> dict[FunctionKey, dict[int, float]]:
        """For each function, the share of each of its lines."""
        found: dict[FunctionKey, dict[int, float]] = {}
        for (key, line), hits in self._lines.items():
            found.setdefault(key, {})[line] = hits / max(self.count, 1)
        return found


class SampleLog:
    """All samples of a run in order of time. ``rates``: (since when, the pause between two samples), both in ns."""

    def __init__(
        self, stacks: dict[int, Stack], taken: Sequence[tuple[int, int]], rates: Sequence[tuple[int, int]] = ()
    ) -> None:
        self._stacks = stacks
        self._taken = [sample for sample in taken if sample[1] in stacks]
        self._times = [when for when, _ in self._taken]
        self._rates = sorted(rate for rate in rates if rate[1] > 0)
        self._changed = [since for since, _ in self._rates]

    def inside(self, spans: Iterable[Span]) -> list[tuple[int, Stack]]:
        """(when, stack) of the samples in ``spans``, which must not overlap."""
        found: list[tuple[int, Stack]] = []
        checked, upcoming = -1, -1.0  # no sample lies behind the one and before the other: most steps have none
        for begin, end in spans:
            if checked < begin and end < upcoming:
                continue
            low, high = bisect.bisect_left(self._times, begin), bisect.bisect_right(self._times, end)
            found += [(when, self._stacks[number]) for when, number in self._taken[low:high]]
            checked, upcoming = end, self._times[high] if high < len(self._times) else math.inf
        return found

    def weighted(self, spans: Iterable[Span]) -> list[tuple[Stack, int]]:
        """(stack, ns that it stands for): after the windows samples are fewer. 1 each where no rate was recorded."""
        return [(stack, self.pause(when)) for when, stack in self.inside(spans)]

    def pause(self, when: int) -> int:
        """ns that were to pass between two samples then; 1 where no rate was recorded."""
        number = bisect.bisect_right(self._changed, when) - 1
        return self._rates[max(number, 0)][1] if self._rates else 1

    @property
    def begins(self) -> int | None:
        """When sampling began; None without samples."""
        return self._changed[0] if self._rates else self._times[0] if self._times else None

    def samples(self, spans: Sequence[Span]) -> Samples:
        """Return the samples in ``spans``, counted."""
        samples = Samples()
        samples.span_s = sum(end - begin for begin, end in spans) / 1e9
        seen = self.inside(spans)
        times = Counter(id(stack) for _, stack in seen)  # of a number there is one stack
        for stack in {id(stack): stack for _, stack in seen}.values():
            samples.add(stack, times[id(stack)])
        return samples

    def within(self, spans: Iterable[Span]) -> SampleLog:
        """Return the log of these stretches only."""
        inside = [sample for begin, end in spans for sample in self._taken[self._at(begin) : self._at(end)]]
        return SampleLog(self._stacks, inside, self._rates)

    def count_times(self, place: Place) -> int:
        """Return how many separate times a line was seen to run, at least; 0 if that is not known.

        Samples in a row count as one time. Only samples of code below the script's top level count: while the main
        thread waits, another thread may be sampled, and that does not end a call.
        """
        times, before = 0, False
        for _, stack in self.inside(self.whole):
            if stack.frames and stack.frames[0].name == "<module>":
                here = any((frame.file, frame.line) == place for frame in stack.frames)
                times += here and not before
                before = here
        return times

    def _at(self, when: int) -> int:
        return bisect.bisect_left(self._times, when)

    @property
    def whole(self) -> tuple[Span, ...]:
        return ((self._times[0], self._times[-1]),) if self._times else ()


class _Source(Protocol):
    """Source of the samples: a probe's ``Capture`` or the analysis itself."""

    @property
    def steps(self) -> Any: ...

    def session_records(self, stream: str) -> Iterable[Any]: ...


def read_log(rows: Iterable[Any], kind: str = "s") -> SampleLog:
    """Return the log from the stream ``samples``; damaged rows are left out.

    ``kind``: "s" for the thread that drives TensorFlow, the other names for other threads, while they open files again
    (``beside``), keep a CPU core busy (``busy``), that thread waits for them (``awaited``), that thread waits and they
    wait too (``standing``), or TensorFlow calls Python on them (``called``).
    """
    stacks: dict[int, Stack] = {}
    taken: list[tuple[int, int]] = []
    rates: list[tuple[int, int]] = []
    for row in rows:
        try:
            if row[0] == "stack":
                frames = tuple(map(_frame, row[2]))
                words = [str(item) for item in row[3:6]]
                stacks[int(row[1])] = Stack(frames, *words)
            elif row[0] == kind:
                taken.append((int(row[1]), int(row[2])))
            elif row[0] == "rate":
                rates.append((int(row[1]), int(row[2])))
        except (TypeError, ValueError, IndexError, KeyError):
            continue
    return SampleLog(stacks, sorted(taken), rates)


def _frame(row: Any) -> Frame:
    if len(row) < 5:
        return Frame(str(row[0]), int(row[1]), str(row[2]), int(row[3]))
    span = tuple(map(int, row[4])) if row[4] is not None else None
    kept = (span[0], span[1], span[2], span[3]) if span is not None else None
    return Frame(str(row[0]), int(row[1]), str(row[2]), int(row[3]), kept, tuple(map(str, row[5:])))


def read_samples(source: _Source) -> Samples:
    """Return the samples of clean steps, if possible of the time when they were precise; without clean steps, all of
    the run.

    Too few of them are not made up for by what ran before the steps: ``MIN`` decides whether they tell anything."""
    log = read_log(source.session_records("samples"))
    return steady_samples(log, source.steps, source.session_records("events"))


def steady_samples(log: SampleLog, steps: Any, events: Iterable[Any]) -> Samples:
    """See ``read_samples``."""
    clean = [(step.begin_ns, step.end_ns) for step in steps.clean]
    begin, end = precise_span(events)
    precise = [span for span in clean if begin <= span[0] and span[1] <= end]
    if not clean:
        return log.samples(list(log.whole))
    samples = log.samples(precise)
    return samples if samples.count >= MIN else log.samples(clean)


def precise_span(events: Iterable[Any]) -> Span:
    """Return the last time in which samples fell on short stretches of Python too."""
    spans = precise_spans(events)
    return spans[-1] if spans else (1 << 62, 1 << 62)


def precise_spans(events: Iterable[Any]) -> list[Span]:
    """Return the times in which samples fell on short stretches of Python too (see
    ``instruments.stacks.switch_interval``)."""
    spans: list[Span] = []
    begin: int | None = None
    for event in of_kind(events, "precise", "precise_end"):
        if not isinstance(event.get("ns"), int):
            continue
        if event["kind"] == "precise":
            begin = event["ns"]
        elif begin is not None:
            spans.append((begin, event["ns"]))
            begin = None
    return spans if begin is None else [*spans, (begin, 1 << 62)]


_MODULES = {
    "load": ("_call_attribute", "_call_flat", "get_handle", "get_unused_handle", "_unused_handle"),
    "function_deserialization": (
        "_run_functions_eagerly",
        "restored_function_body",
        "_concrete_function_callable_with",
        "_try_convert_to_tensor_spec",
        "_is_tensor",
        "_call_concrete_function",
    ),
    "signature_serialization": ("__getitem__", "__iter__", "__len__"),
}
FOLDER = "tensorflow/python/saved_model/"
#: Functions of TensorFlow's loader of SavedModels that run in each call of what was loaded, by module.
RESTORED: dict[str, frozenset[str]] = {module: frozenset(functions) for module, functions in _MODULES.items()}
#: The same, as frames of samples name them.
RESTORED_CALLS = frozenset(
    f"{FOLDER.replace('/', '.')}{module}:{function}" for module, functions in _MODULES.items() for function in functions
)
#: It only calls the object that was loaded.
PASSES_ON = "_call_attribute"
