"""The tables of the probe ``ops``: short, the costliest first; everything else is in the JSON report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from tfperfkit.model import Table, make_columns
from tfperfkit.records.plural import plural
from tfperfkit_probes.ops.model import Function
from tfperfkit_probes.ops.stored import AutographRecord

_MAX_FUNCTIONS = 12
_DETAILED = 2
_MAX_ROWS = 8
#: A line or a layer below this share of the FLOPs is left to the JSON report.
_SMALL = 0.005
MEGA = 1e6

Row = tuple[str | int | float | None, ...]
Read = Callable[[str], Sequence[str]]


def tables(functions: Sequence[Function], read: Read) -> list[Table]:
    """All functions in one table; for the one or two costliest, where the work is and what became of the source."""
    if not functions:
        return []
    order = sorted(functions, key=lambda function: (-(function.flops or 0.0), -function.operations))
    made = [_functions(order)]
    for function in _outermost(order)[:_DETAILED]:
        made += [table for table in (_lines(function, read), _layers(function), _types(function)) if table is not None]
    control = _control(order)
    return [*made, *([control] if control is not None else [])]


def _outermost(functions: Sequence[Function]) -> list[Function]:
    """Without those that are part of another function shown: their operations are shown there."""
    names = {function.function for function in functions}
    outer = [function for function in functions if function.parent not in names or function.parent == function.function]
    return outer or list(functions)


def _name(function: Function, functions: Sequence[Function]) -> str:
    same = [other for other in functions if other.function == function.function]
    number = f" #{same.index(function) + 1}" if len(same) > 1 else ""
    return f"{function.function}{number}"


def _functions(functions: Sequence[Function]) -> Table:
    rows: list[Row] = []
    for function in functions[:_MAX_FUNCTIONS]:
        after = function.optimized.operations if function.optimized is not None else None
        rows.append(
            (
                _name(function, functions),
                _location(function.file, function.line),
                function.operations,
                after,
                _mega(function.flops),
                function.trace_ms,
                function.first_execution_ms,
            )
        )
    left = len(functions) - _MAX_FUNCTIONS
    notes = [f"{left} more in the JSON report."] if left > 0 else []
    reasons = {f.not_optimized_reason for f in functions[:_MAX_FUNCTIONS] if f.optimized is None}
    if reasons:
        notes.append("No operations after Grappler: " + "; ".join(sorted(reasons)) + ".")
    return Table(
        title="Concrete functions",
        columns=make_columns(
            "function",
            "defined at",
            "operations: count",
            "after Grappler: count",
            "MFLOP a call: number",
            "trace: ms",
            "first run: ms",
        ),
        rows=tuple(rows),
        note=" ".join(notes),
    )


def _location(file: str, line: int) -> str | None:
    if not file:
        return None
    return f"{os.path.basename(file)}:{line}"  # the whole path is in the JSON report


def _mega(flops: float | None) -> float | None:
    return None if flops is None else flops / MEGA


def _lines(function: Function, read: Read) -> Table | None:
    """FLOPs by source line. A function without any is recognised by its operations."""
    total = function.flops or 0.0
    lines = [line for line in function.by_line if not total or (line.flops or 0.0) >= _SMALL * total]
    if not lines:
        return None
    rows: list[Row] = []
    for line in lines[:_MAX_ROWS]:
        source = read(line.file)
        text = source[line.line - 1].strip() if 0 < line.line <= len(source) else ""
        share = line.flops / total if total and line.flops is not None else None
        rows.append((_location(line.file, line.line), text, line.ops, _mega(line.flops), share))
    return Table(
        title=f"{function.function}: where the work is",
        columns=make_columns("line", "source: source", "operations: count", "MFLOP: number", "share: share"),
        rows=tuple(rows),
        note=_note(function),
    )


def _note(function: Function) -> str:
    parts = [f"{function.function}{function.signature}."]
    memory = [f"{_size(function.parameter_bytes)} of parameters"] if function.parameter_bytes else []
    others = function.variable_bytes - function.parameter_bytes
    if others > 0:
        memory.append(f"{_size(others)} of other variables")
    if function.activation_bytes:
        memory.append(f"{_size(function.activation_bytes)} of activations kept for the gradient")
    if function.constants_bytes >= 1 << 16:
        memory.append(f"{_size(function.constants_bytes)} of constants")
    if memory:
        parts.append(f"It uses {', '.join(memory)}.")
    if function.intensity is not None and function.flops:
        parts.append(f"{function.intensity:.2g} FLOP per byte that the operations read and write.")
    if function.flops_note:
        parts.append(f"FLOPs: {function.flops_note}.")
    if function.optimized is not None:
        grappler = function.optimized
        kernels = ", ".join(f"{kernel.count} x {kernel.parts}" for kernel in grappler.kernels[:4])
        fused = f"{grappler.fused} fused ({kernels})" if kernels else "none fused"
        parts.append(
            f"Grappler: {plural(grappler.kept, 'operation')} kept, {grappler.folded} folded into constants, {fused}, "
            f"{grappler.removed} removed, {grappler.added} added."
        )
    edges = sum(function.added_by_tf_function.values())
    parts.append(f"{edges} placeholders and identities are tf.function's own.")
    if function.casts or function.int32_ops:
        parts.append(f"{plural(function.casts, 'cast')}, {plural(function.int32_ops, 'int32 operation')}.")
    if function.created_variables:
        made = len(function.created_variables)
        parts.append(f"It made {made} variable{'' if made == 1 else 's'} when first traced.")
    xla = function.xla
    if xla.compiles is False:
        blocking = ", ".join(
            f"{each.type}{f' ({os.path.basename(each.where.file)}:{each.where.line})' if each.where else ''}"
            for each in xla.blocking[:4]
        )
        parts.append(f"XLA can't compile it: {blocking or xla.reason}.")
    elif xla.optimized_instructions is not None:
        kinds = ", ".join(f"{count} {kind}" for kind, count in xla.fusions.items())
        parts.append(
            f"XLA compiles it: {xla.hlo_instructions} instructions, {xla.optimized_instructions} after its passes, "
            f"fusions: {kinds or 'none'}."
        )
    elif xla.jit_compile:
        parts.append("XLA compiles it (jit_compile).")
    if function.lines_known < 0.98:
        parts.append(f"The line is known for {100 * function.lines_known:.0f} % of the operations.")
    return " ".join(parts)


def _layers(function: Function) -> Table | None:
    total = function.flops or 0.0
    layers = [layer for layer in function.by_layer if total and layer.flops + layer.backward_flops >= _SMALL * total]
    if len(layers) < 3:
        return None
    rows: list[Row] = [
        (
            layer.layer,
            layer.ops,
            _mega(layer.flops) or None,
            _mega(layer.backward_flops) or None,
            (layer.flops + layer.backward_flops) / total,
        )
        for layer in layers[:_MAX_ROWS]
    ]
    left = len(layers) - _MAX_ROWS
    return Table(
        title=f"{function.function}: by layer",
        columns=make_columns(
            "name scope", "operations: count", "MFLOP forward: number", "MFLOP backward: number", "share: share"
        ),
        rows=tuple(rows),
        note=f"{left} more are in the JSON report." if left > 0 else "",
    )


def _types(function: Function) -> Table | None:
    total = function.flops or 0.0
    working = [kind for kind in function.by_type if kind.flops or kind.bytes]  # the others only pass on
    rows: list[Row] = [
        (kind.type, kind.ops, _mega(kind.flops) or None, kind.flops / total if total else None, kind.bytes or None)
        for kind in working[:_MAX_ROWS]
    ]
    left = len(function.by_type) - len(rows)
    return (
        Table(
            title=f"{function.function}: by type of operation",
            columns=make_columns(
                "type", "operations: count", "MFLOP: number", "share: share", "read and written: bytes"
            ),
            rows=tuple(rows),
            note=f"{left} more in the JSON report." if left > 0 else "",
        )
        if rows
        else None
    )


def _control(functions: Sequence[Function]) -> Table | None:
    """Loops and branches that became operations or copies; what Python decided while tracing is only counted."""
    seen: dict[tuple[str, int, str], Row] = {}
    python = set()
    for function in functions:
        for each in function.control:
            key = (each.file, each.line, each.statement)
            if each.became == "python":
                python.add(key)
            elif each.became in ("graph", "unrolled") and key not in seen:
                became = each.op if each.became == "graph" else f"unrolled: {each.copies:,} copies"
                became += ", one per layer or weight" if each.per_variable else ""
                seen[key] = (_location(each.file, each.line), each.statement, each.function, became, each.ops)
    if not seen:
        return None
    left = len(seen) - _MAX_FUNCTIONS
    notes = [f"{left} more are in the JSON report."] if left > 0 else []
    if python - seen.keys():
        notes.append(f"{len(python - seen.keys())} others ran in Python while tracing and stand once in the graph.")
    return Table(
        title="What tracing made of if, for and while",
        columns=make_columns("line", "statement", "in", "became", "operations: count"),
        rows=tuple(seen.values())[:_MAX_FUNCTIONS],
        note=" ".join(notes),
    )


def autograph(record: AutographRecord) -> Table:
    """Show AutoGraph's code next to its source."""
    code = record.code
    rows: list[Row] = []
    shown: set[int] = set()
    indent = min((len(text) - len(text.lstrip()) for _, text in code.lines if text.strip()), default=0)
    for line, text in code.lines:
        number = line if line is not None and line not in shown else None
        source = ""
        if number is not None:
            shown.add(number)
            index = number - code.line
            source = code.source[index].rstrip() if 0 <= index < len(code.source) else ""
        rows.append((number, source, text[indent:].rstrip()))
    return Table(
        title=f"{record.function}: source and AutoGraph's code",
        columns=make_columns("line: count", "source: source", "AutoGraph: source"),
        rows=tuple(rows),
        note=f"AutoGraph could not convert it: {code.error}" if code.error else "",
    )


def _size(count: float) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"
