"""A Python loop that tracing unrolled into thousands of operations (OPS001)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from tfperfkit_probes.ops.model import Brief, Control

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import counted, definition, largest_first, name_function, of_run, once, places
from tfperfkit_rules.measures.jacobian_rows import find_jacobian_rows

TITLES = {"OPS001": "Python loop in tf.function unrolled into thousands of operations"}

UNROLLED_OPERATIONS = Threshold(
    1000,
    "operations",
    "minimum number of operations of a loop that tracing unrolled",
    Chosen("a second and more of tracing at some ms each (the measure trace_operation)"),
)
UNROLLED_COPIES = Threshold(
    64,
    "copies",
    "minimum number of copies of a loop's body",
    Chosen("loops over the layers of a model have fewer, loops over time steps or examples more"),
)
LINES_KNOWN = Threshold(
    0.98,
    "share",
    "minimum share of a function's operations whose lines are known, for an exact count",
    Chosen("else the count is given as 'at least'"),
)


def unrolled_loops(evidence: Evidence) -> Iterator[Finding]:
    """OPS001: the loop's part of the traces and the first run, as a share of the run."""
    yield from once(found for function in largest_first(evidence) for found in _judge_function(evidence, function))


def _judge_function(evidence: Evidence, function: Brief) -> Iterator[Finding]:
    loops = [each for each in function.marks.unrolled if not each.per_variable]
    large = [each for each in loops if each.ops >= UNROLLED_OPERATIONS.value and each.copies >= UNROLLED_COPIES.value]
    inner = {(each.file, each.line) for each in large for other in large if _holds(other, each)}
    for loop in large:
        if (loop.file, loop.line) not in inner:
            yield _make_finding(evidence, function, loop)


def _make_finding(evidence: Evidence, function: Brief, loop: Control) -> Finding:
    figures = [
        counted("operations of the loop", loop.ops),
        counted("copies of its body", loop.copies),
        counted("operations of the function", function.operations),
        counted("tracing", function.trace_ms, "ms"),
        counted("operations of gradients", function.gradient_operations),
        counted("traces", function.traces),
    ]
    first = ""
    if function.first_execution_ms is not None:
        figures.append(counted("first execution", function.first_execution_ms, "ms"))
        first = f" and its first run {_time(function.first_execution_ms)}"
    known = "" if function.lines_known > LINES_KNOWN.value else "at least "
    finding = Finding(
        code="OPS001",
        remedy=Rewrite("unrolled"),
        share_of_step=0.0,
        title=f"Python {_name(loop)} in {loop.function} unrolled into {known}{loop.ops:,} operations",
        where=places([SourceSpan(loop.file, loop.line, loop.function), definition(function)]),
        evidence=tuple(figures),
        advice=_as_jacobian(evidence, loop) or _advice(loop),
        detail=f"Tracing {name_function(function)}, with {function.operations:,} operations, took "
        f"{_time(function.trace_ms)}{first}. Both grow with the number of iterations, in each new trace.",
    )
    # A gradient of the loop is at the line that asks for the gradient: its operations are a multiple of the loop's.
    forward = function.operations - function.gradient_operations
    part = min(1.0, loop.ops / max(forward, 1.0))
    traces = max(function.traces, 1)  # the second one where variables are made counts too
    lost = part * (traces * function.trace_ms + (function.first_execution_ms or 0.0))
    return msgspec.structs.replace(
        of_run(evidence, finding, lost, "tracing and first run of the loop"), absorbs=("CMP004",)
    )


def _holds(outer: Control, inner: Control) -> bool:
    return (
        outer is not inner
        and outer.function == inner.function
        and outer.ops >= inner.ops
        and (outer.line < inner.line and outer.copies <= inner.copies)
    )


def _name(loop: Control) -> str:
    return "comprehension" if loop.statement == "comprehension" else f"{loop.statement} loop"


def _advice(loop: Control) -> str:
    if loop.statement == "comprehension":
        return "Compute all elements in one operation. Or: use tf.vectorized_map or tf.map_fn."
    if loop.statement == "while":
        return "Make the condition a tensor, so that AutoGraph converts the loop into one tf.while_loop."
    return (
        "Loop over a tensor, for i in tf.range(n), so that AutoGraph converts it into one tf.while_loop. Or, if "
        "iterations are independent: compute the whole axis in one operation."
    )


def _as_jacobian(evidence: Evidence, loop: Control) -> str:
    rows = find_jacobian_rows(evidence, loop.file, range(loop.line, loop.line + 1))
    if rows is None:
        return ""
    return (
        f"Each iteration takes the gradient of one number of {rows.tensor} (line {rows.line}): {rows.tape}.jacobian("
        f"{rows.tensor}, {rows.sources}) computes all gradients at once. Remove persistent=True."
    )


def _time(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"
