"""The places that ask for XLA."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import SourceSpan
from tfperfkit.offers import FunctionCost
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.source_calls import find_given, find_methods, find_strings, is_true

NEAR_LINES = Threshold(
    6,
    "lines",
    "maximum distance of jit_compile=True below the head of a function to which it belongs",
    Chosen("a decorator over several lines"),
)

SET_JIT = "tensorflow.config.optimizer.set_jit"
FLAGS = "TF_XLA_FLAGS"


def flags(evidence: Evidence) -> str:
    """TF_XLA_FLAGS as the script had it."""
    given = evidence.settings.get("environment")
    return str(given.get(FLAGS, "")) if isinstance(given, dict) else ""


def auto_jit(evidence: Evidence) -> bool:
    """Whether clusters of any function were to be compiled, by TF_XLA_FLAGS or ``tf.config.optimizer.set_jit``."""
    text = flags(evidence)
    by_flag = "tf_xla_auto_jit=" in text and not any(f"tf_xla_auto_jit={off}" in text for off in ("0", "-1"))
    return by_flag or evidence.settings.get("jit") is True or evidence.settings.get("jit") == "autoclustering"


def auto_jit_on_cpu(evidence: Evidence) -> bool:
    """Whether that was for CPUs too."""
    text = flags(evidence)
    return "tf_xla_cpu_global_jit" in text and "tf_xla_cpu_global_jit=false" not in text


def auto_jit_lines(evidence: Evidence) -> tuple[SourceSpan, ...]:
    """Return the lines that ask for it; none when the shell did."""
    return (*find_strings(evidence, "tf_xla_auto_jit"), *evidence.calls(SET_JIT))[:3]


def jit_lines(evidence: Evidence, function: FunctionCost) -> tuple[SourceSpan, ...]:
    """Return the line to change for a function: its decorator or call with ``jit_compile=True``, then the function."""
    asked = find_given(evidence, "jit_compile", is_true)
    if function.owner == "keras":
        return tuple(asked[:3])
    own = SourceSpan(function.file, function.line, function.function)
    reach = NEAR_LINES.value
    near = [span for span in asked if span.file == function.file and 0 <= span.line - function.line <= reach]
    return (*(near[:1] or asked[:1]), own)


def function_lines(evidence: Evidence, function: FunctionCost) -> tuple[SourceSpan, ...]:
    """Return where ``jit_compile=True`` would go: the function's definition, or the line that compiles the Keras
    model."""
    if function.owner == "user" and function.file:
        return (SourceSpan(function.file, function.line, function.function),)
    calls = (*find_methods(evidence, "compile"), *find_methods(evidence, "fit"))
    return tuple(SourceSpan(file, call.line) for file, call in calls)[:2]
