"""Runs a program as it is, with a loop's iterations in another order, or with the values of its expressions noted."""

from __future__ import annotations

import ast
import builtins
import random
import sys
import warnings
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

import numpy as np

LOOPS = (ast.For, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
#: Iterations that a program may make.
MAX_LINES = 3_000
_DEEPEST = 6


class TooLong(BaseException):
    """A program does not end soon."""


class Failed(Exception):
    """A program raised."""


class Iterations:
    """What a loop's iterations saw: for each expression its value at each place of the loops within, by iteration."""

    def __init__(self) -> None:
        self.execution = 0
        self.iteration = 0
        self.within: dict[int, int] = {}
        self.times: dict[Any, int] = {}
        self.seen: dict[int, dict[Any, dict[int, str]]] = {}
        self.active = 0

    def over(self, iterable: Iterable[Any]) -> Iterator[Any]:
        """Go through the analysed loop."""
        self.execution += 1
        execution = self.execution
        for index, item in enumerate(iterable):
            self.iteration, self.within, self.times = index, {}, {}
            self.active = execution
            yield item
        self.active = 0

    def inner(self, number: int, iterable: Iterable[Any]) -> Iterator[Any]:
        """Go through another loop."""
        for index, item in enumerate(iterable):
            self.within[number] = index
            yield item
        self.within.pop(number, None)

    def see(self, number: int, value: Any) -> Any:
        """Note the value of an expression."""
        if self.active:
            frame: Any = sys._getframe(1)
            way = []
            while frame is not None and len(way) < 12 and frame.f_code.co_filename == "<program>":
                way.append(frame.f_lasti)
                frame = frame.f_back
            place = (self.execution, tuple(way), tuple(sorted(self.within.items())))
            time = self.times[number, place] = self.times.get((number, place), 0) + 1
            known = self.seen.setdefault(number, {}).setdefault((*place, time), {})
            known[self.iteration] = shown(value)
        return value


class _Wrap(ast.NodeTransformer):
    """Puts calls of ``_see``, ``_over`` and ``_inner`` around expressions and iterables."""

    def __init__(self, loop: ast.AST, numbers: dict[ast.AST, int]) -> None:
        self.loop = loop
        self.numbers = numbers
        self.loops = 0

    def visit(self, node: ast.AST) -> ast.AST:
        number = self.numbers.get(node)
        is_loop = node is self.loop
        node = super().generic_visit(node)
        if isinstance(node, LOOPS):
            holder = node if isinstance(node, ast.For) else node.generators[0]
            self.loops += 1
            if is_loop:
                counted = _call(holder.iter, "_over", holder.iter)
            else:
                counted = _call(holder.iter, "_inner", ast.Constant(self.loops), holder.iter)
            holder.iter = _call(holder.iter, "_bounded", counted)
        if number is not None and isinstance(node, ast.expr):
            return _call(node, "_see", ast.Constant(number), node)
        return node


class _Order(ast.NodeTransformer):
    def __init__(self, loop: ast.AST) -> None:
        self.loop = loop

    def visit(self, node: ast.AST) -> ast.AST:
        is_loop = node is self.loop
        node = super().generic_visit(node)
        if isinstance(node, LOOPS):
            holder = node if isinstance(node, ast.For) else node.generators[0]
            if is_loop:
                holder.iter = _call(holder.iter, "_over", holder.iter)
            holder.iter = _call(holder.iter, "_bounded", holder.iter)
        return node


def shown(value: Any, depth: int = 0) -> str:
    """The whole content of a value, as text. Iterators and functions are shown by their kind alone."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, (np.ndarray, np.generic)):
        return f"array({value.tolist()!r})"
    if isinstance(value, float):
        return f"{value:.9g}"  # a sum in another order is rounded in another way
    if isinstance(value, int) and value.bit_length() > 1000:
        return hex(value)
    if isinstance(value, (int, float, str, type(None))):
        return repr(value)
    if isinstance(value, (list, tuple, deque)):
        return f"{type(value).__name__}({', '.join(shown(item, depth + 1) for item in value)})"
    if isinstance(value, (set, frozenset)):
        return f"set({', '.join(sorted(shown(item, depth + 1) for item in value))})"
    if isinstance(value, (dict, defaultdict)):
        return f"dict({', '.join(sorted(f'{shown(k, depth + 1)}: {shown(v, depth + 1)}' for k, v in value.items()))})"
    if type(value).__name__ == "Box":
        return f"Box({', '.join(f'{k}={shown(v, depth + 1)}' for k, v in sorted(value.__dict__.items()))})"
    if isinstance(value, random.Random):
        return f"Random({hash(value.getstate())})"
    if isinstance(value, slice):
        return repr(value)
    return type(value).__name__


def unordered(value: Any, depth: int = 0) -> str:
    """The content of a value, up to the order of the elements of lists and of the letters of texts."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, str):
        return "".join(sorted(value))
    if isinstance(value, (list, tuple, deque)):
        return f"list({', '.join(sorted(unordered(item, depth + 1) for item in value))})"
    if isinstance(value, (dict, defaultdict)):
        return f"dict({', '.join(sorted(f'{unordered(k)}: {unordered(v, depth + 1)}' for k, v in value.items()))})"
    return shown(value, depth)


def run(code: CodeType, names: dict[str, Any], random_module: Any = random) -> dict[str, Any]:
    """Run a program. Raises ``Failed`` if it raises, or takes too long."""

    def importing(name: str, *rest: Any) -> Any:
        return random_module if name == "random" else __import__(name, *rest)

    space = {"__builtins__": {**vars(builtins), "__import__": importing}, "__name__": "program", **names}
    lines = 0

    def bounded(iterable: Iterable[Any]) -> Iterator[Any]:
        nonlocal lines
        for item in iterable:
            lines += 1
            if lines > MAX_LINES:
                raise TooLong
            yield item

    random.seed(7)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    space["_bounded"] = bounded
    try:
        exec(code, space)
    except TooLong as error:
        raise Failed("too long") from error
    except Exception as error:
        raise Failed(repr(error)) from error
    finally:
        sys.setrecursionlimit(limit)
    return space


def _copy(source: str, tree: ast.Module) -> tuple[ast.Module, dict[ast.AST, ast.AST]]:
    """Parse a program again; return the tree, and its nodes by those of the first tree."""
    copied = ast.parse(source)
    return copied, dict(zip(ast.walk(tree), ast.walk(copied), strict=True))


def _call(at: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a function of ours, at the place of an expression."""
    called = ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
    for node in (called, called.func, *(item for item in arguments if isinstance(item, ast.Constant))):
        ast.copy_location(node, at)
    return called


def _compile(tree: ast.AST) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code: CodeType = compile(tree, "<program>", "exec")
    return code


def run_noting(source: str, tree: ast.Module, loop: ast.AST, numbers: dict[ast.AST, int]) -> Iterations:
    """Run a program and note the values of numbered expressions in the iterations of a loop."""
    copied, nodes = _copy(source, tree)
    mapped = {nodes[node]: number for node, number in numbers.items()}
    iterations = Iterations()
    names = {"_see": iterations.see, "_over": iterations.over, "_inner": iterations.inner}
    run(_compile(_Wrap(nodes[loop], mapped).visit(copied)), names)
    return iterations


class Ordered:
    """A program whose loop can run its iterations in another order."""

    def __init__(self, source: str, tree: ast.Module, loop: ast.AST) -> None:
        copied, nodes = _copy(source, tree)
        self._code = _compile(_Order(nodes[loop]).visit(copied))

    def run(self, order: int, drawing: Any = random) -> dict[str, Any]:
        """Run it; return its names. ``order``: 0 as the iterations are, 1 in reverse, else a seed."""
        chance = random.Random(order)

        def over(iterable: Iterable[Any]) -> Iterator[Any]:
            if not order:
                for index, item in enumerate(iterable):
                    if hasattr(drawing, "begin"):
                        drawing.begin(index)
                    yield item
            else:
                items = list(enumerate(iterable))
                if order == 1:
                    items.reverse()
                else:
                    chance.shuffle(items)
                for index, item in items:
                    if hasattr(drawing, "begin"):
                        drawing.begin(index)
                    yield item
            if hasattr(drawing, "begin"):
                drawing.begin(-1)

        return run(self._code, {"_over": over}, drawing)
