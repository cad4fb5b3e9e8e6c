"""The session in the script's process: its life, its files, and the requests of those who record. The actions at the
begin of a step are in ``boundaries``, those of its own thread in ``ticks``.

Used by the agent of ``tfperf run`` and by ``tfperfkit.watch``. No exception of ours or of a probe leaves it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from tfperfkit.clock import now_ns, process_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.contention import Contention
from tfperfkit.instruments.graphs import tracing
from tfperfkit.instruments.graphs.sources import GraphSources
from tfperfkit.instruments.hooks.interrupts import words_of
from tfperfkit.instruments.hooks.safe_points import SafePoints, api_calls
from tfperfkit.instruments.input.file_opens import FileOpens
from tfperfkit.instruments.settings import settings
from tfperfkit.instruments.stacks.busy_threads import BusyThreads
from tfperfkit.instruments.stacks.pulse import Pulse
from tfperfkit.instruments.stacks.sampler import Sampler
from tfperfkit.instruments.steps.markers import Markers
from tfperfkit.model import WindowPhase
from tfperfkit.recording import last_error, long_run
from tfperfkit.recording.active import activate
from tfperfkit.recording.boundaries import Boundaries
from tfperfkit.recording.by_time import ByTime
from tfperfkit.recording.environment import agent_facts, end_facts
from tfperfkit.recording.long_run import LongRun
from tfperfkit.recording.on_demand import offer_traces
from tfperfkit.recording.precision import Precision
from tfperfkit.recording.probe_runner import Probing
from tfperfkit.recording.processor_time import PairedTime, ProcessorTime, ThreadTimes
from tfperfkit.recording.require_gpu import GpuGate
from tfperfkit.recording.schedule import Scheduler, planned_together
from tfperfkit.recording.source_copies import Sources
from tfperfkit.recording.ticks import Ticks
from tfperfkit.recording.timed_windows import no_point
from tfperfkit.recording.trace_listener import Appendable, TraceWatch
from tfperfkit.recording.trial import TrialRunner
from tfperfkit.recording.window_phases import WindowDeaths
from tfperfkit.records.events import EventKind
from tfperfkit.records.steps import Definition, Marker, Site
from tfperfkit.storage.descriptors import keep_apart, spent_ns
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.storage.stream_set import Streams
from tfperfkit.storage.stream_writer import Stream
from tfperfkit.user_code import Origin


class Session:
    """One run's recording. ``arm`` when TensorFlow is there, ``finish`` at the end; both do nothing twice."""

    pulse: Pulse

    def __init__(self, run: RunDirectory, manifest: Manifest) -> None:
        self.run = run
        self.manifest = manifest
        self.origin = Origin(manifest.user_roots)
        self._pid = os.getpid()
        self._armed = self._finished = False
        watched, together = manifest.watch is not None, manifest.rank is not None
        self.streams = Streams(run, long_run.MAX_STREAM_BYTES) if watched else Streams(run)
        self._long = LongRun(self, manifest.watch, self.streams) if manifest.watch is not None else None
        self.facts: dict[str, Any] = {}
        self._probing = Probing(self)
        self._sources = Sources(self.streams, self.origin.is_user)
        self._keras: set[str] = set()
        self._for_keras: list[Callable[[], object]] = []
        note_sample = self._long.sampled if self._long is not None else self.stream("samples").append
        self._precision = Precision(self.event, note_sample, together=together)
        self._threads = ThreadTimes(self.recent("threads").append, rarely=watched) if together else None
        self._paired = PairedTime(self._used_ns) if together and watched else None
        self._unsubscribe: Callable[[], None] = lambda: None
        self._contention = Contention()
        self.sampler = Sampler(
            note_sample,
            self.origin.is_user,
            self._contention.active_ns,
            long_run.MAX_STACKS if watched else None,
            (self._paired or (lambda: (self._used_ns(),))) if together else None,
        )
        self.graphs = GraphSources(
            lambda graph: self.stream("graphs").append(graph), self.origin.is_user, self.keep_source
        )
        self._opens = FileOpens(self.origin.is_user)
        self.markers = Markers(self, self.origin.is_user, manifest.steps_from)
        self._watch = TraceWatch(self.recent, self.origin.is_user, self.keep_source, self.markers.functions)
        self._gate = GpuGate(manifest.require_gpu, self._refuse)
        self._windows = WindowDeaths(run)
        self._points = SafePoints((api_calls, self.markers.watch_entries))
        self._by_time = ByTime(self._points, self._probing, lambda: self.step, lambda: self._finished)
        self._trial = TrialRunner(self, manifest.trial) if manifest.trial is not None else None
        self.steps = Boundaries(
            self,
            (self._long or self.stream("markers")).append,
            self.markers.quiet,
            lambda: not self.pulse.failed,  # it is the pulse that writes
            by_time=self._by_time,
            probing=self._probing,
            gate=self._gate,
            long=self._long,
            trial=self._trial,
        )
        self._ticks = Ticks(
            self,
            self.steps,
            self._search_named if manifest.steps_from is not None else None,
            markers=self.markers,
            sampler=self.sampler,
            beside=lambda: self._opens.again,
            busy=BusyThreads(note_sample),
            precision=self._precision,
            by_time=self._by_time,
            probing=self._probing,
            windows=self._windows,
            long=self._long,
            paired=self._paired,
            timed_only=self._trial is not None,
            processor=self._processor() if self._long is None else None,
        )
        activate(self)
        self.pulse = Pulse(self._ticks.tick, self._pulse_failed)

    @property
    def step(self) -> int:
        """Return the number of the step that runs, from 1; 0 before the first."""
        return self.steps.number

    @property
    def finished(self) -> bool:
        """Return whether recording has ended."""
        return self._finished

    # --- life ---------------------------------------------------------------------------------------------------

    def arm(self, **facts: Any) -> None:
        """Install the instruments and start the probes that are on throughout. TensorFlow has been imported."""
        if self._armed:
            return
        self._armed, self._ticks.armed_ns = True, now_ns()
        keep_apart()
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
        self._safely("--profiler-service", lambda: offer_traces(self.run, self.manifest.on_demand))
        if self.manifest.steps_from is not None:
            self._search_named()
        self._probing.choose()
        rank, windows = self.manifest.rank, self._probing.windows
        windows = planned_together(windows) if rank is not None and rank.in_step else windows
        self.steps.plan(Scheduler(windows if self._long is None else ()))
        self._probing.start()
        self.pulse.start()

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
        """Return whether a file is the user's own."""
        return self.origin.is_user(filename)

    def finish(self) -> None:
        """End all recording, restore every seam, write what is left."""
        if self._finished or os.getpid() != self._pid:
            return
        self._finished = True
        if self._trial is not None:
            self._safely("trial", self._trial.finish)
        self.pulse.stop()
        self._precision.end()
        self._by_time.finish()
        self._tell_unopened()
        self._points.withdraw()
        self._probing.finish()
        if self._long is not None and (window := self._long.window) is not None:
            self._safely("window", window.leave)  # its probes leave while the seams are there
        self._windows.end()
        self._safely("steps", self.markers.restore)
        self._safely("tracing", self._unsubscribe)
        self._opens.stop()
        self.steps.drain(last=True)
        self.flush()
        if self._long is not None:
            self._safely("watch mode", self._long.finish)
        self.streams.free_room()  # if the disk is full, what follows is what must be known
        if self._armed:
            self._safely("source", self._sources.keep_main)
            self._safely("source", lambda: self._sources.keep_seen(file for file, _, _ in list(self.sampler.codes)))
            if self.steps.scheduler.warm_at == 0:
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
        self._unsubscribe = tracing.subscribe(self._traced, finishes=self._watch.described)

    # --- files --------------------------------------------------------------------------------------------------

    def stream(self, name: str) -> Stream:
        return self.streams.session(name)

    def event(self, kind: EventKind, **fields: Any) -> None:
        self.streams.event(kind, **fields)

    def flush(self) -> None:
        """Hand everything to the system."""
        self.steps.drain()
        for row in self._opens.rows():
            self.recent("opens").append(row)
        waited = self._contention.waited_ns()
        self.recent("cost").append([now_ns(), self.markers.cost_ns, self._threads_ns, waited])
        if self._threads is not None:
            self._threads.note()
        self.streams.flush()

    def recent(self, name: str) -> Appendable:
        """Return a stream of which watch mode keeps the first and the last records only."""
        return self._long.ring(f"session/{name}") if self._long is not None else self.stream(name)

    # --- steps (called by the markers, on the training thread) ----------------------------------------------------

    def new_site(self, site: Site) -> None:
        self.steps.follower.add_site(site)
        if site.file:
            self.keep_source(site.file)
        self.stream("sites").append(site)

    def entering(self, site: int) -> None:
        self.steps.entering(site)

    def marked(self, marker: Marker) -> None:
        self.steps.marked(marker)

    def graph_size(self, site: int, calls: int, operations: int) -> None:
        self.event("graph_size", site=site, calls=calls, operations=operations)

    def be_quiet(self, quiet: bool) -> None:
        """Whether nothing has to be decided as a step begins."""
        self.steps.be_quiet(quiet)

    def warmed_up(self) -> None:
        """The warm-up is over."""
        self._safely("settings", lambda: self.event("settings", **settings()))
        self.event("warm", step=self.step, ns=now_ns())
        self.sampler.forget_hits()
        self._precision.begin()

    def _refuse(self, reason: str) -> None:
        self.event("note", text=reason)
        self.finish()

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

    def _pulse_failed(self) -> None:
        self.be_quiet(False)
        self.event("lost", file="session/samples.jsonl", reason="the thread that takes the samples failed")

    def _search_named(self) -> None:
        self._safely("--steps-from", self.markers.search_named)

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
        return self.steps.follower.definition

    def is_fetch(self, site: int) -> bool:
        return self.steps.follower.is_fetch(site)

    def window_probes(self) -> list[str]:
        return [window.probe for window in self._probing.windows if not window.never]

    def all_sites(self) -> list[Site]:
        return self.steps.follower.sites()

    @property
    def traces(self) -> tuple[int, int]:
        """Return how many functions have been traced, and the ns that this took."""
        return self._watch.count, self._watch.spent_ns

    def _processor(self) -> ProcessorTime:
        return ProcessorTime(self.stream("processor").append, self._used_ns, self._contention.waited_ns)

    def _used_ns(self) -> int:
        """Processor time of the script's own threads."""
        return process_ns() - self._threads_ns

    @property
    def _threads_ns(self) -> int:
        """Processor time of the session's own threads."""
        return self.pulse.cost_ns + spent_ns()

    @property
    def ours_ns(self) -> int:
        return self.markers.cost_ns + self._threads_ns

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
