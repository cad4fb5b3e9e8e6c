"""Remarks on a run without a training step: how to name one, if something hints at training."""

from __future__ import annotations

import os
from collections import Counter

from tfperfkit.analysis.step_table import NO_STEPS
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

_NAME_IT = "If the script trains, name the function that makes one step: --steps-from FUNCTION."
_NAME_IN_CODE = (
    "If it trains, name the function that makes one step: "
    'watch(steps_from="FUNCTION"), or %%tfperf --steps-from FUNCTION.'
)
_TAPE, _GRADIENT = "tensorflow.python.eager.backprop:gradient", ".gradient"
#: In fewer samples it may be an exception.
_MIN = 5
#: Methods that train, whatever object they are of.
_TRAINING = frozenset({"fit", "train", "learn", "apply_gradients", "minimize", "train_on_batch", "gradient"})
#: APIs that training needs.
_OF_TRAINING = ("tensorflow.GradientTape", "tensorflow.gradients", "keras.optimizers.")


def describe_missing_steps(evidence: Evidence, note: str) -> str:
    """Return ``note``, which says why there are no steps, with a hint how to name them if the script seems to train."""
    if note == NO_STEPS and not _may_train(evidence):
        return note
    name_it = (_NAME_IN_CODE if evidence.run.watched else _NAME_IT) if note == NO_STEPS else ""
    return " ".join(filter(None, (note, name_it, _name_function(evidence))))


def _may_train(evidence: Evidence) -> bool:
    """Return whether a call in the user's source trains, or samples saw gradients; True if no source was kept."""
    files = [syntax for file in evidence.files() if (syntax := evidence.syntax(file)) is not None]
    if not files:
        return True
    calls = (call for syntax in files for call in syntax.calls)
    if any(call.method in _TRAINING or call.name.startswith(_OF_TRAINING) for call in calls):
        return True
    return any(
        _TAPE in (frame.calls or ())
        for _, stack in evidence.log.inside(evidence.log.whole)
        for frame in stack.frames[-1:]
    )


def _name_function(evidence: Evidence) -> str:
    """Name the outermost user function that computes gradients, as a hint for ``--steps-from``; "" if none did."""
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
    """Return whether a frame asks a tape for gradients: by the frame below it; by the source in older recordings and
    while the call is traced."""
    if frame.calls is not None and _TAPE in frame.calls:
        return True
    syntax = evidence.syntax(frame.file)
    calls = syntax.find_running_calls(frame.line, frame.span) if syntax is not None else []
    return any(_is_of_tape(call.name) for call in calls)


def _is_of_tape(name: str) -> bool:
    return name in (f"?{_GRADIENT}", f"tensorflow.GradientTape(){_GRADIENT}")
