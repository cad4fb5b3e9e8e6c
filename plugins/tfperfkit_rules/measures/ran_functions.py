"""Find which compiled functions ran in the steps, or in a work, and for what share, by the lines that call them."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from tfperfkit_probes.ops.model import Brief, OpsData

from tfperfkit.records.samples import Frame, Place
from tfperfkit.rule import Evidence
from tfperfkit.syntax.loops import Span
from tfperfkit_rules.measures.instantiating import instantiated_again

#: The methods of a Keras model for which Keras makes a function.
_TRAINER = ("fit", "train_on_batch", "evaluate", "test_on_batch", "predict", "predict_on_batch")


class Ran(NamedTuple):
    """A function, the share of the step (0 to 1) that it computed, and the line of the user's that calls it."""

    function: Brief
    share: float
    place: Place


def list_ran_functions(evidence: Evidence) -> list[Ran]:
    """List the functions that the samples tell, the busiest first. Samples whose function is unknown are left out."""
    data = evidence.offer(OpsData)
    # A function that ran by itself: functions that another graph calls are part of that graph.
    called = (each for each in (data.all if data is not None else ()) if each.ran)
    functions = [each for each in called if each.callers]
    seen: Counter[Frame] = Counter()
    kept = _is_of_keras_passes(evidence)
    for stack, count in evidence.samples.stacks.items():
        if stack.activity == "graph" and stack.frames and (kept or stack.context != "evaluate"):
            seen[stack.frames[-1]] += count
    whole = sum(count for stack, count in evidence.samples.stacks.items() if stack.activity == "graph")
    found: Counter[tuple[int, Place]] = Counter()
    for frame, count in seen.items():
        number = _find_function(evidence, functions, frame)
        if number is not None:
            found[number, (frame.file, frame.line)] += count
    graph = measure_graph_ms(evidence) / (evidence.step_ms or math.inf)
    return [Ran(functions[number], graph * count / whole, place) for (number, place), count in found.most_common()]


def measure_graph_ms(evidence: Evidence) -> float:
    """Return the ms of the step, or of an iteration of a work, in compiled functions, without those in which they are
    instantiated again.

    If a work is calls of ``evaluate`` or ``predict``, the account has them as one part; the samples show how much of it
    the compiled functions take."""
    samples = evidence.samples
    inside = samples.contexts["evaluate"] if _is_of_keras_passes(evidence) else 0
    passes = evidence.part("evaluate") * samples.evaluating["graph"] / inside if inside else 0.0
    return evidence.part("graph") + passes - instantiated_again(evidence) * (evidence.step_ms or 0.0)


def _is_of_keras_passes(evidence: Evidence) -> bool:
    """Return whether a work is calls of ``evaluate`` or ``predict``; a step only has such calls in between."""
    samples = evidence.samples
    return evidence.work is not None and 2 * samples.evaluating["graph"] > samples.activities["graph"]


def name_call(evidence: Evidence, function: Brief) -> str:
    """Name how the user wrote the call of a function that Keras made: ``net.predict``; "" where that is not one
    call."""
    written = {name for span in function.callers for name in list_callees(evidence, span.file, span.line)}
    methods = {name for name in written if name.rpartition(".")[2] in _TRAINER}
    return methods.pop() if len(methods) == 1 else ""


def measure_computed_share(evidence: Evidence, function: Brief) -> float:
    """Return the share of the samples (0 to 1) in which a function computed that was traced at the line, ``predict``'s
    too."""
    callers = {(span.file, span.line) for span in function.callers}
    whole = inside = 0
    for stack, count in evidence.samples.stacks.items():
        whole += count
        leaf = stack.frames[-1] if stack.frames else None
        if leaf is not None and stack.activity == "graph" and (leaf.file, leaf.line) in callers:
            inside += count
    return inside / whole if whole else 0.0


def _find_function(evidence: Evidence, functions: list[Brief], frame: Frame) -> int | None:
    """Find the function that a frame called: traced by a call at this line, or by one that is written alike."""
    there = [n for n, each in enumerate(functions) if any(_is_at(frame, span.file, span.line) for span in each.callers)]
    if not there:
        here = list_callees(evidence, frame.file, frame.line, frame.span)
        there = [
            n
            for n, each in enumerate(functions)
            if each.function in {name.rpartition(".")[2] for name in here}
            or any(
                span.file == frame.file and here & list_callees(evidence, span.file, span.line) for span in each.callers
            )
        ]
    if len(there) > 1:  # ``fit`` calls one function for training and another for validation, or shapes differ
        trained = [n for n in there if functions[n].gradient_operations]
        named = {(functions[n].file, functions[n].line) for n in trained or there}
        there = (trained or there) if len(named) == 1 else []
    return max(there, key=lambda n: functions[n].operations, default=None)


def _is_at(frame: Frame, file: str, line: int) -> bool:
    return (frame.file, frame.line) == (file, line)


def list_callees(evidence: Evidence, file: str, line: int, span: Span | None = None) -> set[str]:
    """List what is called at a line, as it is written."""
    syntax = evidence.syntax(file)
    found = (syntax.find_running_calls(line, span) or syntax.find_line_calls(line)) if syntax is not None else []
    return {call.function.text for call in found if call.function.is_plain}
