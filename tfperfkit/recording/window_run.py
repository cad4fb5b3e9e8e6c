"""A window of watch mode: a run directory of its own below that of the run, with the steps around the window.

So whoever reads runs reads these too: ``tfperf report RUN/windows/001``. One is open at a time; it begins and ends on
the pulse's thread, its probes open and close on the training thread, as steps begin.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from tfperfkit.clock import NS_PER_S, now_ns, wall_s
from tfperfkit.instruments.graphs.sources import GraphSources
from tfperfkit.instruments.settings import settings
from tfperfkit.instruments.stacks.sampler import Sampler
from tfperfkit.model import WindowPhase
from tfperfkit.recording.environment import end_facts
from tfperfkit.recording.port import SessionPort
from tfperfkit.recording.probe_runner import Probing
from tfperfkit.recording.schedule import Scheduler
from tfperfkit.recording.source_copies import Sources
from tfperfkit.recording.window_phases import WindowPhases
from tfperfkit.records.events import EventKind
from tfperfkit.records.history import WINDOWS, Asked
from tfperfkit.records.steps import Marker, Site
from tfperfkit.storage.ring import SEGMENTS
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.storage.stream_set import Streams
from tfperfkit.user_code import Origin

#: So many are kept, the newest; a window's trace may have tens of MB.
KEPT = 4
#: Clean steps go on for so long after the last window; without a step the samples of so long are all there is.
_AFTER_NS, _WITHOUT_STEPS_NS = NS_PER_S, 5 * NS_PER_S
#: Facts noted as the process began that a window's own account must not use.
_NOT_OF_IT = ("process_ns", "import_begin_ns", "import_end_ns", "armed_ns")


class WindowOwner(SessionPort, Protocol):
    """Session as a window's run uses it."""

    @property
    def facts(self) -> dict[str, Any]: ...
    def is_user(self, filename: str) -> bool: ...
    def window_probes(self) -> list[str]: ...
    def all_sites(self) -> Sequence[Site]: ...


class WindowRun:
    """See the module. It is the session to its probes (``port.SessionPort``)."""

    def __init__(self, session: WindowOwner, number: int, asked: Asked, recent: Sequence[Marker], before: int) -> None:
        """``recent`` markers are the clean steps before the window; ``before`` them there were so many steps.

        Raises RunDirectoryError or OSError when its folder can't be written."""
        self._session = session
        self.name = f"{WINDOWS}/{number:03}"
        self.origin: Origin = session.origin
        self.sampler: Sampler = session.sampler
        whole = session.manifest
        begun = now_ns()
        self.manifest: Manifest = msgspec.structs.replace(
            whole,
            watch=None,
            because=asked.text,
            probes=session.window_probes(),
            windows={},
            shown=None,
            started_ns=begun,
            started_wall_s=wall_s(),
        )
        folder = session.run.path / WINDOWS
        folder.mkdir(exist_ok=True)
        _make_room(session.run, number)
        self.run = RunDirectory.create(session.run.path / self.name, self.manifest)
        self.streams = Streams(self.run)
        self._sources = Sources(self.streams, session.is_user)
        self.graphs = GraphSources(self.streams.session("graphs").append, session.is_user, self.keep_source)
        self._phases = WindowPhases(self.run)
        self._probing = Probing(self)
        self._probing.choose()
        self._scheduler = Scheduler(self._probing.windows)
        self.markers, self.samples = self.streams.session("markers"), self.streams.session("samples")
        self._introduce(recent, before)
        self._begun, self._stepped = begun, False
        self._opened_ns = self._done_ns = 0
        self.spent_ns = 0

    def _introduce(self, recent: Sequence[Marker], before: int) -> None:
        facts = {name: value for name, value in self._session.facts.items() if name not in _NOT_OF_IT}
        self.event("agent", facts=facts)
        self.run.write_json("agent.json", facts)
        self.event("settings", **settings())
        self.event("warm", step=1, ns=recent[0].begin_ns if recent else now_ns())
        for site in self._session.all_sites():
            self.streams.session("sites").append(site)
            if site.file:
                self.keep_source(site.file)
        for row in self.sampler.stacks():
            self.samples.append(row)
        for marker in recent:
            self.markers.append(marker)
        self.streams.stream(SEGMENTS).append([0, recent[0].begin_ns if recent else now_ns(), before])

    # --- for its probes -------------------------------------------------------------------------------------------

    @property
    def step(self) -> int:
        return self._session.step

    def event(self, kind: EventKind, **fields: Any) -> None:
        self.streams.event(kind, **fields)

    def keep_source(self, filename: str) -> None:
        self._sources.keep(filename)

    def when_keras(self, callback: Callable[[], object]) -> None:
        self._session.when_keras(callback)

    def be_quiet(self, quiet: bool) -> None:
        self._session.be_quiet(quiet)

    def window_phase(self, probe: str, phase: WindowPhase, whole: bool = False) -> None:
        self._phases.enter(probe, phase)
        self._session.window_phase(probe, phase, whole)  # a script that dies of it is not given it again

    def window_ended(self, closing: int) -> None:
        self._session.window_ended(closing)

    def is_user(self, filename: str) -> bool:
        return self._session.is_user(filename)

    # --- steps, on the training thread ----------------------------------------------------------------------------

    def boundary(self, number: int, last_step_ns: int, traced: bool) -> bool:
        """Step ``number`` is about to begin; whether something was opened or closed."""
        if not self._stepped:
            self._stepped = True
            self._scheduler.settle(number)
        self._probing.announce(number)
        actions = self._scheduler.boundary(number, last_step_ns, traced)
        for action in actions:
            if action.kind == "open":
                self._opened_ns = self._opened_ns or now_ns()
                self._probing.open_window(action.probe, action.steps)
            elif action.kind == "close":
                self._probing.close_window(action.probe)
                self.spent_ns = now_ns() - self._opened_ns
        if self._scheduler.idle and not self._done_ns:
            self._done_ns = now_ns()
        return bool(actions)

    def follows(self, number: int) -> bool:
        """Return whether somebody wants to know of the step after this one."""
        return not self._scheduler.idle or self._probing.follows(number)

    # --- its end, on the pulse's thread -----------------------------------------------------------------------------

    def over(self, now: int) -> bool:
        """Return whether it has all that it waits for."""
        if self._done_ns:
            return now - self._done_ns > _AFTER_NS
        return not self._stepped and now - self._begun > _WITHOUT_STEPS_NS

    def flush(self) -> None:
        self.streams.flush()

    def leave(self) -> None:
        """Cut an open window, for the script has ended."""
        self._probing.finish()

    def finish(self, now: int) -> None:
        """Write what is left."""
        self.leave()
        if self._opened_ns and not self._done_ns:
            self.spent_ns = now - self._opened_ns
        self._sources.keep_main()
        self._sources.keep_seen(file for file, _, _ in list(self.sampler.codes))
        try:
            self.run.write_json("end.json", end_facts())
        except OSError:
            pass
        self.event("end", ns=now_ns(), failed=False)
        self.streams.close()

    def discard(self) -> None:
        self.streams.discard()


def _make_room(run: RunDirectory, number: int) -> None:
    """Remove the oldest, whose place this one takes."""
    old = run.path / WINDOWS / f"{number - KEPT:03}"
    if number > KEPT and old.is_dir() and not old.is_symlink():
        shutil.rmtree(old, ignore_errors=True)
