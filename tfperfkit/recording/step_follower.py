"""Following the training steps while they happen: from markers to step boundaries.

Decides what a step is as early as it can and again whenever a new site shows up; tells the session when a step is
about to begin. The report counts once more from the whole stream, so a late insight costs nothing but a window's place.
"""

from __future__ import annotations

from collections.abc import Callable

from tfperfkit.records.step_cutter import StepCutter
from tfperfkit.records.steps import Definition, Marker, Site, StepCounter

#: Maximum number of markers that are kept to count again when the definition of a step changes.
REPLAYED = 4000
#: Up to this many markers the definition is decided at each, then at powers of two and at new sites.
AT_EACH_MARKER = 32


class StepFollower:
    """``boundary(number, last_step_ns)`` is called as each step begins; ``last_step_ns`` is 0 when not known."""

    def __init__(self, boundary: Callable[[int, int], None]) -> None:
        self._boundary = boundary
        self._counter = StepCounter()
        self._kinds: dict[int, str] = {}
        self._definition: Definition | None = None
        self._cutter: StepCutter | None = None
        self._kept: list[Marker] = []
        self._seen = 0
        self._skipped: dict[int, int] = {}  # calls at each site that were only counted

    def add_site(self, site: Site) -> None:
        self._counter.add_site(site)
        self._kinds[site.id] = site.kind

    @property
    def definition(self) -> Definition | None:
        """Return the definition of a step, as far as it is known."""
        return self._definition

    def is_step(self, site: int) -> bool:
        """Return whether steps begin or end at a site."""
        definition = self._definition
        return definition is not None and (site in definition.begins or site in definition.ends)

    def is_fetch(self, site: int) -> bool:
        """Return whether batches are fetched at a site."""
        return self._kinds.get(site) == "next"

    def sites(self) -> list[Site]:
        """Return all sites so far."""
        return list(self._counter.sites.values())

    def entering(self, site: int) -> None:
        """Note that a call at a site is about to begin: it may open a step."""
        cutter = self._cutter
        if self._skipped:
            self._catch_up()
        if cutter is not None and cutter.complete and self._definition and site in self._definition.begins:
            self._boundary(cutter.next_number, 0)

    def marked(self, marker: Marker) -> None:
        """Note that a call at a site has ended: it may end a step."""
        if self._skipped:
            self._catch_up()
        self._counter.count(marker)
        self._seen = seen = self._seen + 1
        if seen <= REPLAYED:
            self._kept.append(marker)
        if seen <= AT_EACH_MARKER or seen & (seen - 1) == 0 or self._counter.reach[marker.site].count == 1:
            self._decide(marker)
        elif self._cutter is not None and self._definition is not None:
            step = self._cutter.feed(marker, self._kinds.get(marker.site) == "next")
            if step is not None and marker.site not in self._definition.begins:
                self._boundary(self._cutter.number, step.end_ns - step.begin_ns)

    def skip(self, marker: Marker) -> None:
        """Count a call at a site that has ended while nobody wants to know when a step begins."""
        self._counter.count(marker)
        self._skipped[marker.site] = self._skipped.get(marker.site, 0) + marker.steps
        reach = self._counter.reach.get(marker.site)
        if reach is not None and reach.count & (reach.count - 1) == 0:
            self._look_again()

    def _look_again(self) -> None:
        """Another loop may have begun to train: whoever counts these calls must know what a step is by now."""
        definition = self._counter.definition()
        if definition is not None and definition != self._definition:
            self._catch_up()
            number = self._cutter.number if self._cutter is not None else 1
            self._definition, self._cutter = definition, StepCutter(definition)
            self._cutter.number = number

    def _catch_up(self) -> None:
        """Number the steps on, about right: whoever hears of steps again has heard of none for a while."""
        if self._cutter is not None and self._definition is not None:
            closing = self._definition.closing or self._definition.ends
            self._cutter.number += sum(count for site, count in self._skipped.items() if site in closing)
        self._skipped.clear()

    def paused(self, pause: Marker) -> None:
        """Our own work stood between two steps; it belongs to neither."""
        if self._seen < REPLAYED:
            self._kept.append(pause)
        if self._cutter is not None:
            self._cutter.feed(pause, False)

    def _decide(self, marker: Marker) -> None:
        definition = self._counter.definition()
        if definition is None:
            return
        before = self._cutter.number if self._cutter else 1
        self._definition = definition
        self._cutter = StepCutter(definition)
        last = None
        for kept in self._kept:
            last = self._cutter.feed(kept, self._kinds.get(kept.site) == "next") or last
        if self._seen > REPLAYED:
            self._cutter.number = max(before, self._cutter.number)
        if self._cutter.number > before and marker.site not in definition.begins and last is not None:
            self._boundary(self._cutter.number, last.end_ns - last.begin_ns)
