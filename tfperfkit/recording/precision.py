"""How often stack samples are taken, and when they must fall where the time goes."""

from __future__ import annotations

from collections.abc import Callable

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.instruments.stacks.sampler import Jitter, interval_s
from tfperfkit.instruments.stacks.switch_interval import Switching
from tfperfkit.records.samples import FAST_S

#: The clean steps that follow the warm-up or a window are sampled precisely for so long.
_AFTER_NS = 2 * NS_PER_S
#: The same in a process that trains with others: the samples tell its waiting from its computing.
_TOGETHER_NS = 8 * NS_PER_S
#: Single samples: the lock is handed over often from about so long before each. The sampler gets it, to begin with,
#: when the script releases it; a moment within so long has nothing to do with that, as far as steps are shorter.
_LEAD_S = 0.05


class Precision:
    """``event`` writes the stretches down, from whose samples the report draws shares; ``sampled`` gets a row when the
    pause between two samples changes. ``together``: with other processes, in one training."""

    def __init__(
        self, event: Callable[..., object], sampled: Callable[[list[object]], object], *, together: bool
    ) -> None:
        self._event, self._sampled = event, sampled
        self._enough_ns = _TOGETHER_NS if together else _AFTER_NS
        self._switching = Switching()
        self._since = 0  # the warm-up's end, or the last window's
        self._pause = 0.0
        self._jitter = Jitter()
        self._leading = self._led = False

    def begin(self) -> None:
        """From now on the interpreter's lock is handed over often."""
        self.after_sample()
        self._since = now_ns()
        if self._switching.begin():
            self._event("precise", ns=self._since)

    def without_steps(self, now: int, armed_ns: int) -> None:
        """TensorFlow works and no step has come: that may be all that there is, so its samples count as well, as long
        as they are taken fast."""
        if interval_s(now - armed_ns, True) == FAST_S:
            self.begin()

    def end(self) -> None:
        """The script's own interval again."""
        self.after_sample()
        if self._switching.precise:
            self._switching.end()
            self._event("precise_end", ns=now_ns())

    def extend(self, ns: int) -> None:
        """Note that a window has ended then: what follows is sampled precisely too."""
        self._since = ns

    def expire(self, now: int) -> None:
        """Nothing more is measured: end it once it has lasted long enough."""
        if now - self._since > _AFTER_NS:
            self.end()

    def before_sample(self) -> float | None:
        """Switch threads often until ``after_sample``, for one sample, and return the seconds until it is due; None if
        threads switch often in any case: the sample is due now."""
        if self._leading or not self._switching.begin():
            self._led = self._leading
            return None
        self._leading = True
        return self._jitter.factor() * self._lead_s

    def after_sample(self) -> None:
        """It has been taken."""
        if self._leading:
            self._leading = False
            self._switching.end()

    def abandon(self) -> None:
        """In a forked child, where nothing is written."""
        self._switching.end()

    def pause_s(self, now: int, armed_ns: int, *, measuring: bool) -> float:
        """Seconds to the next sample: short ones as long as the report draws its shares from them."""
        return interval_s(now - armed_ns, measuring or now - self._since < self._enough_ns)

    def set_pause(self, now: int, pause: float) -> None:
        """Return the pause between two samples from now on."""
        if pause != self._pause:
            self._pause = pause
            self._sampled(["rate", now, round(pause * NS_PER_S)])

    @property
    def next_s(self) -> float:
        """Seconds to the next one, a little more or less so that no rhythm of the script's is met."""
        pause = self._pause * self._jitter.factor()
        return max(pause - self._lead_s, 0.0) if self._led else pause

    @property
    def _lead_s(self) -> float:
        return min(_LEAD_S, self._pause)
