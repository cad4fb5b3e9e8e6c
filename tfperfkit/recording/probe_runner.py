"""The probes of one session: loaded, entered and left.

An exception of a probe appears in the report, never in the script.
"""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import msgspec

from tfperfkit import registry
from tfperfkit.clock import now_ns
from tfperfkit.errors import Busy, ProbeError, Unavailable
from tfperfkit.instruments.hooks.interrupts import words_of
from tfperfkit.option import effective
from tfperfkit.probe import BackgroundProbe, Cost, Probe, WindowWish
from tfperfkit.recording.port import SessionPort
from tfperfkit.recording.probe_context import SessionRecording
from tfperfkit.recording.schedule import WindowSpec, parse_window

_Entered = dict[str, tuple[AbstractContextManager[None], SessionRecording]]


def _wish(probe: Probe) -> WindowWish:
    """Return the window that a probe wishes for; the usual one when it says nothing, or something that is no wish."""
    try:
        wish = msgspec.convert(msgspec.to_builtins(getattr(probe, "window", None)), WindowWish)
        return wish if 0 < wish.seconds < 3600 and 0 < wish.seconds_without_steps < 3600 else WindowWish()
    except (msgspec.ValidationError, TypeError):
        return WindowWish()


class Probing:
    """Who records now. The session decides when: on the training thread, or the main one as the run begins and ends."""

    def __init__(self, session: SessionPort) -> None:
        self._session = session
        self._probes: dict[str, Probe] = {}
        self._open: _Entered = {}
        self._ends: dict[str, ExitNote] = {}
        self._backgrounds: _Entered = {}
        self._busy: set[str] = set()
        self.windows: list[WindowSpec] = []

    def choose(self) -> None:
        """Those that the manifest names. One that can't be loaded has failed."""
        manifest, installed = self._session.manifest, registry.available()
        asked = {name: parse_window(f"{name}={text}") for name, text in manifest.windows.items()}
        for name in manifest.probes:
            try:
                self._probes[name] = registry.load(name, installed)
            except ProbeError as error:
                self._session.event("probe", probe=name, status="failed", reason=str(error))
                continue
            if self._probes[name].cost is Cost.WINDOW:
                spec = asked.get(name, WindowSpec(name))
                self.windows.append(msgspec.structs.replace(spec, wish=_wish(self._probes[name])))

    def start(self) -> None:
        """Enter the probes that are on throughout, and the windows that are the whole run."""
        for name, probe in self._probes.items():
            if probe.cost is Cost.FREE:
                self._enter(name, None)
            elif isinstance(probe, BackgroundProbe):
                self._enter(name, None, background=True)
        for window in self.windows:
            if window.whole and window.probe in self._probes:
                self.open_window(window.probe, None, whole=True)

    def finish(self) -> None:
        """Leave all probes; a window that is not over is cut."""
        whole = {window.probe for window in self.windows if window.whole}
        for name in list(self._open):
            self._leave(name, "cut" if self._is_window(name) and name not in whole else "ok")
        for context, recording in self._backgrounds.values():
            try:
                context.__exit__(None, None, None)
            except (Exception, SystemExit) as error:
                recording.note(f"its background record is incomplete: {type(error).__name__}: {error}")
        self._backgrounds.clear()

    # --- windows ------------------------------------------------------------------------------------------------

    @property
    def in_window(self) -> bool:
        """Asked from the pulse, as is ``rare``."""
        return any(self._is_window(name) for name in list(self._open))

    def open_window(
        self, name: str, steps: int | None, *, whole: bool = False, after_steps: bool = False, again: bool = False
    ) -> bool:
        """``after_steps``: by time, as none comes any more; ``again``: the probe has had its window in them.

        Whether what it needs is the script's for now, so that it may open later.
        """
        begin, step = now_ns(), max(self._session.step, 1)
        self._session.event("window", probe=name, step=step, begin_ns=begin, steps=steps, whole=whole, again=again)
        self._session.window_phase(name, "opening", whole)
        opened = self._enter(name, steps, after_steps=after_steps)
        self._session.window_phase(name, "open" if opened else "closed", whole)
        if opened:
            self._session.event("opened", probe=name, ns=now_ns())
            self._ends[name] = ExitNote(functools.partial(self._session.window_phase, name, "closing", whole))
        return name in self._busy

    def close_window(self, name: str) -> None:
        if name in self._open:
            self._leave(name, "ok")

    # --- steps --------------------------------------------------------------------------------------------------

    def announce(self, number: int) -> None:
        """Step ``number`` is about to begin."""
        for recording in self._recordings():
            recording.steps.announce(number)

    def follows(self, number: int) -> bool:
        """Return whether a probe that records now wants to know of the step after this one."""
        return any(recording.steps.wants_next(number) for recording in self._recordings())

    @property
    def rare(self) -> bool:
        """Return whether one wants to know of a step now and then."""
        return any(recording.steps.rare for recording in self._recordings())

    # --- one probe ------------------------------------------------------------------------------------------------

    def _recordings(self) -> Iterator[SessionRecording]:
        return (recording for _, recording in list(self._open.values()))

    def _is_window(self, name: str) -> bool:
        return name in self._probes and self._probes[name].cost is Cost.WINDOW

    def _enter(self, name: str, steps: int | None, *, background: bool = False, after_steps: bool = False) -> bool:
        probe = self._probes[name]
        options = effective(probe, self._session.manifest.options.get(name, {}))
        recording = SessionRecording(self._session, name, steps, options, after_steps=after_steps)
        self._session.be_quiet(False)
        self._busy.discard(name)
        try:
            if not background:
                self._check_claims(name)
            self._session.run.make_probe(name)
            if background and isinstance(probe, BackgroundProbe):
                context = probe.background(recording)
            else:
                context = probe.record(recording)
            context.__enter__()
        except Unavailable as reason:
            if isinstance(reason, Busy):
                self._busy.add(name)
            self._session.event("probe", probe=name, status="skipped", reason=str(reason))
            return False
        except (Exception, SystemExit) as error:  # a probe that exits must not end the script
            self._session.event("probe", probe=name, status="failed", reason=f"arming: {words_of(error)}")
            return False
        (self._backgrounds if background else self._open)[name] = (context, recording)
        return True

    def _check_claims(self, name: str) -> None:
        """Raises Unavailable when a probe that records now owns what this one must own alone."""
        for other in self._open:
            shared = self._probes[name].claims & self._probes[other].claims
            if shared:
                what = " and ".join(sorted(map(str, shared)))
                raise Unavailable(f"the probe {other} is recording, and both need {what} for themselves")

    def _leave(self, name: str, status: str) -> None:
        context, _ = self._open.pop(name)
        ends = self._ends.pop(name, None)
        closing = ends.close() if ends is not None else now_ns()
        if self._is_window(name):
            self._session.window_phase(name, "closing")
        try:
            context.__exit__(None, None, None)
        except (Exception, SystemExit) as error:
            self._session.event("probe", probe=name, status="failed", reason=f"leaving: {words_of(error)}")
        if self._is_window(name):
            self._session.window_phase(name, "closed")
            self._session.event("window_end", probe=name, step=self._session.step, end_ns=closing, status=status)
            self._session.window_ended(closing)


class ExitNote:
    """Calls ``tell`` if the interpreter ends in this process while a window is open, before the probe's exit handlers.

    A probe's own handler may take seconds to close (a trace is written). Handlers run in reverse order, so one that is
    registered after the window was opened runs first. ``at_ns`` is the time of the call; ``close`` unregisters it.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self.at_ns: int | None = None
        self._tell = tell
        self._pid = os.getpid()
        self._handler = self._note  # one object, so that it can be unregistered
        atexit.register(self._handler)

    def _note(self) -> None:
        if self._pid == os.getpid() and self.at_ns is None:
            self.at_ns = now_ns()
            self._tell()

    def close(self) -> int:
        """Unregister it; the time at which the closing began: at the interpreter's end, or now."""
        atexit.unregister(self._handler)
        return self.at_ns if self.at_ns is not None else now_ns()
