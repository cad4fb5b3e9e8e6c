"""Python in compiled functions: called back in every call (OPS004), or run only while they are traced (OPS005)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tfperfkit_probes.ops.model import Brief, GraphLoop

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import Part
from tfperfkit.pricing.machines import MEASURED_ON, TWO_BUSY_CORES
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import counted, definition, largest_first, name_function, of_step, once, places
from tfperfkit_rules.measures import graph_time, shared
from tfperfkit_rules.measures.source_text import find_loop

TITLES = {
    "OPS004": "tf.py_function or tf.numpy_function called in every step",
    "OPS005": "Python side effect in tf.function runs only while tracing",
}

PYTHON_CALL_LEFT = Threshold(
    0.6,
    "share",
    "maximum share of calls back into Python that operations instead of them take",
    Measured("0.19 to 0.59, median 0.37, of calls on 1,000 to 1,000,000 numbers", MEASURED_ON, 15, "python_call"),
)
PYTHON_CALL_LEFT_LIKELY = Threshold(
    0.37,
    "share",
    "median share of calls back into Python that operations instead of them take",
    Measured("see PYTHON_CALL_LEFT", MEASURED_ON, 15, "python_call"),
)
LOCK_WAITED = Threshold(
    2.0,
    "number",
    "maximum wait for the interpreter's lock around a callback, in times of the callback itself",
    Measured(
        "a callback of 0.60 ms rewritten with operations: 1.60 ms between as many operations became 0.53",
        TWO_BUSY_CORES,
        1,
    ),
)

#: Advice for loops that need Python in each iteration, such as an environment that lives there.
_MANY = " Or, if an iteration needs Python, as a simulator does: process several elements in one call."
TYPES = optable.names(kind="python")


def python_calls(evidence: Evidence) -> Iterator[Finding]:
    """OPS004: priced by the time of such operations in the trace."""
    share = graph_time.share(evidence, lambda row: row.type in TYPES)
    step = evidence.offer(ComputedStep)
    # Around a callback the call waits for the interpreter's lock: at best all that passes between operations goes too.
    waits = evidence.share("graph") * step.idle_ms / step.ms if step is not None and step.ms > 0 else 0.0
    waits = min(waits, LOCK_WAITED.value * share)
    saved = Part(
        (1 - PYTHON_CALL_LEFT.value) * share,
        min(share + waits, 1.0),
        min((1 - PYTHON_CALL_LEFT_LIKELY.value) * share + waits, 1.0),
    )
    for finding in once(_calls(evidence, each) for each in largest_first(evidence) if each.marks.python_calls):
        yield of_step(
            finding,
            share,
            saved,
            f"in calls back into Python, of {evidence.unit.the}",
            absorbs=("LIN001",),
        )


def calls_python(evidence: Evidence, function: Brief, loop: GraphLoop) -> bool:
    """Whether the iterations of a loop in the graph call back into Python, at a line within it, as the source tells."""
    written = find_loop(evidence, loop.where.file, loop.where.line) if loop.where is not None else None
    if written is None or loop.where is None:
        return False
    places = [each.where for each in function.marks.python_calls if each.where is not None]
    return any(at.file == loop.where.file and written.line <= at.line <= written.last for at in places)


def _calls(evidence: Evidence, function: Brief) -> Finding:
    found = function.marks.python_calls
    count = sum(each.ops for each in found)
    calls = "once" if count == 1 else f"{count} times"
    looped = any(calls_python(evidence, function, loop) for loop in function.marks.loops)
    when = f"{calls} in each iteration of a loop" if looped else f"{calls} in every call"
    return Finding(
        code="OPS004",
        family="eager",
        remedy=ReplaceOps("tensorflow"),
        share_of_step=0.0,
        title=f"{name_function(function)} calls tf.py_function or tf.numpy_function {when}",
        where=places([*(each.where for each in found), definition(function)]),
        evidence=(
            counted("Python calls in the graph", count),
            counted("operations of the function", function.operations),
        ),
        advice="Replace the Python function with TensorFlow operations. Or, if it prepares data: move it into the "
        f"dataset's map.{_MANY if looped else ''}",
        detail="Both functions run one at a time under Python's lock, with copies to and from the "
        "device. XLA cannot compile them, and a SavedModel cannot store them.",
    )


def side_effects(evidence: Evidence) -> Iterator[Finding]:
    """OPS005: a remark, it costs no time."""
    functions = (item for item in largest_first(evidence) if item.marks.side_effects and item.owner != "tensorflow")
    yield from once(_effects(function) for function in functions)


def _effects(function: Brief) -> Finding:
    effects = function.marks.side_effects
    names = ", ".join(dict.fromkeys(effect.what for effect in effects))
    return Finding(
        code="OPS005",
        severity="info",
        share_of_step=0.0,
        title=f"Python side effect in {effects[0].function} runs only while tracing: {names}",
        where=places(SourceSpan(effect.file, effect.line, effect.function) for effect in effects),
        evidence=(counted("statements", len(effects)), counted("traces", function.traces)),
        advice="Use TensorFlow's own operation if the side effect must happen in every call: tf.print, tf.Variable, "
        "tf.TensorArray, tf.random or tf.timestamp(). Or: leave the line if it is meant to run once for each trace.",
        detail="\n".join(f"{os.path.basename(e.file)}:{e.line}  {e.text}" for e in effects[: shared.MAX_PLACES.value]),
    )
