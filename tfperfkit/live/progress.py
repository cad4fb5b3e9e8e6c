"""Progress of a run so far: from the lines of its streams, as they grow."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from tfperfkit.records.parts import PartName, part_of
from tfperfkit.records.step_cutter import StepCutter
from tfperfkit.records.steps import PAUSE, Definition, Marker, Site, StepCounter

#: Markers kept to count again when the definition of a step changes; until so many it is decided at each.
_REPLAYED, _AT_EACH = 4000, 32
#: The step time is the median of so many steps.
RECENT = 200


class Steps:
    """Counts steps as the report will, on what has come."""

    def __init__(self) -> None:
        self.count = 0
        self.recent_ns: deque[float] = deque(maxlen=RECENT)
        self.batch_size = 0
        self._counter = StepCounter()
        self._kinds: dict[int, str] = {}
        self._definition: Definition | None = None
        self._cutter: StepCutter | None = None
        self._kept: list[Marker] = []
        self._seen = 0

    def site(self, site: Site) -> None:
        """One more place from which markers come."""
        self._counter.add_site(site)
        self._kinds[site.id] = site.kind
        self.batch_size = site.batch_size or self.batch_size

    def called_between(self, begin_ns: int, end_ns: int) -> bool:
        """Return whether a call of a step's began then, of those that are kept."""
        return any(begin_ns < kept.begin_ns < end_ns for kept in self._kept)

    def marker(self, marker: Marker) -> None:
        """One more call at a place that is known."""
        if marker.site != PAUSE:
            if marker.site not in self._kinds:
                return
            self._counter.count(marker)
            self._seen += 1
        if len(self._kept) < _REPLAYED:
            self._kept.append(marker)
        new = marker.site != PAUSE and self._counter.reach[marker.site].count == 1
        definition = self._definition
        if self._seen <= _AT_EACH or new or not self._seen & (self._seen - 1):
            definition = self._counter.definition()
        if definition is not None and definition != self._definition:
            self._begin_anew(definition)
        elif self._cutter is not None:
            self._feed(self._cutter, marker)

    def _begin_anew(self, definition: Definition) -> None:
        before, self.count = self.count, 0
        self.recent_ns.clear()
        self._definition, self._cutter = definition, StepCutter(definition)
        for kept in self._kept:
            self._feed(self._cutter, kept)
        if self._seen > _REPLAYED:
            self.count = max(before, self.count)

    def _feed(self, cutter: StepCutter, marker: Marker) -> None:
        step = cutter.feed(marker, self._kinds.get(marker.site) == "next")
        if step is not None:
            self.count += step.count
            self.recent_ns.append(step.duration_ns)


class Progress:
    """Takes lines of ``records.jsonl``. Lines that can't be read are passed over: the report says what is missing."""

    def __init__(self) -> None:
        self.steps = Steps()
        #: Milliseconds of samples by part of a step (``records.parts``), since the warm-up ended; imports until then.
        self.parts_ms: defaultdict[str, float] = defaultdict(float)
        self.phase = "starting"  # "warm-up", "clean", or the probe whose window is open
        self.window: tuple[int, int] = (0, 0)  # first and last step of the open window; 0: not known
        self.traces: Counter[tuple[str, int, str]] = Counter()  # by file, line, name
        self._twice: dict[
            tuple[str, int, str], tuple[int, int]
        ] = {}  # from the first trace's end to the second's begin
        self.ended = False
        self._stacks: dict[int, PartName | Literal["imports"] | None] = {}
        self._rate_ns = 10_000_000
        self._warm = False
        self._take: dict[str, Callable[[Any], None]] = {
            "session/events": self._event,
            "session/sites": lambda item: self.steps.site(msgspec.convert(item, Site)),
            "session/markers": lambda item: self.steps.marker(msgspec.convert(item, Marker)),
            "session/samples": self._sample,
            "session/traces": self._trace,
        }

    @property
    def retraces(self) -> Counter[tuple[str, int, str]]:
        """Count for each function its traces after those of its first call: a function that makes variables is traced
        twice in its first call.
        """
        found: Counter[tuple[str, int, str]] = Counter()
        for called, count in self.traces.items():
            apart = called in self._twice and self.steps.called_between(*self._twice[called])
            found[called] = max(count - (1 if apart else 2), 0)
        return +found

    def line(self, content: bytes) -> None:
        """One line, whole."""
        if not content.startswith(b'["session/'):
            return
        try:
            stream, item = msgspec.json.decode(content)
            take = self._take.get(stream)
            if take is not None:
                take(item)
        except (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, AttributeError):
            return

    def _event(self, item: dict[str, Any]) -> None:
        kind = item.get("kind")
        if kind == "agent":
            self.phase = "warm-up"
        elif kind == "warm":
            self.phase, self._warm = "clean", True
            self.parts_ms.clear()
        elif kind == "window":
            first, count = int(item["step"]), int(item["steps"])
            self.phase = str(item["probe"])
            self.window = (0, 0) if item.get("whole") or not count else (first, first + count - 1)
        elif kind == "window_end":
            self.phase = "clean" if self._warm else "warm-up"
        elif kind == "end":
            self.ended = True

    def _trace(self, item: list[Any]) -> None:
        called, begin_ns, end_ns = (str(item[0]), int(item[1]), str(item[2])), int(item[3]), int(item[4])
        self.traces[called] += 1
        if self.traces[called] == 1:
            self._twice[called] = (end_ns, end_ns)
        elif self.traces[called] == 2:
            self._twice[called] = (self._twice[called][0], begin_ns)

    def _sample(self, item: list[Any]) -> None:
        if item[0] == "rate":
            self._rate_ns = int(item[2])
        elif item[0] == "stack":
            self._stacks[int(item[1])] = "imports" if _imports(item[2]) else part_of(str(item[4]))
        elif item[0] == "s":
            part = self._stacks.get(int(item[2]))
            if part is not None:
                self.parts_ms[part] += self._rate_ns / 1e6


def _imports(frames: list[list[Any]]) -> bool:
    """Return whether the body of a library's module runs: importing ``keras.saving`` saves nothing."""
    return any(str(call).endswith(":<module>") for frame in frames for call in frame[5:])
