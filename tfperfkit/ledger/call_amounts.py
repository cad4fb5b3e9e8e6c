"""How many rows a costly call goes through: as the source makes its argument, else as a trace recorded the shape."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.offers import CallShapes
from tfperfkit.records.samples import Frame
from tfperfkit.syntax.amounts import count_rows
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.module import Syntax

#: The function of TensorFlow that calls a compiled function.
_CALLS_COMPILED = "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"


class CallAmount(NamedTuple):
    """``rows`` of the argument with most of them; ``argument``: as the user wrote it, or the parameter's name."""

    rows: int
    argument: str


def find_amount(frame: Frame, syntax: Syntax | None, shapes: CallShapes | None) -> CallAmount | None:
    """Return the amount of the call that a frame was in; None if it is unknown or below ``MANY_ROWS``.

    ``syntax``: of the frame's file. ``shapes``: those that traces recorded; they count for a call of a compiled
    function.
    """
    given = [
        CallAmount(count_rows(item) or 0, item.text)
        for call in (syntax.find_running(frame.line, frame.span) if syntax is not None else ())
        for item in (call.given if isinstance(call, Call) else ())
    ]
    found = max(given, key=lambda amount: amount.rows, default=None)
    if (found is None or not found.rows) and shapes is not None and (frame.calls or ("",))[0] == _CALLS_COMPILED:
        here = [call for call in shapes.calls if (call.file, call.line) == (frame.file, frame.line)]
        found = CallAmount(here[0].rows, here[0].argument) if len(here) == 1 else None
    return found if found is not None and found.rows >= calibration.MANY_ROWS.value else None
