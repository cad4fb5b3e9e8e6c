"""The user's source about a line: the function around it, the loops around it, and their content."""

from __future__ import annotations

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.loop import Loop
from tfperfkit.syntax.loops import Span, contains_span
from tfperfkit.syntax.module import get_file
from tfperfkit_rules.measures import shared

__all__ = [
    "Function",
    "Loop",
    "quote_line",
    "find_function",
    "find_evaluating_loops",
    "find_line_calls",
    "find_running",
    "find_running_calls",
    "find_frame_loops",
    "locate_function",
    "find_loop",
    "find_loops",
    "find_yielding_loops",
]
#: How the names of functions end that take an iterable's elements.
_TAKES_NEXT = ("__next__", "__iter__", ":next")
#: Functions whose result is made as its elements are taken.
_LAZY = (
    *(f"builtins.{name}" for name in ("range", "zip", "enumerate", "map", "filter", "reversed", "iter")),
    "itertools.",
)


def find_function(evidence: Evidence, file: str, line: int) -> Function | None:
    """Find the innermost function around a line; None at a module's top or if the source was not kept."""
    syntax = evidence.syntax(file)
    return syntax.find_function(line) if syntax is not None else None


def find_line_calls(evidence: Evidence, file: str, line: int) -> list[Call]:
    """Find the calls that a line has a part of, outer ones before inner ones."""
    syntax = evidence.syntax(file)
    return syntax.find_line_calls(line) if syntax is not None else []


def find_running(evidence: Evidence, frame: Frame) -> list[Expression]:
    """Find the expression that a frame is in; all calls that begin at its line if the recording has no column."""
    syntax = evidence.syntax(frame.file)
    return syntax.find_running(frame.line, frame.span) if syntax is not None else []


def find_running_calls(evidence: Evidence, frame: Frame) -> list[Call]:
    """Find the calls among what is running."""
    return [node for node in find_running(evidence, frame) if isinstance(node, Call)]


def locate_function(evidence: Evidence, file: str, line: int) -> SourceSpan:
    """Return the ``def`` around a line; the line itself if there is none."""
    function = find_function(evidence, file, line)
    return SourceSpan(file, function.line, function.name) if function else SourceSpan(file, line)


def find_loops(evidence: Evidence, file: str, line: int) -> tuple[Loop, ...]:
    """Find the loops around a line within its function, outermost first. A loop's header is within the loop."""
    syntax = evidence.syntax(file)
    return syntax.find_loops(line) if syntax is not None else ()


def find_evaluating_loops(evidence: Evidence, file: str, node: Expression) -> tuple[Loop, ...]:
    """Return the loops that evaluate an expression in each iteration, outermost first: the iterable in a header is
    evaluated once."""
    around = find_loops(evidence, file, node.line)
    return tuple(loop for loop in around if loop.once is None or not contains_span(loop.once, node.span))


def find_frame_loops(evidence: Evidence, frame: Frame) -> tuple[Loop, ...]:
    """Return the loops that run a frame in each iteration, outermost first: without a loop whose iterable the frame
    evaluates. A frame that takes the next element of the iterable is within the loop."""
    around = find_loops(evidence, frame.file, frame.line)
    if frame.span is None:
        return around
    return tuple(loop for loop in around if not _evaluates_iterable(evidence, frame, frame.span, loop))


def _evaluates_iterable(evidence: Evidence, frame: Frame, span: Span, loop: Loop) -> bool:
    if loop.once is None or not contains_span(loop.once, span):
        return False
    if span != loop.once:
        return True
    # Taking the next element is at the same place as evaluating the whole expression.
    calls = find_running_calls(evidence, frame)
    if calls and frame.calls:
        return not frame.calls[0].endswith(_TAKES_NEXT)
    return bool(calls) and not calls[0].name.startswith(_LAZY) and not _is_generator_call(calls[0])


def _is_generator_call(call: Call) -> bool:
    """Whether a call may be of a generator of the same file: its body runs as elements are taken from it."""
    return any(item.is_generator for item in get_file(call).functions if item.name == call.function.last_name)


def find_yielding_loops(evidence: Evidence, file: str, line: int) -> tuple[Loop, ...]:
    """Find the loops of the function around a line that yield an element in each iteration."""
    syntax, scope = evidence.syntax(file), find_function(evidence, file, line)
    if syntax is None:
        return ()
    yields = [node.line for node in syntax.find_expressions("yield")]
    return tuple(
        loop
        for loop in syntax.loops
        if syntax.find_function(loop.line) == scope and any(at in loop.lines for at in yields)
    )


def find_loop(evidence: Evidence, file: str, line: int) -> Loop | None:
    """Find the loop that begins at a line."""
    syntax = evidence.syntax(file)
    return next((loop for loop in (syntax.loops if syntax is not None else ()) if loop.line == line), None)


def quote_line(evidence: Evidence, file: str, line: int, limit: int = shared.MAX_LINE.value) -> str:
    """Return a line as code to quote, without its comment; "" if it is too long to read."""
    row = evidence.line(file, line).partition("#")[0].strip()
    return row if len(row) <= limit else ""
