"""A training script as a stream of markers, for the tests of steps."""

from __future__ import annotations

from tfperfkit.records.step_cutter import cut
from tfperfkit.records.steps import Definition, Loop, Marker, MarkerKind, Site, Step, StepCounter

TRIALS, EPOCHS, STEPS, INNER = Loop("train.py", 10), Loop("train.py", 20), Loop("train.py", 30), Loop("train.py", 40)
TICK = 100  # ns from the begin of one marker to the next
LASTS = 60  # ns that a marker takes


class Script:
    """A training script: makes sites and marks them, one every 100 ns."""

    def __init__(self) -> None:
        self.counter = StepCounter()
        self.markers: list[Marker] = []
        self.now = 0

    def site(
        self, kind: MarkerKind, line: int, *loops: Loop, target: int = 1, name: str = "", via: tuple[int, ...] = ()
    ) -> int:
        """Return a new site; ``via`` are the lines that called its function, innermost first."""
        number = len(self.counter.sites) + 1
        chain = tuple(("train.py", place) for place in (line, *via))
        self.counter.add_site(
            Site(id=number, kind=kind, target=target, name=name, file="train.py", line=line, loops=loops, chain=chain)
        )
        return number

    def mark(self, *sites: int, steps: int = 1) -> None:
        for site in sites:
            marker = Marker(site, self.now, self.now + LASTS * (steps > 0), steps)
            self.markers.append(marker)
            self.counter.count(marker)
            self.now += TICK

    def wait(self, ticks: int) -> None:
        self.now += ticks * TICK

    @property
    def definition(self) -> Definition:
        found = self.counter.definition()
        assert found is not None
        return found

    @property
    def steps(self) -> tuple[Step, ...]:
        return cut(self.counter, self.markers, self.definition)

    @property
    def count(self) -> int:
        return sum(step.count for step in self.steps)

    @property
    def ticks(self) -> list[float]:
        """The length of each step, in markers."""
        return [round(step.duration_ns / TICK, 1) for step in self.steps]
