"""Markers of training steps: where batches are fetched and weights are updated, in any script.

Each seam is a class method that runs at most a few times per step. None of them stands on the script's stack
(see ``hooks.method_seam``). Calls made while a graph is built are not steps and are left out.
"""

from __future__ import annotations

import functools
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs import tracing
from tfperfkit.instruments.hooks import method_seam, notes
from tfperfkit.instruments.hooks.interrupts import raise_later
from tfperfkit.instruments.steps import seam_table
from tfperfkit.instruments.steps.batch_size import of_iterator
from tfperfkit.instruments.steps.call_state import CallState, Listener, Token
from tfperfkit.instruments.steps.fit_batches import FitBatches
from tfperfkit.instruments.steps.functions import UNSEEN, Functions, Updating
from tfperfkit.instruments.steps.named_function import NamedSteps
from tfperfkit.instruments.steps.quiet_calls import NATIVE, names_of, seam_of
from tfperfkit.instruments.steps.sites import chain_of, thread_frame
from tfperfkit.instruments.steps.work_calls import WorkCalls
from tfperfkit.records.steps import Marker, MarkerKind

_CONTEXT = "tensorflow.python.eager.context"
#: Places of one function's calls that C code knows: it keeps four, and more in turn would cost at each call.
_TAUGHT = 16


class Markers:
    """Installs the seams and turns calls into markers. ``named`` is the function given by --steps-from."""

    def __init__(self, listener: Listener, is_user: Callable[[str], bool], named: str | None = None) -> None:
        self._state = CallState(listener, is_user)
        self._fit = FitBatches(self._state)
        self._named = NamedSteps(named, self._state) if named is not None else None
        self._work = WorkCalls(self._state)
        self._state.late = self._late
        self.functions = Functions(self._state)
        self._restores: list[Callable[[], None]] = []
        self._eager: Callable[[], bool] = lambda: True
        #: Told of the caller's frame as an iterator or a compiled function is entered, for as long as somebody waits.
        self._passing: Callable[[FrameType], None] | None = None
        self._local = threading.local()  # has ``elsewhere`` on threads that are known to train on the side
        self._taught = 0  # places of iterators that C code knows
        self._blind = False  # whether a graph is being built is unknown
        self.reasons: list[str] = []

    @property
    def thread(self) -> int | None:
        """Return the training thread: the one that made the first update."""
        return self._state.thread

    @property
    def cost_ns(self) -> int:
        """Return the time spent in these hooks."""
        return self._state.cost_ns

    @property
    def busy(self) -> bool:
        """Return whether an observed call is under way: an update, or the first call of a function, which traces."""
        return self._state.inside > 0

    def quiet(self, note: Callable[[Marker], object] | None) -> None:
        """While nobody needs to know when a step begins, calls of known functions only leave this record (None: each
        is notified)."""
        self._state.quietly = note

    # --- installing ---------------------------------------------------------------------------------------------

    def install_tensorflow(self) -> None:
        """Observe iterators, ``tf.function`` calls that update weights, and TensorFlow 1's optimizers."""
        from tensorflow.python.eager import context

        eager = getattr(context, "executing_eagerly", None)
        if not callable(eager):
            self._blind = True
            raise Unavailable("steps other than Model.fit's can't be seen: this TensorFlow has no executing_eagerly")
        self._eager = eager
        self._observe(seam_table.TENSORFLOW)

    def install_keras(self, package: str) -> None:
        """Observe ``fit``, ``train_on_batch`` and eager updates of Keras (``keras``) or Keras 2 (``tf_keras``)."""
        self._observe(seam for seam in seam_table.of_keras(package) if not (self._blind and seam.needs_eager))

    def search_named(self) -> None:
        """Look for the function of --steps-from, until it is found."""
        if self._named is not None:
            self._named.search(self.functions)

    def restore(self) -> None:
        if self._named is not None:
            self._named.restore()
        for undo in reversed(self._restores):
            undo()
        self._restores.clear()
        self.reasons += notes.take()

    def _observe(self, seams: Iterable[seam_table.StepSeam]) -> None:
        hooks: dict[seam_table.Role, tuple[method_seam.Before, method_seam.After]] = {
            "next": (self._before_next, self._state.ended),
            "call": (self._before_call, self._after_call),
            "concrete": (self._before_concrete, self._work.after),
            "apply": (self._before("apply"), self._state.ended),
            "train_on_batch": (self._before("train_on_batch"), self._state.ended),
            "batch_begin": (self._fit.before_batch, self._discard),
            "batch_end": (self._fit.after_batch, self._discard),
            "epoch_end": (self._fit.end_of_epoch, self._discard),
            "predict": (self._work.of_method("predict", self._pass), self._work.after),
            "evaluate": (self._work.of_method("evaluate", self._pass), self._work.after),
            "session": (self._work.of_method("session", self._pass), self._work.after),
        }
        for seam in seams:
            try:
                native = seam.role in ("call", "next")
                make = seam_of(self._state, seam.role == "next") if native else method_seam.Around
                self._restores.append(seam_table.install(seam, *hooks[seam.role], make))
            except Unavailable as error:
                self._refuse(str(error))

    # --- seams --------------------------------------------------------------------------------------------------

    def watch_entries(self, passing: Callable[[FrameType], None]) -> Callable[[], None]:
        """Call ``passing`` from now on, on any thread; returns what ends that. See ``safe_points``."""
        self._passing, self._state.held = passing, True

        def restore() -> None:
            self._passing, self._state.held = None, False

        return restore

    def _pass(self, frame: FrameType) -> None:
        passing = self._passing
        if passing is not None:
            passing(frame)

    def _before_next(self, iterator: Any) -> Token | None:
        passing = self._passing  # it may be taken away at any moment
        if passing is not None:
            passing(sys._getframe(2))
        start = now_ns()
        state = self._state
        if (state.thread is not None and get_ident() != state.thread) or not self._eager():
            return None
        frame = sys._getframe(2)
        site = state.sites.find("next", 0, frame)
        if site is None:
            site = state.sites.make("next", 0, "", frame, functools.partial(of_iterator, iterator))
        if NATIVE and state.quietly is not None and self._taught < _TAUGHT and not self._searching:
            self._taught += 1
            self._teach(0, frame, site)
        return self._entered(Token(site, None, False), frame, start)

    def _before(self, kind: MarkerKind) -> method_seam.Before:
        def before(instance: Any) -> Token | None:
            start = now_ns()
            if not self._eager():
                if kind == "apply":
                    self.functions.applied_in_graph(instance)
                return None
            if self._state.inside and self._is_inside():
                return None
            return self._enter(kind, instance, start)

        return before

    def _before_call(self, function: Any) -> Token | None:
        passing = self._passing
        if passing is not None:
            passing(sys._getframe(2))
        known = self.functions.get(id(function), UNSEEN)
        if known is None:
            if self._work.left > 0:
                return self._work.function(function, sys._getframe(2)) if self._eager() else None
            self._state.pass_by(id(function))
            return None
        start = now_ns()
        state, thread = self._state, get_ident()
        if thread != state.thread and state.thread is not None and hasattr(self._local, "elsewhere"):
            return None
        if (state.inside and self._is_inside()) or not self._eager():
            return None
        if known is UNSEEN and function.experimental_get_tracing_count():
            self._examine(function)  # traced before we were here
            known = self.functions.after_call(function)
            if known is None:
                return None
        if known is not UNSEEN:
            special = known.loop or known.named or self._searching or not known.number
            if not special and state.quietly is not None and thread == state.thread:
                # As ``_enter``, for what most steps of a long training are, with as little Python as can be.
                site = known.callers.site(2)
                if site is None:
                    frame = sys._getframe(2)
                    site = state.sites.find("call", known.number, frame)
                    if site is not None:
                        known.callers.remember(frame, state.is_user, site)
                if site is not None:
                    if NATIVE and known.taught < _TAUGHT:
                        known.taught += 1
                        self._teach(id(function), sys._getframe(2), site)
                    state.inside += 1
                    token = Token(site, function, True, known)
                    token.begin = now = now_ns()
                    state.cost_ns += now - start
                    return token
            return self._enter(known.kind, function, start, known)
        # The first call traces: only afterwards it is known whether the function updates weights.
        if state.thread is not None and thread != state.thread:
            return None
        state.inside += 1
        token = Token(0, function, True)
        token.frame = sys._getframe(2)  # of a caller: alive until the call ends, and let go then
        token.begin = now_ns()
        state.cost_ns += token.begin - start
        return token

    def _before_concrete(self, function: Any) -> Token | None:
        """Mark a compiled function that the user calls by its one graph; one that a ``tf.function`` calls is not
        seen."""
        frame = sys._getframe(2)
        self._pass(frame)
        return self._work.function(function, frame) if self._work.left > 0 and self._eager() else None

    @property
    def _searching(self) -> bool:
        """Tell whether observed calls may yet turn out to run below the function that the user named."""
        return self._named is not None and self._named.searching

    def _teach(self, key: int, frame: FrameType, site: int) -> None:
        """Let C code mark the calls of this function, or (0) of all iterators, from there. ``frame``: the innermost,
        where the seam is."""
        if self._state.context is None:
            self._state.context = names_of(sys.modules[_CONTEXT])
        if self._state.context is not None:
            depth, chain = chain_of(frame, self._state.is_user)
            if chain:
                self._state.remember(key, frame.f_code, frame.f_lasti, depth, chain, site)

    def _late(self, site: int, begin: int, end: int) -> None:
        """Tell the listener of the end of a call that C code began to mark."""
        try:
            self._state.listener.marked(Marker(site, begin, end))
        except Exception as error:
            method_seam.failed(error)
        except BaseException as error:  # of a signal's handler: it is the script's
            raise_later(error)

    def _examine(self, function: Any) -> None:
        try:
            self.functions.examine(function)
        except Exception as error:
            self._refuse(f"it can't be known which functions update weights ({type(error).__name__}: {error})")

    def _refuse(self, reason: str) -> None:
        if f"steps: {reason}" not in self.reasons:
            self.reasons.append(f"steps: {reason}")

    def _enter(self, kind: MarkerKind, target: Any, start: int, known: Updating | None = None) -> Token | None:
        state, thread, first = self._state, get_ident(), False
        frame: FrameType | None = sys._getframe(3)
        if thread != state.thread:
            replica = getattr(threading.current_thread(), "replica_id", None)
            if replica:
                return None  # of a replicated update the first replica's stands for all
            if replica == 0 and state.thread is not None:
                frame, thread = thread_frame(state.thread), state.thread
            first = state.thread is None
            if first:
                state.thread = thread
            elif thread != state.thread:
                self._local.elsewhere = True
                state.elsewhere()
                return None
        number = state.targets.number(target)
        if known is not None:
            known.number = number
        site = state.sites.find(kind, number, frame)
        if site is None:
            name = known.name if known else getattr(target, "name", "") or type(target).__name__
            site = state.sites.make(kind, number, name, frame, lambda: known.batch_size if known else 0)
        state.inside += 1
        token = Token(site, target, True, known)
        token.first = first
        if known is not None and known.loop:
            token.extra = known.counters()
        return self._entered(token, frame, start)

    def _entered(self, token: Token, frame: FrameType | None, start: int) -> Token:
        state = self._state
        if self._named is not None and self._searching:
            self._named.mark(frame)
        if state.quietly is None:
            state.listener.entering(token.site)
        token.begin = now_ns()
        state.cost_ns += token.begin - start
        return token

    def _after_call(self, token: Token, called: bool) -> None:
        state = self._state
        if not token.nested:  # a function that updates nothing
            self._work.after(token, called)
            return
        if not called:
            state.inside -= 1
            return
        known = token.known
        quietly = state.quietly  # the pulse may take it away at any moment
        if known is not None and not known.loop and quietly is not None:
            end = now_ns()
            state.inside -= 1
            quietly(Marker(token.site, token.begin, end))
            known.steps += 1
            state.cost_ns += now_ns() - end
            return
        if self.functions.get(id(token.owner), UNSEEN) is UNSEEN and not tracing.tells_functions():
            self._examine(token.owner)  # no trace has shown whether it updates weights
        known = self.functions.after_call(token.owner)
        if known is None:  # its first call, and it updates no weights
            state.inside -= 1
            return
        if token.frame is not None:
            if state.thread is None:
                state.thread = get_ident()
            token.site = state.site(known.kind, token.owner, known.name, token.frame, lambda: known.batch_size)
            token.frame = None
            token.extra = known.before(self.functions.updates()) if known.loop else None
        steps = 1
        if known.loop and token.extra is not None:
            now = known.counters()
            steps = max((b - a for a, b in zip(token.extra, now, strict=False)), default=1)
        known.steps += max(steps, 1)
        state.ended(token, True, max(steps, 1))

    def _is_inside(self) -> bool:
        """Return whether another observed call is under way."""
        self._fit.forget_a_left_fit(sys._getframe(1))
        return self._state.inside > 0

    def _discard(self, token: Any, called: bool) -> None:
        return None
