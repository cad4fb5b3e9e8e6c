"""EAG003: a switch makes compiled functions, or Keras' training step, run operation by operation."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit_probes.tfprof import TfprofData

from tfperfkit.evidence import Evidence
from tfperfkit.gain import middle, severity
from tfperfkit.model import Finding, SourceSpan
from tfperfkit_rules.eager_gain import compiled
from tfperfkit_rules.eager_place import StepPlace, step_place
from tfperfkit_rules.eager_source import code, enclosing
from tfperfkit_rules.eager_step import LEAST_OPS, lost, measured, runs_eagerly

#: How the switches are written.
GLOBAL = r"\brun_functions_eagerly\s*\(\s*(?!False)(?!\s*\))"
OF_MODEL = r"""\brun_eagerly['"]?\s*[:=]\s*(?!=)(?!\s*False)"""


def left_eager(evidence: Evidence) -> Iterable[Finding]:
    """The finding, when the step really runs eagerly and a switch is what makes it."""
    if not runs_eagerly(evidence):
        return
    place = step_place(evidence)
    if place is None:
        return
    everywhere = evidence.settings.get("functions_run_eagerly") is True
    if not everywhere and (not place.by_keras or _compiles(evidence)):
        return
    estimate = compiled(evidence, place)
    if estimate is None or estimate.operations < LEAST_OPS:
        return
    lines = evidence.find(GLOBAL if everywhere else OF_MODEL)
    switch = [SourceSpan(span.file, span.line, _name(evidence, span)) for span in lines[:2]]
    what = "tf.config.run_functions_eagerly(True)" if everywhere else "run_eagerly=True"
    yield Finding(
        code="EAG003", family="eager", 
        title=f"{what} makes the step run as {estimate.operations:,.0f} separate operations",
        severity=severity(1 - estimate.most_ms / estimate.step_ms), share_of_step=lost(estimate),
        predicted_speedup=middle(estimate.range), predicted_range=estimate.range,
        where=tuple(dict.fromkeys((*switch, *place.where))), evidence=measured(estimate),
        advice=_advice(evidence, switch, everywhere, place),
        detail="The switch is meant for debugging: no function is compiled while it is on."
        if everywhere else "With it Keras calls each operation of the training step from Python, as for debugging.",
        absorbs=("EAG001",),
    )


def _advice(evidence: Evidence, switch: list[SourceSpan], everywhere: bool, place: StepPlace) -> str:
    text = code(evidence, switch[0].file, switch[0].line) if switch else ""
    if everywhere:
        what = f"Delete {text}" if text else "Call tf.config.run_functions_eagerly(False)"
        compiles = any(
            "function" in name for span in place.functions
            if (function := enclosing(evidence, span.file, span.line)) is not None for name in function.decorators
        )
        rest = "" if compiles or place.by_keras else " Then see that the step is a @tf.function."
        return f"{what}: your tf.functions and Keras' steps are compiled again.{rest}"
    if not switch:
        return "Something sets run_eagerly on the model: give compile(run_eagerly=False), or set it in no place."
    return f"Take run_eagerly=True out ({text or 'see the line'}); switch it on only while you look for a fault."


def _compiles(evidence: Evidence) -> bool:
    """Whether Keras calls a compiled training step: what runs eagerly is around it (checkpoints, metrics)."""
    data = evidence.data("tfprof", TfprofData)
    return data is not None and any("step" in row.name and row.per_step >= 0.5 for row in data.calls)


def _name(evidence: Evidence, span: SourceSpan) -> str:
    function = enclosing(evidence, span.file, span.line)
    return function.name if function else ""
