"""Actions at the begin of a training step: notes are counted, windows are opened and closed, probes and a trial are
called.

Called by the session on the training thread. Most steps of a run are not looked at here: see
``instruments.steps.quiet_calls``.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import Any, Literal, Protocol

from tfperfkit.clock import now_ns
from tfperfkit.instruments.steps.quiet_calls import queue
from tfperfkit.recording.by_time import ByTime
from tfperfkit.recording.long_run import LongRun
from tfperfkit.recording.probe_runner import Probing
from tfperfkit.recording.require_gpu import GpuGate
from tfperfkit.recording.schedule import Action, Scheduler
from tfperfkit.recording.step_follower import StepFollower
from tfperfkit.recording.trial import TrialRunner
from tfperfkit.records.events import EventKind
from tfperfkit.records.steps import PAUSE, Marker
from tfperfkit.storage.run_directory import Manifest

#: Work of probes at the begin of a step is a pause between two steps from this length on.
_PAUSE_NS = 50_000


class Owner(Protocol):
    """Session as its steps use it."""

    manifest: Manifest

    @property
    def finished(self) -> bool: ...
    @property
    def traces(self) -> tuple[int, int]: ...
    def event(self, kind: EventKind, **fields: Any) -> None: ...
    def finish(self) -> None: ...
    def warmed_up(self) -> None: ...


class Boundaries:
    """``number`` is that of the step that runs, 0 before the first. ``append`` writes a marker down; ``quiet`` lets the
    instruments leave markers unattended; ``written`` says whether what is noted then will ever be."""

    def __init__(
        self,
        session: Owner,
        append: Callable[[Marker], object],
        quiet: Callable[[Callable[[Marker], object] | None], object],
        written: Callable[[], bool],
        *,
        by_time: ByTime,
        probing: Probing,
        gate: GpuGate,
        long: LongRun | None,
        trial: TrialRunner | None,
    ) -> None:
        self._session, self._append, self._written = session, append, written
        self._by_time, self._probing, self._gate, self._long, self._trial = by_time, probing, gate, long, trial
        self.number = 0
        self.scheduler = Scheduler(())
        self.follower = StepFollower(self._begins)
        self._quietly = QuietMarkers(self._hand_over, quiet)
        self._traced_before = 0
        self._last_ns = 0

    def plan(self, scheduler: Scheduler) -> None:
        """The windows that ``scheduler`` has are given out; those that it keeps, by time."""
        self.scheduler = scheduler
        self._by_time.plan(scheduler)

    # --- markers ------------------------------------------------------------------------------------------------

    def entering(self, site: int) -> None:
        """Note that a call at a site is about to begin."""
        if self._gate.wanted:
            self._gate.check()
        if self._quietly.drain():
            self.follower.entering(site)

    def marked(self, marker: Marker) -> None:
        """Note that a call at a site has ended."""
        if self._session.finished:
            return
        if self._quietly.drain():
            self._append(marker)
            self.follower.marked(marker)
        else:
            self._quietly.note(marker)

    def drain(self, last: bool = False) -> None:
        """Write down and count what was noted."""
        self._quietly.drain(last)

    def _hand_over(self, marker: Marker) -> None:
        self._append(marker)
        self.follower.skip(marker)
        if self.follower.is_step(marker.site):
            self._by_time.passed()

    # --- attention ----------------------------------------------------------------------------------------------

    @property
    def attended(self) -> bool:
        """Return whether each step is decided upon as it begins."""
        return self._quietly.attention == "each"

    def be_quiet(self, quiet: bool) -> None:
        """Whether nothing has to be decided as a step begins: then the markers leave their records only."""
        noted = not self._gate.wanted and self._written()
        self._quietly.attend("each" if not quiet else "none, noted" if noted else "none")
        if quiet and not self._written():  # at this very moment
            self._quietly.attend("none")

    # --- steps --------------------------------------------------------------------------------------------------

    def _begins(self, number: int, last_step_ns: int = 0) -> None:
        """Step ``number`` is about to begin."""
        self.number = number
        self._by_time.passed()
        if not self.attended:  # every window has been given: nothing to decide any more
            return
        now = now_ns()
        if last_step_ns == 0 and self._last_ns:
            last_step_ns = now - self._last_ns
        self._last_ns = now
        if self._trial is not None:
            self._trial.boundary(number)
            if now_ns() - now > _PAUSE_NS:
                self._pause(now)
            return
        last = self._session.manifest.last_step
        if last is not None and number > last:
            self._session.event("stopped", step=number - 1)
            self._session.finish()
            return
        count, _ = self._session.traces
        traced, self._traced_before = count != self._traced_before, count
        self._by_time.step(last_step_ns, traced)
        self._probing.announce(number)
        paused = now_ns() - now > _PAUSE_NS
        actions = self.scheduler.boundary(number, last_step_ns, traced)
        for action in actions:
            self._act(action)
        window = self._long.window if self._long is not None else None
        acted = window is not None and window.boundary(number, last_step_ns, traced)
        followed = self._probing.follows(number) or (window is not None and window.follows(number))
        self.be_quiet(self.scheduler.idle and not followed and last is None)
        if actions or acted or paused:
            self._pause(now)

    def _pause(self, begun: int) -> None:
        """Exclude the time of our work since then from all steps."""
        pause = Marker(PAUSE, begun, now_ns(), 0)
        self._append(pause)
        self.follower.paused(pause)
        self._last_ns = pause.end_ns

    def _act(self, action: Action) -> None:
        if action.kind == "warm":
            self._session.warmed_up()
        elif action.kind == "open":
            if self._probing.open_window(action.probe, action.steps):
                self.scheduler.put_off(self.number)
        else:
            self._probing.close_window(action.probe)


#: Whether steps are attended to: each as it begins; none, but markers are handed on; none, and markers are only noted.
Attention = Literal["each", "none", "none, noted"]


class QuietMarkers:
    """``hand_over`` gets the markers in order, each once, later, from whichever thread calls ``drain``.

    Two threads do: the pulse, before it writes, and the training thread, before the next step that is announced.
    ``instead`` is given ``note`` while markers are only noted, else None.
    """

    def __init__(
        self,
        hand_over: Callable[[Marker], object],
        instead: Callable[[Callable[[Marker], object] | None], object] = lambda note: None,
    ) -> None:
        self._made = queue(Marker)
        self._hand_over = hand_over
        self._instead = instead
        self.attention: Attention = "each"
        self._draining = _thread.allocate_lock()
        self.note = self._made.append

    def attend(self, attention: Attention) -> None:
        """Change who attends to the steps."""
        self.attention = attention
        self._instead(self.note if attention == "none, noted" else None)

    def drain(self, last: bool = False) -> bool:
        """Hand over what was noted; never waits, but for a second at most when it is the ``last`` time: then it goes on
        though another drain never ended. False: some are left, as another drain is under way (on this thread, too,
        where a finalizer or a signal handler came in between); what comes now must be noted to stay in order."""
        if not self._made:
            return True
        owned = self._draining.acquire(timeout=1.0 if last else 0.0)
        if not owned and not last:
            return False
        try:
            for _ in range(len(self._made)):
                self._hand_over(self._made.popleft())  # a Ctrl-C may cost the one in hand
        except IndexError:  # the other drain goes on after all
            pass
        finally:
            if owned:
                self._draining.release()
        return not self._made
