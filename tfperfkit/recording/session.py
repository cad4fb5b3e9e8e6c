"""The session in the script's process: it follows the steps, gives out the windows, and alone calls the probes.

Used by the agent of ``tfperf run`` and by ``tfperfkit.watch``. No exception of ours or of a probe leaves it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from tfperfkit.clock import NS_PER_S, now_ns, process_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.contention import Contention
from tfperfkit.instruments.graphs import tracing
from tfperfkit.instruments.hooks.interrupts import words_of
from tfperfkit.instruments.hooks.safe_points import SafePoints, api_calls
from tfperfkit.instruments.input.file_opens import FileOpens
from tfperfkit.instruments.settings import settings
from tfperfkit.instruments.stacks.activity import TENSORFLOW
from tfperfkit.instruments.stacks.pulse import Pulse
from tfperfkit.instruments.stacks.sampler import Sampler
from tfperfkit.instruments.steps.markers import Markers
from tfperfkit.model import WindowPhase
from tfperfkit.recording import last_error, long_run
from tfperfkit.recording.active import activate
from tfperfkit.recording.by_time import ByTime
from tfperfkit.recording.environment import agent_facts, end_facts
from tfperfkit.recording.long_run import LongRun
from tfperfkit.recording.marker_queue import QuietMarkers
from tfperfkit.recording.on_demand import offer_traces
from tfperfkit.recording.precision import Precision
from tfperfkit.recording.probe_runner import Probing
from tfperfkit.recording.require_gpu import GpuGate
from tfperfkit.recording.schedule import Action, Scheduler, planned_together
from tfperfkit.recording.source_copies import Sources
from tfperfkit.recording.step_follower import StepFollower
from tfperfkit.recording.thread_times import ThreadTimes
from tfperfkit.recording.timed_windows import no_point
from tfperfkit.recording.trace_listener import Appendable, TraceWatch
from tfperfkit.recording.trial import TrialRunner
from tfperfkit.recording.window_phases import WindowDeaths
from tfperfkit.records.events import EventKind
from tfperfkit.records.samples import FAST_S
from tfperfkit.records.steps import PAUSE, Definition, Marker, Site
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.storage.stream_set import Streams
from tfperfkit.storage.stream_writer import Stream
from tfperfkit.user_code import Origin

_FLUSH_NS = NS_PER_S // 2
#: What probes do as a step begins is a pause between two steps from this length on.
_TOLD_NS = 50_000
#: In a trial.
_TRIAL_PAUSE_S = 0.1
#: Probes that want a step now and then are told of 20 a second after the first ones, more rarely after 30 s.
_CALL_NS, _CALL_PART = NS_PER_S // 20, 600


class Session:
    """One run's recording. ``arm`` when TensorFlow is there, ``finish`` at the end; both do nothing twice."""

    def __init__(self, run: RunDirectory, manifest: Manifest) -> None:
        self.run = run
        self.manifest = manifest
        self.origin = Origin(manifest.user_roots)
        self.step = 0
        self._pid = os.getpid()
        self._armed = self._finished = False
        watched = manifest.watch is not None
        self.streams = Streams(run, long_run.MAX_STREAM_BYTES) if watched else Streams(run)
        self._long = LongRun(self, manifest.watch, self.streams) if manifest.watch is not None else None
        self.facts: dict[str, Any] = {}
        self._probing = Probing(self)
        self._scheduler = Scheduler(())
        self._follower = StepFollower(self._boundary)
        self._traced_before = 0
        self._last_boundary = 0
        self._gate = GpuGate(manifest.require_gpu, self._refuse)
        self._sources = Sources(self.streams, self.origin.is_user)
        self._keras: set[str] = set()
        self._for_keras: list[Callable[[], object]] = []
        together = manifest.rank is not None
        self._note_sample = self._long.sampled if self._long is not None else self.stream("samples").append
        self._precision = Precision(self.event, self._note_sample, together=together)
        self._threads = ThreadTimes(self.stream("threads").append) if together and self._long is None else None
        self._last_tick = self._next_flush = self._next_call = self._armed_ns = 0
        self._unsubscribe: Callable[[], None] = lambda: None
        self._contention = Contention()
        self.sampler = Sampler(
            self._note_sample,
            self.origin.is_user,
            self._contention.active_ns,
            long_run.MAX_STACKS if watched else None,
            self._used_ns if together and not watched else None,
        )
        self._opens = FileOpens(self.origin.is_user)
        self.markers = Markers(self, self.origin.is_user, manifest.steps_from)
        self._watch = TraceWatch(self.recent, self.origin.is_user, self.keep_source, self.markers.functions)
        self._windows = WindowDeaths(run)
        self._points = SafePoints((api_calls, self.markers.watch_entries))
        self._by_time = ByTime(self._points, self._probing, lambda: self.step, lambda: self._finished)
        self._note_marker: Callable[[Marker], object] = (self._long or self.stream("markers")).append
        self._quietly = QuietMarkers(self._hand_over, self.markers.quiet)
        self._trial = TrialRunner(self, manifest.trial) if manifest.trial is not None else None
        activate(self)
        self._pulse = Pulse(self._tick, self._pulse_failed)

    @property
    def finished(self) -> bool:
        """Whether recording has ended."""
        return self._finished

    # --- life ---------------------------------------------------------------------------------------------------

    def arm(self, **facts: Any) -> None:
        """Install the instruments and start the probes that are on throughout. TensorFlow has been imported."""
        if self._armed:
            return
        self._armed, self._armed_ns = True, now_ns()
        self._safely("disk space", self.streams.keep_room)
        self._sources.find_main()
        self._safely("agent.json", lambda: self._introduce(agent_facts(self.manifest, facts)))
        if self._trial is not None:  # before the markers: their seams stand around what it puts there
            self._safely("trial", self._trial.arm)
        self._safely("tracing", self._subscribe)
        self._safely("steps", self.markers.install_tensorflow)
        for package in ("keras", "tf_keras"):
            spec = getattr(sys.modules.get(package), "__spec__", None)
            if spec is not None and not getattr(spec, "_initializing", False):
                self.keras_imported(package)  # else it is just importing TensorFlow, and tells us when it is done
        self._safely("files", self._opens.install)
        self._safely("--on-demand", lambda: offer_traces(self.run, self.manifest.on_demand))
        if self.manifest.steps_from is not None:
            self._safely("--steps-from", self.markers.search_named)
        self._probing.choose()
        rank, windows = self.manifest.rank, self._probing.windows
        windows = planned_together(windows) if rank is not None and rank.in_step else windows
        self._scheduler = Scheduler(windows if self._long is None else ())
        self._by_time.plan(self._scheduler)
        self._probing.start()
        self._pulse.start()

    def keras_imported(self, package: str) -> None:
        """Keras (or Keras 2) is there too."""
        if self._armed and package not in self._keras:
            self._keras.add(package)
            if self._trial is not None:
                self._call_for_keras()
            self._safely("steps", lambda: self.markers.install_keras(package))
            if self._trial is None:
                self._call_for_keras()

    def when_keras(self, callback: Callable[[], object]) -> None:
        """For probes: what to do once Keras is there."""
        self._for_keras.append(callback)
        if self._keras:
            callback()

    def _call_for_keras(self) -> None:
        for callback in self._for_keras:
            self._safely("Keras", callback)

    def is_user(self, filename: str) -> bool:
        """Whether a file is the person's own."""
        return self.origin.is_user(filename)

    def finish(self) -> None:
        """End all recording, restore every seam, write what is left."""
        if self._finished or os.getpid() != self._pid:
            return
        self._finished = True
        if self._trial is not None:
            self._safely("trial", self._trial.finish)
        self._pulse.stop()
        self._precision.end()
        self._tell_unopened()
        self._points.withdraw()
        self._probing.finish()
        if self._long is not None and (window := self._long.window) is not None:
            self._safely("window", window.leave)  # its probes leave while the seams are there
        self._windows.end()
        self._safely("steps", self.markers.restore)
        self._safely("tracing", self._unsubscribe)
        self._opens.stop()
        self._quietly.drain(last=True)
        self._flush()
        if self._long is not None:
            self._safely("watch mode", self._long.finish)
        self.streams.free_room()  # if the disk is full, what follows is what must be known
        if self._armed:
            self._safely("source", self._sources.keep_main)
            self._safely("source", lambda: self._sources.keep_seen(file for file, _, _ in list(self.sampler.codes)))
            if self._scheduler.warm_at == 0:
                self._safely("settings", lambda: self.event("settings", **settings()))
            self._safely("facts", lambda: self.run.write_json("end.json", end_facts()))
        for reason in self.markers.reasons:
            self.event("note", text=reason)
        self.event("end", ns=now_ns(), **last_error.facts(self.is_user))
        self.streams.close()

    def _introduce(self, facts: dict[str, Any]) -> None:
        self.facts = facts
        self.event("agent", facts=facts)  # where no new file can be made there will be no agent.json
        self.run.write_json("agent.json", facts)

    def _subscribe(self) -> None:
        self._unsubscribe = tracing.subscribe(self._traced)

    # --- files --------------------------------------------------------------------------------------------------

    def stream(self, name: str) -> Stream:
        return self.streams.session(name)

    def event(self, kind: EventKind, **fields: Any) -> None:
        self.streams.event(kind, **fields)

    def _flush(self) -> None:
        self._quietly.drain()
        for row in self._opens.rows():
            self.recent("opens").append(row)
        waited = self._contention.waited_ns()
        self.recent("cost").append([now_ns(), self.markers.cost_ns, self._pulse.cost_ns, waited])
        if self._threads is not None:
            self._threads.note()
        self.streams.flush()

    def recent(self, name: str) -> Appendable:
        """A stream of which watch mode keeps the first and the last records only."""
        return self._long.ring(f"session/{name}") if self._long is not None else self.stream(name)

    # --- steps (called by the markers, on the training thread) ----------------------------------------------------

    def new_site(self, site: Site) -> None:
        self._follower.add_site(site)
        if site.file:
            self.keep_source(site.file)
        self.stream("sites").append(site)

    def entering(self, site: int) -> None:
        if self._gate.wanted:
            self._gate.check()
        if self._quietly.drain():
            self._follower.entering(site)

    def _refuse(self, reason: str) -> None:
        self.event("note", text=reason)
        self.finish()

    def marked(self, marker: Marker) -> None:
        if self._finished:
            return
        if self._quietly.drain():
            self._note_marker(marker)
            self._follower.marked(marker)
        else:
            self._quietly.note(marker)

    def _hand_over(self, marker: Marker) -> None:
        self._note_marker(marker)
        self._follower.skip(marker)
        if self._follower.is_step(marker.site):
            self._by_time.passed()

    def be_quiet(self, quiet: bool) -> None:
        """Whether nothing has to be decided as a step begins: then the markers leave their records only."""
        # It is the pulse that writes what is noted.
        noted = not self._gate.wanted and not self._pulse.failed
        self._quietly.attend("each" if not quiet else "none, noted" if noted else "none")
        if quiet and self._pulse.failed:  # at this very moment
            self._quietly.attend("none")

    def _boundary(self, number: int, last_step_ns: int = 0) -> None:
        """Step ``number`` is about to begin."""
        self.step = number
        self._by_time.passed()
        if self._quietly.attention != "each":  # every window has been given: nothing to decide any more
            return
        now = now_ns()
        if last_step_ns == 0 and self._last_boundary:
            last_step_ns = now - self._last_boundary
        self._last_boundary = now
        if self._trial is not None:
            self._trial.boundary(number)
            return
        if self.manifest.last_step is not None and number > self.manifest.last_step:
            self.event("stopped", step=number - 1)
            self.finish()
            return
        traced, self._traced_before = self._watch.count != self._traced_before, self._watch.count
        self._by_time.step(last_step_ns, traced)
        self._probing.announce(number)
        paused = now_ns() - now > _TOLD_NS
        actions = self._scheduler.boundary(number, last_step_ns, traced)
        for action in actions:
            self._act(action)
        window = self._long.window if self._long is not None else None
        acted = window is not None and window.boundary(number, last_step_ns, traced)
        followed = self._probing.follows(number) or (window is not None and window.follows(number))
        self.be_quiet(self._scheduler.idle and not followed and self.manifest.last_step is None)
        if actions or acted or paused:
            pause = Marker(PAUSE, now, now_ns(), 0)
            self._note_marker(pause)
            self._follower.paused(pause)
            self._last_boundary = pause.end_ns

    def _act(self, action: Action) -> None:
        if action.kind == "warm":
            self._safely("settings", lambda: self.event("settings", **settings()))
            self.event("warm", step=self.step, ns=now_ns())
            self.sampler.forget_hits()
            self._precision.begin()
        elif action.kind == "open":
            self._probing.open_window(action.probe, action.steps)
        else:
            self._probing.close_window(action.probe)

    def _traced(self, traced: Any) -> None:
        if self._gate.wanted:
            self._gate.check()
        self._watch.traced(traced)

    def window_phase(self, probe: str, phase: WindowPhase, whole: bool = False) -> None:
        """Written down at once: the process may not live to the next flush."""
        self._windows.enter(probe, phase, whole)

    def window_ended(self, closing: int) -> None:
        """The clean steps that follow a window are sampled precisely too."""
        self._precision.extend(closing)

    # --- the pulse (on a thread of its own) -----------------------------------------------------------------------

    def _tick(self) -> float:
        """Sample, now and then write; returns the seconds to the next tick."""
        now = now_ns()
        if self.manifest.steps_from is not None:
            self._safely("--steps-from", self.markers.search_named)
        self._precision.set_pause(now, self._pause_s(now))
        if self._trial is not None:
            return self._tick_of_trial(now)
        library = self.sampler.take(now, self._driver, anyone=self.markers.thread is None)
        if library in TENSORFLOW and not self.markers.busy:
            self._by_time.worked(min(now - self._last_tick, NS_PER_S))
            if self.step == 0 and self._long is None and not self._finished:
                self._precision.without_steps(now, self._armed_ns)
        self._last_tick = now
        if self._quietly.attention != "each" and now >= self._next_call and self._probing.rare:
            self.be_quiet(False)  # the next step is announced again
            self._next_call = now + max(_CALL_NS, (now - self._armed_ns) // _CALL_PART)
        if now >= self._next_flush:
            window = self._long.window if self._long is not None else None
            self._next_flush = now + (_FLUSH_NS if self._long is None or window is not None else self._long.flush_ns)
            precise = window is not None or not (self._scheduler.idle or self.step == 0)
            if not precise:
                self._precision.expire(now)
            self._flush()
            if self._long is not None and not self._finished:
                self._long.tick(now)
            self._windows.tick(now)
            if not self._finished and self._by_time.tick(now, self._driver):
                self._precision.begin()
        return self._precision.next_s

    def _tick_of_trial(self, now: int) -> float:
        """A trial is timed, not looked into."""
        if now >= self._next_flush:
            self._next_flush = now + _FLUSH_NS
            self._flush()
        return _TRIAL_PAUSE_S

    def _pulse_failed(self) -> None:
        self.be_quiet(False)
        self.event("lost", file="session/samples.jsonl", reason="the thread that takes the samples failed")

    @property
    def _driver(self) -> int:
        """The thread that drives TensorFlow, as far as that is known."""
        return self.markers.thread or threading.main_thread().ident or 0

    def _pause_s(self, now: int) -> float:
        if self._long is not None:
            watched = self._long.pause_s(now)
            return FAST_S if watched is None else watched
        measuring = self.step == 0 or not self._scheduler.idle
        return self._precision.pause_s(now, self._armed_ns, measuring=measuring)

    def _tell_unopened(self) -> None:
        """The windows by time that were due and could not be opened."""
        windows, waited = self._by_time.unopened(now_ns())
        for spec in windows:
            self.event("probe", probe=spec.probe, status="skipped", reason=no_point(waited))

    def keep_source(self, filename: str) -> None:
        """Copy a source file into the run directory, once."""
        self._sources.keep(filename)

    # --- watch mode: what its long run and the runs of windows ask ---------------------------------------------------

    @property
    def definition(self) -> Definition | None:
        return self._follower.definition

    def is_fetch(self, site: int) -> bool:
        return self._follower.is_fetch(site)

    def window_probes(self) -> list[str]:
        return [window.probe for window in self._probing.windows if not window.never]

    def all_sites(self) -> list[Site]:
        return self._follower.sites()

    @property
    def traces(self) -> tuple[int, int]:
        """How many functions have been traced, and the ns that this took."""
        return self._watch.count, self._watch.spent_ns

    def _used_ns(self) -> int:
        """Processor time of the script's own threads."""
        return process_ns() - self._pulse.cost_ns

    @property
    def ours_ns(self) -> int:
        return self.markers.cost_ns + self._pulse.cost_ns

    def window_begins(self) -> None:
        """The run of a window has begun: its probes open as steps do."""
        self._precision.begin()
        self._precision.extend(now_ns())
        self.be_quiet(False)

    def _safely(self, what: str, action: Callable[[], Any]) -> None:
        try:
            action()
        except Unavailable as reason:
            self.event("note", text=f"{what}: {reason}")
        except Exception as error:
            self.event("note", text=f"{what}: {words_of(error)}")

    def abandon(self) -> None:
        """In a forked child: this process is not recorded; leave nothing of ours behind in it."""
        self._finished = True
        self._points.withdraw()
        self._windows.end(forked=True)
        self._precision.abandon()
        self._opens.stop()
        self.streams.discard()
        if self._long is not None:
            self._long.discard()
        try:
            self.markers.restore()
            self._unsubscribe()
        except Exception:
            pass
