"""The batches of a running ``Model.fit``, from Keras' callbacks for them and from the frame of ``fit``."""

from __future__ import annotations

import functools
import sys
import weakref
from _thread import get_ident
from collections.abc import Mapping
from types import FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.instruments.hooks.frame_locals import local, locals_of, unseen
from tfperfkit.instruments.steps.batch_size import of_fit
from tfperfkit.instruments.steps.call_state import CallState, Token
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
        """Forget the batch of a ``fit`` that was left by an exception."""
        if self._batch is None:
            return
        while frame is not None and frame.f_code.co_name != "fit":
            frame = frame.f_back
        if frame is None:
            self._batch, self._state.inside = None, 0


def steps_per_execution(frame: FrameType | None) -> int:
    """Read it from the trainer whose ``fit`` runs; 0 if it can't be seen. Reading locals is slow: done once per fit."""
    frame = _fit(frame)
    value = getattr(local(frame, "self"), "steps_per_execution", 0) if frame is not None else 0
    return value if isinstance(value, int) else 0


def batch_argument(frame: FrameType | None, which: str) -> int:
    """Return the number of the first or last batch of this execution, from the locals of ``fit``; 0 if it can't be
    seen.

    Keras has ``begin_step``/``end_step``, Keras 2 ``step``/``end_step``, early Keras 3 only ``step``: there the
    trainer's ``steps_per_execution`` tells.
    """
    frame = _fit(frame)
    if frame is None or not unseen(frame.f_code):
        return 0
    with locals_of(frame) as names:
        return _batch(names, which)


def _fit(frame: FrameType | None) -> FrameType | None:
    while frame is not None and frame.f_code.co_name != "fit":
        frame = frame.f_back
    return frame


def _batch(names: Mapping[str, Any], which: str) -> int:
    first = names.get("begin_step", names.get("step"))
    if not isinstance(first, int):
        return 0
    if which == "begin":
        return first
    last = names.get("end_step")
    batches = getattr(names.get("epoch_iterator"), "num_batches", None)
    upper = batches - 1 if isinstance(batches, int) else None  # the last execution of an epoch may be partial
    if isinstance(last, int):
        return last if upper is None else min(last, max(upper, first))
    per_execution = getattr(names.get("self"), "steps_per_execution", 1)
    last = first + per_execution - 1 if isinstance(per_execution, int) else first
    return last if upper is None else min(last, max(upper, first))
