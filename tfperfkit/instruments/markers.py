"""Markers of training steps: where batches are fetched and weights are updated, in any script.

Each seam is a class method that runs at most a few times per step. None of them stands on the script's stack
(see ``around``). Calls made while a graph is built are not steps and are left out.
"""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from _thread import get_ident
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, Protocol

from tfperfkit.clock import now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments import around, remarks, step_seams, tracing
from tfperfkit.instruments.batchsize import of_fit, of_iterator
from tfperfkit.instruments.callchain import LoopFinder, thread_frame, user_frames
from tfperfkit.instruments.calls import UNSEEN, Functions, Targets, Token, Updating
from tfperfkit.instruments.fitloop import batch_argument, steps_per_execution
from tfperfkit.instruments.named import NamedCalls
from tfperfkit.instruments.sites import SiteBook
from tfperfkit.steps import Marker, MarkerKind, Site


class Listener(Protocol):
    """Who is told. ``entering`` is called before the observed call, ``marked`` after it, on the same thread."""

    def new_site(self, site: Site) -> None: ...
    def entering(self, site: int) -> None: ...
    def marked(self, marker: Marker) -> None: ...
    def applied_in_graph(self, optimizer: Any) -> None: ...
    def examine(self, function: Any) -> None: ...


class Markers:
    """Installs the seams and turns calls into markers. ``named`` is the function given by --steps-from."""

    def __init__(self, listener: Listener, is_user: Callable[[str], bool], named: str | None = None) -> None:
        self._listener = listener
        self._is_user = is_user
        self._named = named
        self._named_site = 0
        self._named_calls = (
            NamedCalls(named, is_user, self._named_entered, self._named_left) if named is not None else None
        )
        self._loops = LoopFinder()
        self._sites = SiteBook(is_user, self._loops.loops, listener.new_site)
        self._targets = Targets()
        self._restores: list[Callable[[], None]] = []
        self._inside = 0
        self._named_frame: weakref.ref[Any] | int | None = None
        self._eager: Callable[[], bool] = lambda: True
        self._functions = Functions()
        #: While nobody needs to know when a step begins, calls of known functions only leave this record.
        self.quietly: Callable[[Marker], object] | None = None
        self._local = threading.local()  # has ``elsewhere`` on threads that are known to train on the side
        self._blind = False  # whether a graph is being built can't be told
        self.thread: int | None = None  # the training thread: the one that made the first update
        self.reasons: list[str] = []
        self.cost_ns = 0  # time spent in these hooks

    # --- installing ---------------------------------------------------------------------------------------------

    def install_tensorflow(self) -> None:
        """Observe iterators, ``tf.function`` calls that update weights, and TensorFlow 1's optimizers."""
        from tensorflow.python.eager import context

        eager = getattr(context, "executing_eagerly", None)
        if not callable(eager):
            self._blind = True
            raise Unavailable("steps other than Model.fit's can't be seen: this TensorFlow has no executing_eagerly")
        self._eager = eager
        self._observe(step_seams.TENSORFLOW)

    def install_keras(self, package: str) -> None:
        """Observe ``fit``, ``train_on_batch`` and eager updates of Keras (``keras``) or Keras 2 (``tf_keras``)."""
        self._observe(seam for seam in step_seams.of_keras(package) if not (self._blind and seam.needs_eager))

    def search_named(self) -> None:
        """Look for the function of --steps-from, until it is found."""
        calls = self._named_calls
        if calls is None or calls.found:
            return
        compiled = calls.search()
        if compiled is not None:
            known = Updating(calls.name)
            known.named = True
            self._functions.put(compiled, known)
        if calls.found:
            self._named = None  # from now on its calls are seen themselves

    def restore(self) -> None:
        if self._named_calls is not None:
            self._named_calls.restore()
        for undo in reversed(self._restores):
            undo()
        self._restores.clear()
        self.reasons += remarks.take()

    def _observe(self, seams: Iterable[step_seams.StepSeam]) -> None:
        hooks: dict[step_seams.Role, tuple[around.Before, around.After]] = {
            "next": (self._before_next, self._after),
            "call": (self._before_call, self._after_call),
            "apply": (self._before("apply"), self._after),
            "train_on_batch": (self._before("train_on_batch"), self._after),
            "batch_begin": (self._before_batch, self._discard),
            "batch_end": (self._after_batch, self._discard),
            "epoch_end": (self._end_of_epoch, self._discard),
        }
        for seam in seams:
            try:
                self._restores.append(step_seams.install(seam, *hooks[seam.role]))
            except Unavailable as error:
                self._refuse(str(error))

    # --- what updates weights -----------------------------------------------------------------------------------

    def updates_weights(self, function: Any, name: str, loop: bool, optimizers: list[Any], batch_size: int) -> None:
        """Observe calls of this ``Function`` from now on: one of its graphs updates weights.

        ``loop``: the update stands in a loop of the graph; the optimizers' counters tell how many steps a call held.
        """
        known = self._functions.get(id(function))
        if known is None:
            known = Updating(name)
            self._functions.put(function, known)
        known.loop = known.loop or loop
        known.batch_size = known.batch_size or batch_size
        known.optimizers += [weakref.ref(item) for item in optimizers]

    # --- seams --------------------------------------------------------------------------------------------------

    def _before_next(self, iterator: Any) -> Token | None:
        start = now_ns()
        if (self.thread is not None and get_ident() != self.thread) or not self._eager():
            return None
        frame = sys._getframe(2)
        site = self._sites.find("next", 0, frame)
        if site is None:
            site = self._sites.make("next", 0, "", frame, functools.partial(of_iterator, iterator))
        return self._entered(Token(site, None, False), frame, start)

    def _before(self, kind: MarkerKind) -> around.Before:
        def before(instance: Any) -> Token | None:
            start = now_ns()
            if not self._eager():
                if kind == "apply":
                    self._listener.applied_in_graph(instance)
                return None
            if self._inside and self._is_inside():
                return None
            return self._enter(kind, instance, start)

        return before

    def _before_call(self, function: Any) -> Token | None:
        known = self._functions.get(id(function), UNSEEN)
        if known is None:
            return None
        start = now_ns()
        thread = get_ident()
        if thread != self.thread and self.thread is not None and hasattr(self._local, "elsewhere"):
            return None
        if (self._inside and self._is_inside()) or not self._eager():
            return None
        if known is UNSEEN and function.experimental_get_tracing_count():
            self._examine(function)  # traced before we were here
            known = self._function(function)
            if known is None:
                return None
        if known is not UNSEEN:
            special = known.loop or known.named or self._named or not known.number
            if not special and self.quietly is not None and thread == self.thread:
                # As ``_enter``, for what most steps of a long training are, with as little Python as can be.
                site = self._sites.find("call", known.number, sys._getframe(2))
                if site is not None:
                    self._inside += 1
                    token = Token(site, function, True, known)
                    token.begin = now = now_ns()
                    self.cost_ns += now - start
                    return token
            return self._enter(known.kind, function, start, known)
        # The first call traces: only afterwards it is known whether the function updates weights.
        if self.thread is not None and thread != self.thread:
            return None
        self._inside += 1
        token = Token(0, function, True)
        token.frame = sys._getframe(2)  # of a caller: alive until the call ends, and let go then
        token.begin = now_ns()
        self.cost_ns += token.begin - start
        return token

    def _function(self, function: Any) -> Updating | None:
        """What is known of it after a call: when nothing is, it updates no weights."""
        known: Updating | None = self._functions.get(id(function), UNSEEN)
        if known is UNSEEN:
            self._functions.put(function, None)
            return None
        return known

    def _examine(self, function: Any) -> None:
        try:
            self._listener.examine(function)
        except Exception as error:
            self._refuse(f"it can't be told which functions update weights ({type(error).__name__}: {error})")

    def _refuse(self, reason: str) -> None:
        if f"steps: {reason}" not in self.reasons:
            self.reasons.append(f"steps: {reason}")

    def _enter(
        self, kind: MarkerKind, target: Any, start: int, known: Updating | None = None
    ) -> Token | None:
        thread = get_ident()
        frame: FrameType | None = sys._getframe(3)
        if thread != self.thread:
            replica = getattr(threading.current_thread(), "replica_id", None)
            if replica:
                return None  # of a replicated update the first replica's stands for all
            if replica == 0 and self.thread is not None:
                frame, thread = thread_frame(self.thread), self.thread
            if self.thread is None:
                self.thread = thread
            elif thread != self.thread:
                self._local.elsewhere = True
                return None
        number = self._targets.number(target)
        if known is not None:
            known.number = number
        site = self._sites.find(kind, number, frame)
        if site is None:
            name = known.name if known else getattr(target, "name", "") or type(target).__name__
            site = self._sites.make(kind, number, name, frame, lambda: known.batch_size if known else 0)
        self._inside += 1
        token = Token(site, target, True, known)
        if known is not None and known.loop:
            token.extra = known.counters()
        return self._entered(token, frame, start)

    def _entered(self, token: Token, frame: FrameType | None, start: int) -> Token:
        if self._named:
            self._mark_named(user_frames(frame, self._is_user))
        if self.quietly is None:
            self._listener.entering(token.site)
        token.begin = now_ns()
        self.cost_ns += token.begin - start
        return token

    def _after(self, token: Token, called: bool, steps: int = 1) -> None:
        end = now_ns()
        if token.nested:
            self._inside -= 1
        if not called:
            return
        (self.quietly or self._listener.marked)(Marker(token.site, token.begin, end, steps))
        self.cost_ns += now_ns() - end

    def _after_call(self, token: Token, called: bool) -> None:
        if not called:
            self._inside -= 1
            return
        known = token.known
        quietly = self.quietly  # the pulse may take it away at any moment
        if known is not None and not known.loop and quietly is not None:
            end = now_ns()
            self._inside -= 1
            quietly(Marker(token.site, token.begin, end))
            known.steps += 1
            self.cost_ns += now_ns() - end
            return
        if self._functions.get(id(token.owner), UNSEEN) is UNSEEN and not tracing.tells_functions():
            self._examine(token.owner)  # no trace has told whether it updates weights
        known = self._function(token.owner)
        if known is None:  # its first call, and it updates no weights
            self._inside -= 1
            return
        if token.frame is not None:
            if self.thread is None:
                self.thread = get_ident()
            token.site = self._site(known.kind, token.owner, known.name, token.frame, lambda: known.batch_size)
            token.frame = None
            token.extra = known.before(self._functions.updates()) if known.loop else None
        steps = 1
        if known.loop and token.extra is not None:
            now = known.counters()
            steps = max((b - a for a, b in zip(token.extra, now, strict=False)), default=1)
        known.steps += max(steps, 1)
        self._after(token, True, max(steps, 1))

    @property
    def busy(self) -> bool:
        """Whether an observed call is under way: an update, or the first call of a function, which traces."""
        return self._inside > 0

    def _is_inside(self) -> bool:
        """Whether another observed call is under way. A ``fit`` that was left by an exception does not count."""
        if self._inside and self._batch is not None:
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_code.co_name != "fit":
                frame = frame.f_back
            if frame is None:
                self._batch = None
                self._inside = 0
        return self._inside > 0

    # --- Model.fit ----------------------------------------------------------------------------------------------

    _batch: Token | None = None
    _first_batch = 0
    _callbacks: Any = None  # weakly: it holds the model, which the script may want to be rid of
    _grouped = False  # several steps per execution: each callback speaks for a range of batches

    def _before_batch(self, callbacks: Any) -> None:
        start = now_ns()
        thread = get_ident()
        if self.thread is None:
            self.thread = thread
        if self._batch is not None:  # the last batch never ended: an exception came between
            self._batch, self._inside = None, 0
        if thread != self.thread or self._inside:
            return
        frame = sys._getframe(2)
        model = getattr(callbacks, "_model", None) or getattr(callbacks, "model", None) or callbacks
        site = self._site("batch", model, getattr(model, "name", ""), frame, functools.partial(of_fit, frame))
        if self.quietly is None:
            self._listener.entering(site)
        token = Token(site, None, True)
        if self._callbacks is None or self._callbacks() is not callbacks:  # another call of fit
            self._callbacks = weakref.ref(callbacks)
            self._grouped = steps_per_execution(frame) != 1
        self._first_batch = batch_argument(frame, "begin") if self._grouped else 0
        self._inside += 1
        self._batch = token
        token.begin = now_ns()
        self.cost_ns += token.begin - start

    def _after_batch(self, callbacks: Any) -> None:
        token, self._batch = self._batch, None
        if token is None:
            return
        last = batch_argument(sys._getframe(2), "end") if self._grouped else 0
        self._after(token, True, max(last - self._first_batch + 1, 1))

    def _end_of_epoch(self, callbacks: Any) -> None:
        site = self._sites.first("batch")
        if site is not None and get_ident() == self.thread:
            now = now_ns()
            self._listener.marked(Marker(site, now, now, 0))

    def _discard(self, token: Any, called: bool) -> None:
        return None

    # --- sites --------------------------------------------------------------------------------------------------

    def _site(
        self, kind: MarkerKind, target: Any, name: str, frame: FrameType | None, batch: Callable[[], int] = lambda: 0
    ) -> int:
        number = 0 if kind == "named" else self._targets.number(target)
        known = self._sites.find(kind, number, frame)
        return known if known is not None else self._sites.make(kind, number, name, frame, batch)

    def _named_entered(self) -> None:
        if self.thread is None:
            self.thread = get_ident()
        calls = self._named_calls
        if not self._named_site and calls is not None and calls.place is not None:
            self._named_site = self._sites.make_named(calls.name, *calls.place)
        if get_ident() == self.thread:
            self._listener.entering(self._named_site)

    def _named_left(self, begin: int) -> None:
        if get_ident() == self.thread:
            self._listener.marked(Marker(self._named_site, begin, now_ns()))

    def _mark_named(self, frames: list[FrameType]) -> None:
        for frame in frames:
            code = frame.f_code
            if self._named in (code.co_name, getattr(code, "co_qualname", "")):
                if self._named_frame == id(frame):
                    return
                self._named_frame = id(frame)
                site = self._site("named", None, self._named or "", frame)
                self._listener.entering(site)
                now = now_ns()
                self._listener.marked(Marker(site, now, now, 1))
                return
