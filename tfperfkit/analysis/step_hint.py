"""Which function may be the training step, where none was seen: a hint for ``--steps-from``."""

from __future__ import annotations

import os
from collections import Counter

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

_TAPE, _GRADIENT = "tensorflow.python.eager.backprop:gradient", ".gradient"
#: Seen in fewer samples it is a passing thing.
_MIN = 5


def step_hint(evidence: Evidence) -> str:
    """A sentence that names the outermost of the person's functions that computes gradients; "" when none did."""
    seen: Counter[Frame] = Counter()
    for _, stack in evidence.log.inside(evidence.log.whole):
        found = next((frame for frame in stack.frames if _asks(evidence, frame)), None)
        if found is not None and "<" not in found.name:
            seen[Frame(found.file, found.first, found.name, 0)] += 1
    if not seen or seen.most_common(1)[0][1] < _MIN:
        return ""
    frame = seen.most_common(1)[0][0]
    return f"It may be {frame.name} ({os.path.basename(frame.file)}:{frame.first}), which computes gradients."


def _asks(evidence: Evidence, frame: Frame) -> bool:
    """Whether a frame asks a tape for gradients: by the frame below it, or by the source in older recordings and where
    the call is being traced."""
    if frame.calls is not None and _TAPE in frame.calls:
        return True
    syntax = evidence.syntax(frame.file)
    calls = syntax.running_calls(frame.line, frame.span) if syntax is not None else []
    return any(syntax is not None and _is_of_tape(syntax.name(call.func)) for call in calls)


def _is_of_tape(name: str) -> bool:
    return name in (f"?{_GRADIENT}", f"tensorflow.GradientTape(){_GRADIENT}")
