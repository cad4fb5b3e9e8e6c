"""EAG003: a debugging switch makes compiled functions, or Keras' training step, run as eager operations.

The switch is read from TensorFlow's settings and from the source. The gain is that of a compiled training step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfperfkit_probes.ops.model import OpsData

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import FunctionCalls, HostReads
from tfperfkit.pricing import price
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.gain import MIN_OPERATIONS, compiled
from tfperfkit_rules.eager.step import lost, measured, runs_eagerly
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.batch_callbacks import batch_callback
from tfperfkit_rules.measures.called import TRAINER, is_calling
from tfperfkit_rules.measures.source_calls import find_given, is_compiled, is_not_false, list_files
from tfperfkit_rules.measures.source_text import find_function, quote_line
from tfperfkit_rules.measures.step_place import StepPlace, step_place

TITLES = {"EAG003": "run_eagerly=True makes the step run as eager operations"}

_GLOBAL = ("tensorflow.config.run_functions_eagerly", "tensorflow.config.experimental_run_functions_eagerly")
_OF_MODEL = "run_eagerly"
#: The names of the functions that Keras compiles for a training step.
_COMPILED = re.compile(r"(one_step_on_(iterator|data)|multi_step_on_iterator|train_function)_\d+$")


def left_eager(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, when the step really runs eagerly and a switch is what makes it."""
    unit = evidence.unit
    if evidence.work is not None or not runs_eagerly(evidence):  # of other work EAG008 tells
        return
    place = step_place(evidence)
    if place is None:
        return
    everywhere = evidence.settings.get("functions_run_eagerly") is True
    if not everywhere and (not place.by_keras or _compiles(evidence)):
        return
    estimate = compiled(evidence, place)
    if estimate is None or estimate.operations < MIN_OPERATIONS.value:
        return
    lines = _calls(evidence) if everywhere else find_given(evidence, _OF_MODEL, is_not_false)
    switch = [SourceSpan(span.file, span.line, _name(evidence, span)) for span in lines[:2]]
    what = "tf.config.run_functions_eagerly(True)" if everywhere else "run_eagerly=True"
    yield Finding(
        code="EAG003",
        remedy=Setting("run_eagerly", "off"),
        title=f"{what} makes {unit.the} run as {estimate.operations:,.0f} eager operations",
        share_of_step=lost(estimate),
        gain=price(Setting("run_eagerly"), left=estimate.left),
        where=tuple(dict.fromkeys((*switch, *place.where))),
        elsewhere=estimate.paid,
        evidence=measured(estimate, evidence.unit),
        advice=_advice(evidence, switch, everywhere, place),
        detail="The switch is for debugging: while it is on, no tf.function is compiled."
        if everywhere
        else "The switch is for debugging: while it is on, Keras calls each operation from Python.",
        absorbs=("EAG001",),
    )


def _advice(evidence: Evidence, switch: list[SourceSpan], everywhere: bool, place: StepPlace) -> str:
    unit = evidence.unit
    text = quote_line(evidence, switch[0].file, switch[0].line) if switch else ""
    if everywhere:
        what = f"Delete {text}" if text else "Call tf.config.run_functions_eagerly(False)"
        compiles = any(
            is_compiled(function)
            for span in place.functions
            if (function := find_function(evidence, span.file, span.line)) is not None
        )
        rest = "" if compiles or place.by_keras else f" Then make sure that {unit.the} is a @tf.function."
        return f"{what}.{rest}"
    if not switch:
        return "Pass run_eagerly=False to compile: something else sets run_eagerly on the model."
    quoted = f": {text}" if text and text.strip(",") != "run_eagerly=True" else ""
    return f"{_needs_values(evidence)}Remove run_eagerly=True{quoted}."


def _needs_values(evidence: Evidence) -> str:
    """Say what in the training step of ``fit`` reads values of tensors, which fails in a compiled step: a metric, a
    loss."""
    unit = evidence.unit
    data = evidence.offer(HostReads)
    inside = {
        (frame.file, function)
        for stack in evidence.samples.stacks
        if batch_callback(stack) is None and any(is_calling(evidence, frame, TRAINER) for frame in stack.frames[:-1])
        for frame in stack.frames[1:]
        if (function := find_function(evidence, frame.file, frame.line)) is not None
    }
    rows = [row for row in (data.rows if data is not None else ()) if (row.per_step or 0) >= 1 and not row.through]
    at = [
        f"{row.file.rpartition('/')[2]}:{row.line}"
        for row in rows
        if (row.file, find_function(evidence, row.file, row.line)) in inside
    ]
    if not at:
        return ""
    return (
        f"First replace the lines that read tensor values in {unit.the} ({', '.join(at[:3])}) with TensorFlow "
        "operations (tf.reduce_sum, tf.cast, tf.where): .numpy() fails in a compiled step. "
    )


def _compiles(evidence: Evidence) -> bool:
    """Whether Keras calls a compiled training step: what runs eagerly is around it (checkpoints, metrics)."""
    calls = evidence.offer(FunctionCalls)
    often = [name for name, n in calls.per_step.items() if n >= shared.MOSTLY.value] if calls is not None else []
    ops = evidence.offer(OpsData)
    own = {brief.graph for brief in ops.all if brief.owner != "keras"} if ops is not None else set()
    return any(_COMPILED.search(name) and name not in own for name in often)


def _calls(evidence: Evidence) -> list[SourceSpan]:
    """Return where all functions are switched to run eagerly."""
    return [
        SourceSpan(file, call.line)
        for file, syntax in list_files(evidence)
        for call in syntax.find_api_calls(*_GLOBAL)
        if any(map(is_not_false, call.given))
    ]


def _name(evidence: Evidence, span: SourceSpan) -> str:
    function = find_function(evidence, span.file, span.line)
    return function.name if function else ""
