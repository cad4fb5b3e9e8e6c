"""A Python number or string as a tensor, written so that it can be typed: of the dtype that its uses need, at the call.

``tf.constant(299)`` is an int32, which TensorFlow does not mix with floats as Python's 299 did. So the uses of the
argument in the function's source decide: where it only counts or selects it stays whole, else it becomes a float of the
dtype that the function's other arguments have.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tfperfkit_probes.retrace.model import Trace, TracedFunction

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.call import bind_arguments
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import get_last_name
from tfperfkit.syntax.signatures import takes_whole_number

MAX_USES = Threshold(3, "count", "number of lines named that use an argument in one way", Chosen("one line of text"))
DEEPEST = Threshold(
    4,
    "count",
    "number of functions that an argument is followed into, from the traced one inwards",
    Chosen("few programs go deeper"),
)

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
#: Modules whose functions take Python's own numbers only.
_PYTHON = ("builtins.", "math.", "numpy.")


class Uses(NamedTuple):
    """How a function uses an argument: lines that compute with it, that count or select, that need Python's number."""

    computes: tuple[int, ...]
    counts: tuple[int, ...]
    python: tuple[int, ...]


def advice(evidence: Evidence, function: TracedFunction, traces: Sequence[Trace], names: Sequence[str]) -> str | None:
    """Return what to type for the values that vary; None if the sources don't tell, or if a value is neither a number
    nor a string that only TensorFlow's functions use."""
    definition, floats = _definition(evidence, function), _float_of(traces)
    syntax = evidence.syntax(function.file) if function.file else None
    if definition is None or floats is None or syntax is None:
        return None
    swaps, cautions = [], []
    for name in names:
        causes = [found for trace in traces for found in trace.cause if found.path == name]
        values = [value for found in causes for value in (found.before, found.after)]
        if any(found.way != "value" for found in causes) or not values:
            return None
        sites = [_given(evidence, trace.call_site, definition, name) for trace in reversed(traces)]
        text, place = next((site for site in sites if site is not None), (name, "the call"))
        if all(map(is_string, values)) and _only_tensorflow_uses(definition, name, syntax):
            swaps.append(f"at {place} tf.constant({text}) instead of {text}")
            continue
        if not all(map(_is_number, values)):
            return None
        uses = uses_of(definition, name, syntax)
        whole = all(value.lstrip("+-").isdecimal() for value in values)
        dtype = "int32" if whole and uses.counts and not uses.computes else floats
        swaps.append(f"at {place} tf.constant({text}, tf.{dtype}) in place of {text}")
        if whole and uses.counts and uses.computes:
            cautions.append(f"{_lines(uses.counts, 'needs', 'need')} it whole: tf.cast({name}, tf.int32)")
        if uses.python:
            need = _lines(uses.python, "takes", "take")
            cautions.append(f"{need} Python's own number only: write it with tf's functions")
    words = f"pass {' and '.join(names)} as tensors" if len(names) > 1 else f"pass {names[0]} as a tensor"
    words = "; ".join([f"{words}: {', '.join(swaps)}", *cautions])
    return f"{words}. Check that results stay the same but for rounding, and that one trace is left"


def uses_of(definition: _Definition, name: str, syntax: Syntax, depth: int = 0) -> Uses:
    """Return each use of the argument, by what stands around it. If it is handed to a function of the same file, that
    function's uses count."""
    computes, counts, python = set[int](), set[int](), set[int]()
    for node, parents in _with_parents(definition):
        if not (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)):
            continue
        around = _first(node, parents)
        if isinstance(around, ast.JoinedStr | ast.FormattedValue):
            python.add(node.lineno)
        elif isinstance(around, ast.Subscript):
            counts.add(node.lineno)
        elif isinstance(around, ast.Compare | ast.If | ast.While | ast.IfExp | ast.BoolOp):
            continue  # as well with a float
        elif isinstance(around, ast.Call):
            called = syntax.name(around.func)
            inner, parameter = _parameter(syntax.tree, around, (node, *parents))
            if inner is not None and depth < DEEPEST.value:
                found = uses_of(inner, parameter, syntax, depth + 1)
                computes.update(found.computes)
                counts.update(found.counts)
                python.update(found.python)
            elif called == "builtins.range" and any(
                isinstance(each, ast.For) and each.iter is around for each in parents
            ):
                counts.add(node.lineno)  # AutoGraph makes it a loop of the graph
            elif called.startswith(_PYTHON):
                python.add(node.lineno)
            elif any(takes_whole_number(called, around, item) for item in (node, *parents)):
                counts.add(node.lineno)
            elif called != "tensorflow.cast":
                computes.add(node.lineno)
        else:
            computes.add(node.lineno)
    return Uses(*(tuple(sorted(lines)) for lines in (computes, counts, python)))


def _only_tensorflow_uses(definition: _Definition, name: str, syntax: Syntax, depth: int = 0) -> bool:
    """Whether a function hands an argument to functions of TensorFlow and does nothing else with it."""
    uses = [
        (node, parents)
        for node, parents in _with_parents(definition)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    for node, parents in uses:
        around = parents[1] if isinstance(parents[0], ast.keyword) else parents[0]
        if not isinstance(around, ast.Call) or node is around.func:
            return False
        inner, parameter = _parameter(syntax.tree, around, (node, *parents))
        if inner is not None and depth < DEEPEST.value:
            if not _only_tensorflow_uses(inner, parameter, syntax, depth + 1):
                return False
        elif not syntax.name(around.func).startswith("tensorflow."):
            return False
    return bool(uses)


def _parameter(module: ast.Module, call: ast.Call, inward: tuple[ast.AST, ...]) -> tuple[_Definition | None, str]:
    """The module's own function that a call names, and which of its parameters is given what holds a name. ``inward``:
    from the name outwards to the call and beyond."""
    if not isinstance(call.func, ast.Name):
        return None, ""
    named = [item for item in module.body if isinstance(item, ast.FunctionDef) and item.name == call.func.id]
    given = bind_arguments(named[0].args, call) if len(named) == 1 else None
    for name, argument in (given or {}).items():
        if argument.sure and any(item in inward for item in argument.values):
            return named[0], name
    return None, ""


def _with_parents(node: ast.AST, parents: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    yield node, parents
    for child in ast.iter_child_nodes(node):
        yield from _with_parents(child, (node, *parents))


def _first(node: ast.AST, parents: tuple[ast.AST, ...]) -> ast.AST:
    """The innermost around a name that says what it is for; arithmetic in an index or a call is for that."""
    kinds = (ast.Compare, ast.Call, ast.JoinedStr, ast.FormattedValue, ast.stmt)
    for parent in parents:
        if isinstance(parent, kinds) or (isinstance(parent, ast.Subscript) and node is parent.slice):
            return parent
        node = parent
    return parents[-1]


def _definition(evidence: Evidence, function: TracedFunction) -> _Definition | None:
    syntax = evidence.syntax(function.file) if function.file else None
    for item in syntax.functions if syntax is not None else ():
        if item.name == function.function and item.first <= function.line <= item.line:
            return item.node if not isinstance(item.node, ast.Lambda) else None
    return None


def _given(evidence: Evidence, site: SourceSpan | None, definition: _Definition, name: str) -> tuple[str, str] | None:
    """What the one call on a line gives for an argument, and the place of it, which may be another file or cell."""
    syntax = evidence.syntax(site.file) if site is not None else None
    if syntax is None or site is None:
        return None
    calls = [call for call in syntax.calls_at(site.line) if get_last_name(call.func) == definition.name]
    if len(calls) != 1:
        return None
    first = [item.arg for item in (*definition.args.posonlyargs, *definition.args.args)][:1]
    skip = int(isinstance(calls[0].func, ast.Attribute) and first == ["self"])
    given = (bind_arguments(definition.args, calls[0], skip=skip) or {}).get(name)
    if given is None or not given.sure or len(given.values) != 1:
        return None
    return ast.unparse(given.values[0]), f"{os.path.basename(site.file)}:{given.values[0].lineno}"


def _float_of(traces: Sequence[Trace]) -> str | None:
    """The one float dtype among the other arguments; float32 where there is none, None where there are several."""
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
    """``line 3 needs``, ``lines 3, 4 and 7 need``."""
    *first, last = map(str, numbers[: MAX_USES.value])
    return f"lines {', '.join(first)} and {last} {several}" if first else f"line {last} {one}"
