"""Methods of a callback that Keras calls around each batch of a ``fit``."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.records.samples import Frame, Stack

AROUND_BATCHES = frozenset({"on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end"})


def batch_callback(stack: Stack) -> Frame | None:
    """The frame of such a method that a sample was in."""
    return next((frame for frame in stack.frames if frame.name.rpartition(".")[2] in AROUND_BATCHES), None)


def called_by_batch(stacks: Iterable[Stack]) -> str:
    """The method that all of these samples were in, "" where that is not one."""
    names = {frame.name.rpartition(".")[2] if (frame := batch_callback(stack)) else "" for stack in stacks}
    return names.pop() if len(names) == 1 else ""
