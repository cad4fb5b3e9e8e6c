"""What ``Model.fit`` is doing, read from its own frame."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType
from typing import Any

from tfperfkit.instruments.hooks.frame_locals import local, locals_of, unseen


def steps_per_execution(frame: FrameType | None) -> int:
    """Of the trainer whose ``fit`` is running; 0 if it can't be seen. Reading ``fit``'s locals costs: once per fit."""
    frame = _fit(frame)
    value = getattr(local(frame, "self"), "steps_per_execution", 0) if frame is not None else 0
    return value if isinstance(value, int) else 0


def batch_argument(frame: FrameType | None, which: str) -> int:
    """The number of the first or last batch of this execution, from the locals of ``fit``; 0 if it can't be seen.

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
