"""Python in compiled functions: called back in every call (OPS004), or run only while they are traced (OPS005)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tfperfkit_probes.ops.model import Brief

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import graph as calibrated
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.functions import called, counted, definition, largest_first, of_step, once, places
from tfperfkit_rules.measures import graph_time

TYPES = ("PyFunc", "EagerPyFunc", "PyFuncStateless")


def python_calls(evidence: Evidence) -> Iterator[Finding]:
    """OPS004: priced by the time of such operations in the trace."""
    share = graph_time.share(evidence, lambda row: row.type in TYPES)
    for finding in once(_calls(function) for function in largest_first(evidence) if function.marks.python_calls):
        yield of_step(
            finding,
            share,
            (1 - calibrated.PYTHON_CALL_LEFT.value) * share,
            share,
            f"in calls back into Python, of {evidence.unit.the}",
            absorbs=("LIN001",),
        )


def _calls(function: Brief) -> Finding:
    found = function.marks.python_calls
    count = sum(each.ops for each in found)
    calls = "once" if count == 1 else f"{count} times"
    return Finding(
        code=codes.PYTHON_CALL,
        family="eager",
        severity="medium",
        share_of_step=0.0,
        predicted_speedup=None,
        title=f"{called(function)} calls back into Python {calls} in every call",
        where=places([*(each.where for each in found), definition(function)]),
        evidence=(counted("calls of Python", count), counted("operations", function.operations)),
        advice="Write it with TensorFlow operations, or move it into the dataset's map if it prepares data. "
        "tf.py_function and tf.numpy_function run under Python's lock, on the host, with copies from and to the "
        "device; XLA and SavedModel can't hold them.",
    )


def side_effects(evidence: Evidence) -> Iterator[Finding]:
    """OPS005: a remark, it costs no time."""
    functions = (item for item in largest_first(evidence) if item.marks.side_effects and item.owner != "tensorflow")
    yield from once(_effects(function) for function in functions)


def _effects(function: Brief) -> Finding:
    effects = function.marks.side_effects
    names = ", ".join(dict.fromkeys(effect.what for effect in effects))
    return Finding(
        code=codes.SIDE_EFFECT,
        family="graph",
        severity="info",
        share_of_step=0.0,
        predicted_speedup=None,
        title=f"Python in {effects[0].function} runs only while it is traced: {names}",
        where=places(SourceSpan(effect.file, effect.line, effect.function) for effect in effects),
        evidence=(counted("statements", len(effects)), counted("traces", function.traces)),
        advice="If it is meant for every call use TensorFlow's own: tf.print, a tf.Variable or tf.TensorArray, "
        "tf.random, tf.timestamp; else leave it. Its value at the time of the trace is part of the graph.",
        detail="\n".join(f"{os.path.basename(e.file)}:{e.line}  {e.text}" for e in effects[: shared.MAX_PLACES.value]),
    )
