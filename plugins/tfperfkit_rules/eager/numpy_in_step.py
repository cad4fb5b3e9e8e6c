"""EAG002: NumPy inside the step prevents compiling it.

The source shows the first line that reads the value of a tensor, and stack samples give the time in Python and NumPy
after it. The gain is that of a compiled training step, in which at most half of the NumPy time remains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, price
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.gain import MIN_NUMPY, compiled
from tfperfkit_rules.eager.step import lost, measured, own_eager_step
from tfperfkit_rules.measures.source_text import Function, find_function
from tfperfkit_rules.measures.step_place import StepPlace
from tfperfkit_rules.measures.value_reads import find_first_read

TITLES = {"EAG002": "NumPy inside the step prevents compiling with tf.function"}

NUMPY_LEFT = Threshold(
    0.5,
    "share",
    "maximum share of the NumPy in the step that its replacement takes",
    Chosen("half: no measurement bounds what a script's NumPy does"),
)


def numpy_inside(evidence: Evidence) -> Iterable[Finding]:
    """The finding, when the eager step reads tensors and works on with NumPy or Python before its update."""
    unit = evidence.unit
    place = own_eager_step(evidence)
    if place is None:
        return
    lines = _own_lines(evidence, place)
    share = sum(lines.values()) / evidence.samples.count if evidence.samples.count else 0.0
    read = _read(evidence, place)
    if share < MIN_NUMPY.value or read is None:
        return
    with_own, without = compiled(evidence, place), compiled(evidence, place, without_own=True)
    if with_own is None or without is None:
        return
    replaced = (1 - NUMPY_LEFT.value) * with_own.own_ms
    left = Left.of_step(without.lower_ms, with_own.upper_ms - replaced, with_own.step_ms)
    gained = price(Rewrite(), left=left)
    hot = [SourceSpan(file, line, _name(evidence, file, line)) for (file, line), _ in lines.most_common(3)]
    yield Finding(
        code="EAG002",
        title=f"NumPy inside {unit.the} prevents compiling with tf.function",
        share_of_step=min(1.0, lost(with_own) + share),
        gain=gained,
        where=tuple(dict.fromkeys((read, *hot, *place.where))),
        elsewhere=with_own.paid,
        evidence=(
            Measurement(f"time in Python and NumPy inside {unit.the}", share, "share", "samples"),
            *measured(with_own, unit),
        ),
        advice=(
            f"Replace the NumPy code after {_short(read)} with TensorFlow operations on whole tensors (tf.reduce_sum, "
            f"tf.where, tf.argmax, tf.gather). Then put @tf.function on {place.functions[0].function or unit.the}."
            if place.functions
            else f"Replace the NumPy code after {_short(read)} with TensorFlow operations on whole tensors. Then move "
            f"{unit.the} into a @tf.function."
        ),
        detail="Python reads the value of a tensor between the forward pass and the update.",
        absorbs=("EAG001",),
        absorbs_here=("LIN001", "SYN001"),
    )


def _short(span: SourceSpan) -> str:
    return f"{span.file.rpartition('/')[2]}:{span.line}"


def _name(evidence: Evidence, file: str, line: int) -> str:
    function = find_function(evidence, file, line)
    return function.name if function else ""


def _functions(evidence: Evidence, place: StepPlace) -> list[tuple[str, Function]]:
    found = ((span.file, find_function(evidence, span.file, span.line)) for span in place.functions)
    return [(file, function) for file, function in found if function is not None]


def _own_lines(evidence: Evidence, place: StepPlace) -> Counter[tuple[str, int]]:
    """Samples of the user's own Python in the functions that make the step, by innermost line."""
    bodies = _functions(evidence, place)
    found: Counter[tuple[str, int]] = Counter()
    for leaf in evidence.samples.leaves():
        own = evidence.samples.doing_innermost(leaf)["python"]
        if own and any(file == leaf[0] and body.line <= leaf[1] <= body.last for file, body in bodies):
            found[leaf] = own
    return found


def _read(evidence: Evidence, place: StepPlace) -> SourceSpan | None:
    """The first line of the step that reads the value of a tensor."""
    for file, body in _functions(evidence, place):
        line = find_first_read(evidence, file, body.line, body.last)
        if line is not None:
            return SourceSpan(file, line, body.name)
    return None
