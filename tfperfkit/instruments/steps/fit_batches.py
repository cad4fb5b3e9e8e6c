"""The batches of a running ``Model.fit``, from Keras' own callbacks for them."""

from __future__ import annotations

import functools
import sys
import weakref
from _thread import get_ident
from types import FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.instruments.steps.batch_size import of_fit
from tfperfkit.instruments.steps.call_state import CallState
from tfperfkit.instruments.steps.fit_loop import batch_argument, steps_per_execution
from tfperfkit.instruments.steps.tracked_calls import Token
from tfperfkit.records.steps import Marker

_KERAS = ("keras.", "tf_keras.")


class FitBatches:
    """Each batch is a call that begins in one callback and ends in another."""

    def __init__(self, state: CallState) -> None:
        self._state = state
        self._batch: Token | None = None  # the one that is under way
        self._first = 0  # its number, where an execution holds several
        self._callbacks: Any = None  # weakly: it holds the model, which the script may want to be rid of
        self._grouped = False  # several steps per execution: each callback speaks for a range of batches

    def before_batch(self, callbacks: Any) -> None:
        """Seam of ``on_train_batch_begin``."""
        frame = sys._getframe(2)
        if not str(frame.f_globals.get("__name__")).startswith(_KERAS):
            return  # a training loop of the script's own that tells Keras' callbacks: its steps are found as others are
        state, start, thread = self._state, now_ns(), get_ident()
        if state.thread is None:
            state.thread = thread
        if self._batch is not None:  # the last batch never ended: an exception came between
            self._batch, state.inside = None, 0
        if thread != state.thread or state.inside:
            return
        model = getattr(callbacks, "_model", None) or getattr(callbacks, "model", None) or callbacks
        site = state.site("batch", model, getattr(model, "name", ""), frame, functools.partial(of_fit, frame))
        if state.quietly is None:
            state.listener.entering(site)
        token = Token(site, None, True)
        if self._callbacks is None or self._callbacks() is not callbacks:  # another call of fit
            self._callbacks = weakref.ref(callbacks)
            self._grouped = steps_per_execution(frame) != 1
        self._first = batch_argument(frame, "begin") if self._grouped else 0
        state.inside += 1
        self._batch = token
        token.begin = now_ns()
        state.cost_ns += token.begin - start

    def after_batch(self, callbacks: Any) -> None:
        """Seam of ``on_train_batch_end``."""
        token, self._batch = self._batch, None
        if token is None:
            return
        last = batch_argument(sys._getframe(2), "end") if self._grouped else 0
        self._state.ended(token, True, max(last - self._first + 1, 1))

    def end_of_epoch(self, callbacks: Any) -> None:
        """Seam of ``on_epoch_end``: what follows is outside of steps."""
        state = self._state
        site = state.sites.first("batch")
        if site is not None and get_ident() == state.thread:
            now = now_ns()
            state.listener.marked(Marker(site, now, now, 0))

    def forget_a_left_fit(self, frame: FrameType | None) -> None:
        """A ``fit`` that was left by an exception has no batch under way any more."""
        if self._batch is None:
            return
        while frame is not None and frame.f_code.co_name != "fit":
            frame = frame.f_back
        if frame is None:
            self._batch, self._state.inside = None, 0
