"""The step as it runs when the work that prepares its batches takes another time.

If that work runs next to the step, the slower of the two sets the pace, as far as there are CPU cores for both.
"""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit.calibration import CONTENDED
from tfperfkit.pricing.facts import Left


class Overlap(NamedTuple):
    """``step_ms``: the mean step. ``other_ms``: the step without its wait for batches. ``cpus``: the CPU cores."""

    step_ms: float
    other_ms: float
    cpus: int

    def rerun(self, best_ms: float, worst_ms: float, likely_ms: float | None = None) -> Left:
        """Return what is left of the step if it takes from ``best_ms`` to ``worst_ms``, and most likely ``likely_ms``;
        nothing gets slower."""
        low, high = sorted((best_ms, worst_ms))
        likely = None if likely_ms is None else min(max(likely_ms, low), high, self.step_ms) / self.step_ms
        return Left(min(low / self.step_ms, 1.0), min(high / self.step_ms, 1.0), likely)

    def run_next_to(
        self, section_min: float, section_max: float, added_ms: float, section_likely: float | None = None
    ) -> Left:
        """Return what is left of the step if its input takes from ``section_min`` to ``section_max`` ms next to it.

        ``added_ms`` of that did not run next to the step before. At best the slower of the two sets the pace. At worst
        the step itself uses all cores: then its part of ``added_ms`` on the cores and ``CONTENDED`` come on top.
        ``section_likely``: the median of the input's ms, if it is known. The slower of the two sets the pace then: the
        wait of a pipeline that is quicker than the step goes whole.
        """
        contended = min(CONTENDED.value + 1 / self.cpus, 1.0)
        worst = max(section_max, self.other_ms + contended * added_ms)
        likely = None if section_likely is None else max(self.other_ms, section_likely)
        return self.rerun(max(self.other_ms, section_min), worst, likely)
