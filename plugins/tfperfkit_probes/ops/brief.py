"""Every concrete function in short, so that a rule can look beyond those that the report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tfperfkit.graph import optable
from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.model import Brief, Constant, Function, Marks

#: Constants at a line that holds less than this are not kept one by one.
_KEPT_BYTES = 1 << 16


def brief(function: Function) -> Brief:
    """The function in short."""
    ops: Mapping[str, int] = function.ops_optimized or function.ops
    return Brief(
        function=function.function,
        file=function.file,
        line=function.line,
        owner=function.owner,
        graph=function.graph,
        operations=function.operations,
        flops=function.flops,
        flops_note=function.flops_note,
        moved_bytes=function.moved_bytes,
        first_execution_ms=function.first_execution_ms,
        trace_ms=function.trace_ms,
        jit_compile=function.jit_compile,
        elementwise=sum(count for kind, count in ops.items() if kind in optable.elementwise()),
        heavy=sum(count for kind, count in ops.items() if optable.is_heavy(kind)),
        float64_flops_share=function.float64_flops_share,
        half_flops_share=function.half_flops_share,
        python_calls=sum(each.ops for each in function.python_calls),
        control=len(function.control),
        traces=function.traces,
        lines_known=function.lines_known,
        constants_bytes=function.constants_bytes,
        gradient_operations=_gradients(function),
        parameter_bytes=function.parameter_bytes,
        embedding_bytes=function.embedding_bytes,
        server_bytes=function.server_bytes,
        callers=function.callers,
        marks=Marks(
            unrolled=[each for each in function.control if each.became == "unrolled"],
            constants=_large(function.constants),
            float64=function.float64,
            float64_sources=function.float64_sources,
            float64_arguments=[argument.path for argument in function.arguments if argument.dtype == "float64"],
            python_calls=function.python_calls,
            side_effects=function.side_effects,
            prints=function.prints,
            asserts=function.asserts,
            loops=function.loops,
            outside_measured=function.outside_measured,
            exchanged=function.exchanged,
            tables=function.tables,
            copied_layers=function.copied_layers,
        ),
    )


def _gradients(function: Function) -> int:
    """Operations of gradients: by their names, or at lines that compute nothing else (sums don't carry the name)."""
    lines = sum(row.ops for row in function.by_line if row.flops and row.backward_flops >= row.flops)
    return max(function.backward_operations, lines)


def _large(constants: Sequence[Constant]) -> list[Constant]:
    by_place: Counter[SourceSpan | None] = Counter()
    for constant in constants:
        by_place[constant.where] += constant.bytes
    return [constant for constant in constants if by_place[constant.where] >= _KEPT_BYTES]
