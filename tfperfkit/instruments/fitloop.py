"""What ``Model.fit`` is doing, read from its own frame."""

from __future__ import annotations

from types import FrameType


def steps_per_execution(frame: FrameType | None) -> int:
    """Of the trainer whose ``fit`` is running; 0 if it can't be seen. Reading ``fit``'s locals costs: once per fit."""
    while frame is not None and frame.f_code.co_name != "fit":
        frame = frame.f_back
    value = getattr(frame.f_locals.get("self"), "steps_per_execution", 0) if frame is not None else 0
    return value if isinstance(value, int) else 0


def batch_argument(frame: FrameType | None, which: str) -> int:
    """The number of the first or last batch of this execution, from the locals of ``fit``; 0 if it can't be seen.

    Keras has ``begin_step``/``end_step``, Keras 2 ``step``/``end_step``, early Keras 3 only ``step``: there the
    trainer's ``steps_per_execution`` tells.
    """
    while frame is not None and frame.f_code.co_name != "fit":
        frame = frame.f_back
    if frame is None:
        return 0
    names = frame.f_locals
    first = names.get("begin_step", names.get("step"))
    if not isinstance(first, int):
        return 0
    if which == "begin":
        return first
    last = names.get("end_step")
    batches = getattr(names.get("epoch_iterator"), "num_batches", None)
    most = batches - 1 if isinstance(batches, int) else None  # the last execution of an epoch may be partial
    if isinstance(last, int):
        return last if most is None else min(last, max(most, first))
    per_execution = getattr(names.get("self"), "steps_per_execution", 1)
    last = first + per_execution - 1 if isinstance(per_execution, int) else first
    return last if most is None else min(last, max(most, first))
