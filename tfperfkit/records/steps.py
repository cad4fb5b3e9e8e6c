"""Training steps: the table of steps, and how steps are counted from markers.

A marker is one observed call on the training thread: fetching a batch (``next``), updating weights eagerly
(``apply``) or by a compiled function (``call``), a batch of ``Model.fit`` (``batch``), ``train_on_batch``.
Each carries its call site: the chain of source loops around it, outermost first. The step of a custom loop is one
iteration of the innermost loop that holds every update. All of this is pure: it runs online in the script's process
(to place windows) and again over the whole stream in the report.
"""

from __future__ import annotations

import bisect
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

import msgspec

MarkerKind = Literal[
    "batch",
    "train_on_batch",
    "call",
    "apply",
    "next",
    "loop_call",
    "named",
    "predict",
    "evaluate",
    "session",
    "function",
]
#: Markers that change weights; ``next`` only helps to place a step's beginning, the others tell the iterations of work
#: that trains nothing (``analysis.work``).
UPDATES = frozenset({"batch", "train_on_batch", "call", "apply", "loop_call", "named"})
#: A place of updates this many times rarer than another is not what the training loop goes by; and a loop that makes
#: this many updates in a row is a training loop of its own.
_OFTEN = 20
#: From this many on, functions or optimizers that are each used once, at one line, are taken for one.
_ANEW = 3


#: The site number of the session's own pauses.
PAUSE = 0

#: The first steps, which trace and compile, are the warm-up: so many at least.
WARMUP_MIN = 2
#: So many steps in one call, and it is an epoch, or a good part of one.
IN_ONE_CALL = 10


class Loop(msgspec.Struct, frozen=True):
    """A source loop: where its statement stands."""

    file: str
    line: int


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """One place from which markers of one kind come, interned: ``target`` tells optimizers or functions apart."""

    id: int
    kind: MarkerKind
    target: int  # which optimizer or function (a small number, in order of appearance)
    name: str = ""
    file: str = ""
    line: int = 0
    function: str = ""
    loops: tuple[Loop, ...] = ()  # outermost first
    chain: tuple[tuple[str, int], ...] = ()  # the user's lines that lead here, innermost first
    batch_size: int = 0  # examples per step as far as the site can tell; 0: not known


class Marker(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call seen at a site. ``steps`` is how many steps it holds (steps_per_execution, loops in a graph)."""

    site: int
    begin_ns: int
    end_ns: int
    steps: int = 1


class Step(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A step (or ``count`` steps that can't be told apart) and the window in which it ran.

    Work that has no iterations is one step in several stretches: the ``count`` of all but its first stretch is 0.
    """

    number: int  # of its first step, from 1
    begin_ns: int
    end_ns: int
    count: int = 1
    input_ns: int = 0  # time in fetching batches, seen from Python
    window: str = ""  # "warmup", "clean", "settle" (the first after a window), or the name of a probe

    @property
    def duration_ns(self) -> float:
        """Of one step, in nanoseconds; of a stretch with the count 0, its length."""
        return (self.end_ns - self.begin_ns) / max(self.count, 1)


class StepTable(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """All steps of a run, in order."""

    steps: tuple[Step, ...] = ()
    source: Literal["keras", "custom", "function", "work", "none"] = "none"
    definition: str = ""  # in words
    loop: Loop | None = None  # the training loop, where a step is an iteration of one that the user wrote
    note: str = ""
    batch_size: int = 0  # 0: not known
    pauses: tuple[tuple[int, int], ...] = ()  # begin, end in ns: our own work between two steps
    gaps: tuple[tuple[int, int], ...] = ()  # begin, end in ns: where watch mode dropped the records
    dropped: int = 0  # steps in the gaps

    @cached_property
    def count(self) -> int:
        return sum(step.count for step in self.steps) + self.dropped

    def in_window(self, window: str) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.window == window)

    @cached_property
    def clean(self) -> tuple[Step, ...]:
        """Return the steps in which nothing invasive ran, warm-up left out."""
        return self.in_window("clean")

    def number_at(self, when_ns: int) -> int:
        """Return the number of the step that was running at a time; 0 before the first step, the last one's after the
        end."""
        index = bisect.bisect_right(self._begins, when_ns) - 1
        return self.steps[index].number if index >= 0 else 0

    def beginning_at(self, when_ns: int) -> int:
        """Return the number of the step that begins at a time read in a callback of ``Recording.on_step``: where the
        callbacks made a pause, the step begins at its end."""
        return self.number_at(self.past_pause(when_ns))

    def past_pause(self, when_ns: int) -> int:
        """Return the end of the pause that a time is in; the time itself where it is in none."""
        index = bisect.bisect_right(self.pauses, (when_ns, sys.maxsize)) - 1
        return max(when_ns, self.pauses[index][1]) if index >= 0 else when_ns

    @cached_property
    def _begins(self) -> tuple[int, ...]:
        return tuple(step.begin_ns for step in self.steps)


#: Kinds of steps: a call of the function that the user named, a batch of ``Model.fit``, an iteration of a loop that the
#: user wrote, an update outside of all loops, an iteration of a loop inside a compiled function.
StepUnit = Literal["named_call", "fit_batch", "iteration", "update", "graph_iteration"]


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """Definition of a step: a marker at one of ``ends`` completes one; one at ``begins`` opens the next.

    ``rounds`` are those of both that a step reaches several times (five updates of a critic, two of a generator): it
    lasts until one of ``begins`` comes again after one of ``ends``. ``closing`` are the ``ends`` that complete a step
    at once, as all do when there are no ``begins``. ``unit`` says what a step is, in which loop (``place``) or function
    (``name``).
    """

    source: Literal["keras", "custom", "function"]
    ends: frozenset[int]
    begins: frozenset[int] = frozenset()
    unit: StepUnit
    name: str = ""  # of the function
    place: Loop | None = None  # of the loop or of the update
    rounds: frozenset[int] = frozenset()
    closing: frozenset[int] = frozenset()


class Reach(msgspec.Struct):
    """How often a site was reached, when first and last (ns), and in how many unbroken runs among the updates."""

    count: int = 0
    first_ns: int = 0
    last_ns: int = 0
    runs: int = 0


class _Place(msgspec.Struct, frozen=True):
    """Sites of one line that take turns, and their reach together: each trial of a hyper-parameter search makes its
    own optimizer, and all of them are applied at the same line."""

    sites: tuple[Site, ...]
    reach: Reach

    @property
    def loops(self) -> tuple[Loop, ...]:
        return self.sites[0].loops

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(site.id for site in self.sites)


class StepCounter:
    """Counts sites, decides what a step is, and cuts the stream of markers into steps. Feed it markers in order.

    ``cut(markers)`` cuts a whole stream with the definition reached so far.
    """

    def __init__(self) -> None:
        self.sites: dict[int, Site] = {}
        self.reach: dict[int, Reach] = {}
        self._updated = 0  # the site of the last update

    def add_site(self, site: Site) -> None:
        self.sites[site.id] = site
        self.reach[site.id] = Reach()

    def count(self, marker: Marker) -> None:
        reach = self.reach.get(marker.site)
        if reach is None or marker.steps == 0:
            return
        if not reach.count:
            reach.first_ns = marker.begin_ns
        reach.count += 1
        reach.last_ns = marker.end_ns
        if self.sites[marker.site].kind in UPDATES:
            reach.runs += marker.site != self._updated
            self._updated = marker.site

    def definition(self) -> Definition | None:
        """Return the definition of a step, as far as it is known; None while nothing has updated weights."""
        seen = [site for site in self.sites.values() if self.reach[site.id].count]
        named = [site for site in seen if site.kind == "named"]
        if named:
            ids = frozenset(site.id for site in named)
            return Definition(source="function", ends=ids, begins=ids, unit="named_call", name=named[0].name)
        parts = [self._phase(phase, seen) for phase in self._phases([s for s in seen if s.kind in UPDATES])]
        if not parts:
            return None
        return self._joined(parts)

    def _joined(self, parts: list[Definition]) -> Definition:
        """One definition for several training loops; what a step is says the one with the most updates."""
        main = max(parts, key=lambda part: sum(self.reach[i].count for i in part.ends))
        return Definition(
            source=main.source,
            ends=frozenset().union(*(part.ends for part in parts)),
            begins=frozenset().union(*(part.begins for part in parts)),
            unit=main.unit,
            name=main.name,
            place=main.place,
            rounds=frozenset().union(*(part.rounds for part in parts)),
            closing=frozenset().union(*(part.closing if part.begins else part.ends for part in parts)),
        )

    def _phases(self, updates: list[Site]) -> list[list[Site]]:
        """Groups of sites whose times overlap: a pre-training loop that ended is a phase of its own."""
        phases: list[list[Site]] = []
        until = -1
        for site in sorted(updates, key=lambda site: self.reach[site.id].first_ns):
            reach = self.reach[site.id]
            # Two sites reached once each are as likely the first half and the second half of one step.
            again = phases and any(self.reach[item.id].count > 1 for item in phases[-1])
            if phases and (reach.first_ns <= until or not again):
                phases[-1].append(site)
            else:
                phases.append([site])
            until = max(until, reach.last_ns)
        return phases

    def _phase(self, updates: list[Site], seen: list[Site]) -> Definition:
        counts = {site.id: self.reach[site.id].count for site in updates}
        batches = [site for site in updates if site.kind == "batch"]
        if batches and 2 * sum(counts[s.id] for s in batches) >= sum(counts.values()):
            ids = frozenset(site.id for site in batches)
            return Definition(source="keras", ends=ids, begins=ids, unit="fit_batch")
        custom = [site for site in updates if site.kind in ("call", "apply", "train_on_batch")]
        if not custom:
            looped = frozenset(site.id for site in updates)
            return Definition(source="function", ends=looped, unit="graph_iteration", name=updates[0].name)
        if any(site.loops and counts[site.id] > 1 for site in custom):
            # An update outside of every loop is made once, to build the optimizer's variables.
            custom = [site for site in custom if site.loops or counts[site.id] > 1]
        return self._loop(self._places(custom), seen)

    def _loop(self, places: list[_Place], seen: list[Site]) -> Definition:
        """Return a step of a loop that the user wrote: one iteration of the innermost loop that holds every update."""
        # A place reached far less often than the busiest one does not decide which loop is the training loop.
        busiest = max(place.reach.count for place in places)
        main = [place for place in places if place.reach.count * _OFTEN >= busiest]
        depth = _common_depth([place.loops for place in main])
        direct: list[_Place] = []
        while depth > 0:
            direct = [place for place in main if len(place.loops) == depth]
            if len(direct) <= len({_lines(place.sites[0]) for place in direct}):
                break
            depth -= 1  # "for network in (...)": an iteration of that loop updates only one of them
            direct = []
        direct = direct or [place for place in main if len(place.loops) == depth == 0]
        if not direct and len(main) > 1 and all(place.reach.count >= _OFTEN * place.reach.runs for place in main):
            # Long loops in turn, an autoencoder's and then a GAN's in each epoch: training loops of their own.
            return self._joined([self._loop([place], seen) for place in main])
        # The last update of an iteration ends the step. All that are reached in each iteration are candidates; in an
        # unfinished iteration some have been reached once more than others.
        often = {place.ids: place.reach.count if direct else place.reach.runs for place in direct or main}
        largest = max(often.values())
        candidates = [place for place in direct or main if often[place.ids] + 1 >= largest]
        head = max(candidates, key=lambda place: place.reach.first_ns)
        loop = main[0].loops[depth - 1] if depth else None
        begins = self._fetches(seen, main[0].loops[:depth], often[head.ids]) if loop else frozenset()
        rounds: frozenset[int] = frozenset()
        if not direct and head.reach.count > head.reach.runs:
            begins = min(main, key=lambda place: place.reach.first_ns).ids
            rounds = begins | head.ids
        site = head.sites[0]
        place = loop or Loop(site.file, site.line)
        source: Literal["keras", "custom"] = "keras" if site.kind == "train_on_batch" else "custom"
        unit: StepUnit = "iteration" if loop else "update"
        return Definition(source=source, ends=head.ids, begins=begins, unit=unit, place=place, rounds=rounds)

    def _places(self, sites: list[Site]) -> list[_Place]:
        """Return the sites, those of one line joined whose times follow each other.

        At the first iteration of "for network in (...)" the next site has also followed the one before, which then has
        been reached once only; but many that are reached once are a function that is created again for each step.
        """
        groups: list[list[Site]] = []
        once = Counter((s.kind, s.loops, _lines(s)) for s in sites if self.reach[s.id].count == 1)
        for site in sorted(sites, key=lambda site: self.reach[site.id].first_ns):
            for group in groups:
                last, before = group[-1], self.reach[group[-1].id]
                key = (site.kind, site.loops, _lines(site))
                same = (last.kind, last.loops, _lines(last)) == key
                settled = before.count > 1 or once[key] >= _ANEW
                if same and settled and before.last_ns < self.reach[site.id].first_ns:
                    group.append(site)
                    break
            else:
                groups.append([site])
        return [_Place(tuple(group), self._add_reaches(group)) for group in groups]

    def _add_reaches(self, group: list[Site]) -> Reach:
        every = [self.reach[site.id] for site in group]
        return Reach(
            count=sum(reach.count for reach in every),
            first_ns=every[0].first_ns,
            last_ns=every[-1].last_ns,
            runs=sum(reach.runs for reach in every),
        )

    def _fetches(self, seen: list[Site], loops: tuple[Loop, ...], updates: int) -> frozenset[int]:
        """Return the sites of the fetch that begins each iteration of the last of ``loops``; none if no fetch does.

        The first of several fetches in an iteration. Not one that is rarer than the updates (a batch for validation
        now and then), nor one that comes twice and more for each update: there gradients are accumulated, and a step
        lasts from update to update.
        """
        lines: dict[tuple[str, int], list[Site]] = {}
        for site in seen:
            if site.kind == "next" and len(site.loops) == len(loops) and site.loops[-1] == loops[-1]:
                lines.setdefault((site.file, site.line), []).append(site)
        found = [(min(self.reach[s.id].first_ns for s in group), group) for group in lines.values()]
        for _, group in sorted(found, key=lambda item: item[0]):
            fetched = sum(self.reach[site.id].count for site in group)
            if fetched + 1 >= updates:
                return frozenset(site.id for site in group) if fetched < 2 * updates else frozenset()
        return frozenset()


def _lines(site: Site) -> tuple[tuple[str, int], ...]:
    """Return the lines that lead to a site: they tell two calls of one helper apart."""
    return site.chain or ((site.file, site.line),)


def _common_depth(chains: Iterable[tuple[Loop, ...]]) -> int:
    depth = 0
    for loops in zip(*chains, strict=False):
        if len(set(loops)) > 1:
            break
        depth += 1
    return depth
