"""What the person's source says about a line: the function around it, the loops around it, what stands in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.loops import Span, contains_span, evaluated_once, expression_span
from tfperfkit_rules.calibration import shared

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: How the names of functions end that take an iterable's elements.
_TAKES_NEXT = ("__next__", "__iter__", ":next")
#: What these return is made as its elements are taken.
_LAZY = (
    *(f"builtins.{name}" for name in ("range", "zip", "enumerate", "map", "filter", "reversed", "iter")),
    "itertools.",
)


class Function(NamedTuple):
    """A function of the person's: the line of its ``def``, where its decorators begin, where it ends."""

    name: str
    line: int
    first: int
    last: int


class Loop(NamedTuple):
    """A loop statement or comprehension and what it goes over ("" for ``while``). ``once``: where the expression stands
    that is evaluated once, before the first iteration; None for ``while``."""

    line: int
    last: int
    over: str
    names: tuple[str, ...] = ()
    once: Span | None = None


class _Outline(NamedTuple):
    functions: tuple[Function, ...]
    loops: tuple[Loop, ...]
    yields: tuple[int, ...] = ()


def enclosing(evidence: Evidence, file: str, line: int) -> Function | None:
    """The innermost function around a line; None at a module's top or when the source was not kept."""
    around = [item for item in _outline(evidence.source(file)).functions if item.first <= line <= item.last]
    return max(around, key=lambda item: item.first, default=None)


def function_span(evidence: Evidence, file: str, line: int) -> SourceSpan:
    """The ``def`` around a line; the line itself where there is none."""
    function = enclosing(evidence, file, line)
    return SourceSpan(file, function.line, function.name) if function else SourceSpan(file, line)


def loops(evidence: Evidence, file: str, line: int) -> tuple[Loop, ...]:
    """Return the loops around a line within its function, outermost first. A loop's header is within the loop."""
    scope = enclosing(evidence, file, line)
    found = [
        loop
        for loop in _outline(evidence.source(file)).loops
        if loop.line <= line <= loop.last and enclosing(evidence, file, loop.line) == scope
    ]
    return tuple(sorted(found, key=lambda loop: (loop.line, -loop.last)))


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
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    outline = _outline(evidence.source(file))
    named = (item for item in outline.functions if item.name == name)
    return any(item.line <= line <= item.last for item in named for line in outline.yields)


def yielding_loops(evidence: Evidence, file: str, line: int) -> tuple[Loop, ...]:
    """The loops of the function around a line that hand out an element at each turn."""
    scope, outline = enclosing(evidence, file, line), _outline(evidence.source(file))
    return tuple(
        loop
        for loop in outline.loops
        if enclosing(evidence, file, loop.line) == scope and any(loop.line <= at <= loop.last for at in outline.yields)
    )


def loop_at(evidence: Evidence, file: str, line: int) -> Loop | None:
    """The loop whose statement stands at a line."""
    return next((loop for loop in _outline(evidence.source(file)).loops if loop.line == line), None)


def code(evidence: Evidence, file: str, line: int, limit: int = shared.MAX_LINE.value) -> str:
    """A line as code to quote, without its comment; "" where it is too long to read."""
    row = evidence.line(file, line).partition("#")[0].strip()
    return row if len(row) <= limit else ""


@lru_cache(maxsize=64)
def _outline(lines: tuple[str, ...]) -> _Outline:
    try:
        tree = ast.parse("\n".join(line.rstrip("\r\n") for line in lines))
        yields = tuple(node.lineno for node in ast.walk(tree) if isinstance(node, (ast.Yield, ast.YieldFrom)))
        return _Outline(tuple(_functions(tree)), tuple(_loops(tree)), yields)
    except (SyntaxError, ValueError, RecursionError):
        return _Outline((), ())


def _functions(tree: ast.AST) -> Iterator[Function]:
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield Function(node.name, node.lineno, first, node.end_lineno or node.lineno)


def _loops(tree: ast.AST) -> Iterator[Loop]:
    for node in ast.walk(tree):
        if isinstance(node, _LOOPS):
            over = ast.unparse(node.iter) if not isinstance(node, ast.While) else ""
            names = tuple(_names(node.target)) if not isinstance(node, ast.While) else ()
            once = evaluated_once(node)
            span = expression_span(once) if once is not None else None
            yield Loop(node.lineno, node.end_lineno or node.lineno, over, names, span)
        elif isinstance(node, _COMPREHENSIONS):
            first = node.generators[0]
            last = node.end_lineno or node.lineno
            names = tuple(_names(first.target))
            yield Loop(node.lineno, last, ast.unparse(first.iter), names, expression_span(first.iter))


def _names(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
