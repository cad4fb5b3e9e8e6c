"""What the user's source says about a line: the function around it, the loops around it, what stands in them."""

from __future__ import annotations

import ast

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.loop import Loop
from tfperfkit.syntax.loops import Span, contains_span, expression_span
from tfperfkit.syntax.nodes import get_last_name
from tfperfkit_rules.measures import shared

__all__ = [
    "Function",
    "Loop",
    "code",
    "enclosing",
    "evaluating_loops",
    "frame_loops",
    "function_span",
    "loop_at",
    "loops",
    "yielding_loops",
]
#: How the names of functions end that take an iterable's elements.
_TAKES_NEXT = ("__next__", "__iter__", ":next")
#: What these return is made as its elements are taken.
_LAZY = (
    *(f"builtins.{name}" for name in ("range", "zip", "enumerate", "map", "filter", "reversed", "iter")),
    "itertools.",
)


def enclosing(evidence: Evidence, file: str, line: int) -> Function | None:
    """Find the innermost function around a line; None at a module's top or if the source was not kept."""
    syntax = evidence.syntax(file)
    return syntax.find_function(line) if syntax is not None else None


def function_span(evidence: Evidence, file: str, line: int) -> SourceSpan:
    """The ``def`` around a line; the line itself if there is none."""
    function = enclosing(evidence, file, line)
    return SourceSpan(file, function.line, function.name) if function else SourceSpan(file, line)


def loops(evidence: Evidence, file: str, line: int) -> tuple[Loop, ...]:
    """Find the loops around a line within its function, outermost first. A loop's header is within the loop."""
    syntax = evidence.syntax(file)
    return syntax.find_loops(line) if syntax is not None else ()


def evaluating_loops(evidence: Evidence, file: str, node: ast.expr) -> tuple[Loop, ...]:
    """Return the loops that evaluate an expression in each iteration, outermost first: the iterable in a header is
    evaluated once."""
    around = loops(evidence, file, node.lineno)
    return tuple(loop for loop in around if loop.once is None or not contains_span(loop.once, expression_span(node)))


def frame_loops(evidence: Evidence, frame: Frame) -> tuple[Loop, ...]:
    """Return the loops that run a frame in each iteration, outermost first: without a loop whose iterable the frame
    evaluates. A frame that takes the next element of the iterable is within the loop."""
    around = loops(evidence, frame.file, frame.line)
    if frame.span is None:
        return around
    return tuple(loop for loop in around if not _evaluates_iterable(evidence, frame, frame.span, loop))


def _evaluates_iterable(evidence: Evidence, frame: Frame, span: Span, loop: Loop) -> bool:
    if loop.once is None or not contains_span(loop.once, span):
        return False
    if span != loop.once:
        return True
    # Taking the next element is at the same place as evaluating the whole expression.
    syntax = evidence.syntax(frame.file)
    running = syntax.running(frame.line, span) if syntax is not None else []
    call = next((node for node in running if isinstance(node, ast.Call)), None)
    if syntax is None or call is None:
        return False
    if frame.calls:
        return not frame.calls[0].endswith(_TAKES_NEXT)
    return not syntax.name(call.func).startswith(_LAZY) and not _is_generator_call(evidence, frame.file, call)


def _is_generator_call(evidence: Evidence, file: str, call: ast.Call) -> bool:
    """Whether a call may be of a generator of the same file: its body runs as elements are taken from it."""
    syntax, name = evidence.syntax(file), get_last_name(call.func)
    return syntax is not None and any(item.is_generator for item in syntax.functions if item.name == name)


def yielding_loops(evidence: Evidence, file: str, line: int) -> tuple[Loop, ...]:
    """Find the loops of the function around a line that yield an element in each iteration."""
    syntax, scope = evidence.syntax(file), enclosing(evidence, file, line)
    if syntax is None:
        return ()
    yields = [node.lineno for node in syntax.find_nodes(ast.Yield, ast.YieldFrom)]
    return tuple(
        loop
        for loop in syntax.loops
        if syntax.find_function(loop.line) == scope and any(at in loop.lines for at in yields)
    )


def loop_at(evidence: Evidence, file: str, line: int) -> Loop | None:
    """Find the loop that begins at a line."""
    syntax = evidence.syntax(file)
    return next((loop for loop in (syntax.loops if syntax is not None else ()) if loop.line == line), None)


def code(evidence: Evidence, file: str, line: int, limit: int = shared.MAX_LINE.value) -> str:
    """A line as code to quote, without its comment; "" if it is too long to read."""
    row = evidence.line(file, line).partition("#")[0].strip()
    return row if len(row) <= limit else ""
