"""Steps that all ran in one call, or in a few: an epoch, or all of the training, in one call of a compiled function."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import IN_ONE_CALL, Step


def steady_call(steps: tuple[Step, ...], tracing: Spans) -> tuple[Step, ...]:
    """The steps, labelled; where none is clean and each call holds many, the last call is: a window within it, and the
    optimising of its graph, are a part of so many steps. Its tracing, which is paid once, is cut off."""
    if not steps or any(step.count < IN_ONE_CALL or step.window == "clean" for step in steps):
        return steps
    last = steps[-1]
    inside = [span for span in tracing if last.begin_ns <= span[0] < last.end_ns]
    begin = max((end for _, end in inside), default=last.begin_ns)
    computes = last.end_ns - last.begin_ns - tracing.overlap(last.begin_ns, last.end_ns)
    if 2 * (last.end_ns - begin) < computes:  # something was traced anew in the midst of it
        begin = last.begin_ns
    return (*steps[:-1], msgspec.structs.replace(last, begin_ns=begin, window="clean"))


def one_call_note(steps: Sequence[Step], count: int) -> str:
    """What the time of a step is then."""
    if len(steps) == 1:
        return f"all {count:,} steps ran in one call: a step's time is its mean, from where its tracing ended"
    return f"all {count:,} steps ran in {len(steps)} calls: a step's time is the mean of one"
