"""A Python number or string as a tensor, written so that it can be typed: of the dtype that its uses need, at the call.

``tf.constant(299)`` is an int32, which TensorFlow does not mix with floats as Python's 299 did. So the uses of the
argument in the function's source decide: where it only counts or selects it stays whole, else it becomes a float of the
dtype that the function's other arguments have.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tfperfkit_probes.retrace.model import Trace, TracedFunction

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.argument_uses import find_uses, has_only_tensorflow_uses
from tfperfkit.syntax.function import Function
from tfperfkit_rules.measures.source_text import find_line_calls

MAX_USES = Threshold(3, "count", "number of lines named that use an argument in one way", Chosen("one line of text"))


def advice(evidence: Evidence, function: TracedFunction, traces: Sequence[Trace], names: Sequence[str]) -> str | None:
    """Return what to type for the values that vary; None if the sources don't tell, or if a value is neither a number
    nor a string that only TensorFlow's functions use."""
    definition, floats = _definition(evidence, function), _float_of(traces)
    if definition is None or floats is None:
        return None
    swaps, cautions = list[tuple[str, str, str]](), []
    for name in names:
        causes = [found for trace in traces for found in trace.cause if found.path == name]
        values = [value for found in causes for value in (found.before, found.after)]
        if any(found.way != "value" for found in causes) or not values:
            return None
        sites = [_find_argument(evidence, trace.call_site, definition, name) for trace in reversed(traces)]
        text, place = next((site for site in sites if site is not None), (name, "the call"))
        if all(map(is_string, values)) and has_only_tensorflow_uses(definition, name):
            swaps.append((f"tf.constant({text})", text, place))
            continue
        if not all(map(_is_number, values)):
            return None
        uses = find_uses(definition, name)
        whole = all(value.lstrip("+-").isdecimal() for value in values)
        if whole and uses.compares and not (uses.counts or uses.computes):
            swaps.append((f"tf.constant({text}, dtype)", text, place))
            compare = _lines(uses.compares, "compares", "compare")
            cautions.append(f"{compare} {name}: dtype is that of the other side.")
            continue
        dtype = "int32" if whole and uses.counts and not uses.computes else floats
        swaps.append((f"tf.constant({text}, tf.{dtype})", text, place))
        if whole and uses.counts and uses.computes:
            cautions.append(f"{_lines(uses.counts, 'needs', 'need')} an integer: tf.cast({name}, tf.int32).")
        if uses.python:
            need = _lines(uses.python, "takes", "take")
            cautions.append(f"{need} only a Python number: rewrite with TensorFlow operations.")
    return " ".join([_say_swaps(names, swaps), *cautions])


def _say_swaps(names: Sequence[str], swaps: Sequence[tuple[str, str, str]]) -> str:
    """Return the sentence for these (tensor, argument, place): at one place, or each with its own."""
    given = f"{', '.join(names[:-1])} and {names[-1]} as tensors" if len(names) > 1 else f"{names[0]} as a tensor"
    where = {place for _, _, place in swaps}
    if len(swaps) > 1 and len(where) == 1:
        return f"At {where.pop()}, pass {given}: {', '.join(tensor for tensor, _, _ in swaps)}."
    return f"Pass {given}: {', '.join(f'{tensor} instead of {text} at {place}' for tensor, text, place in swaps)}."


def _definition(evidence: Evidence, function: TracedFunction) -> Function | None:
    syntax = evidence.syntax(function.file) if function.file else None
    named = (item for item in (syntax.functions if syntax is not None else ()) if item.name == function.function)
    return next((item for item in named if item.first <= function.line <= item.line), None)


def _find_argument(
    evidence: Evidence, site: SourceSpan | None, definition: Function, name: str
) -> tuple[str, str] | None:
    """Find what the one call on a line gives for an argument, and its place, which may be another file or cell."""
    here = find_line_calls(evidence, site.file, site.line) if site is not None else []
    calls = [call for call in here if call.function.last_name == definition.name]
    given = definition.find_given(calls[0], name) if len(calls) == 1 else None
    if given is None or site is None:
        return None
    return given.text, f"{os.path.basename(site.file)}:{given.line}"


def _float_of(traces: Sequence[Trace]) -> str | None:
    """Return the one float dtype among the other arguments; float32 where there is none, None where there are
    several."""
    found = {item.dtype for item in traces[-1].arguments if item.kind == "tensor" and "float" in item.dtype}
    return "float32" if not found else found.pop() if len(found) == 1 else None


def is_string(text: str) -> bool:
    """Whether a value is shown as Python's string."""
    return text[:1] in ("'", '"')


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _lines(numbers: Sequence[int], one: str, several: str) -> str:
    """``Line 3 needs``, ``Lines 3, 4 and 7 need``."""
    *first, last = map(str, numbers[: MAX_USES.value])
    return f"Lines {', '.join(first)} and {last} {several}" if first else f"Line {last} {one}"
