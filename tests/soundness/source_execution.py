"""Runs a program with a loop's iterations in any order, and notes the values of its expressions."""

from __future__ import annotations

import ast
import builtins
import random
import sys
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

LOOPS = (ast.For, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
#: Iterations that a program may make.
MAX_LINES = 600
#: Characters of all values that are noted of a program, and those that each value counts for at least.
MAX_NOTED, _EACH_NOTED = 5_000_000, 100
_DEEPEST = 6
_NOT_NOTED = (ast.Constant, ast.Starred, ast.Slice, ast.FormattedValue, ast.Lambda)


class TooLong(BaseException):
    """A program does not end soon."""


class Failed(Exception):
    """A program raised."""


class Iterations:
    """Values in a loop's iterations: for each expression the value at each place of the loops within, by iteration."""

    def __init__(self) -> None:
        self.execution = 0
        self.iteration = 0
        self.within: dict[int, int] = {}
        self.times: dict[Any, int] = {}
        self.seen: dict[int, dict[Any, dict[int, str]]] = {}
        self.active = 0
        self.noted = 0

    def over(self, iterable: Iterable[Any]) -> Iterator[Any]:
        """Go through the analysed loop."""
        self.execution += 1
        execution = self.execution
        for index, item in enumerate(iterable):
            self.iteration, self.within, self.times = index, {}, {}
            self.active = execution
            yield item
        self.active = 0

    def going(self, value: Any) -> Any:
        """Begin an iteration of the analysed ``while`` loop, or end the loop. It runs once in a program."""
        self.iteration = self.iteration + 1 if self.active else 0
        self.within, self.times, self.active = {}, {}, int(bool(value))
        self.execution = 1
        return value

    def inner(self, number: int, iterable: Iterable[Any]) -> Iterator[Any]:
        """Go through another loop."""
        for index, item in enumerate(iterable):
            self.within[number] = index
            yield item
        self.within.pop(number, None)

    def see(self, number: int, value: Any) -> Any:
        """Note the value of an expression. Raises ``TooLong`` for values that grow again and again."""
        if self.active:
            frame: Any = sys._getframe(1)
            way = []
            while frame is not None and len(way) < 12 and frame.f_code.co_filename == "<program>":
                way.append(frame.f_lasti)
                frame = frame.f_back
            place = (self.execution, tuple(way), tuple(sorted(self.within.items())))
            time = self.times[number, place] = self.times.get((number, place), 0) + 1
            known = self.seen.setdefault(number, {}).setdefault((*place, time), {})
            text = known[self.iteration] = shown(value)
            self.noted += len(text) + _EACH_NOTED
            if self.noted > MAX_NOTED:
                raise TooLong
        return value


def find_expressions(node: ast.AST) -> list[ast.expr]:
    """Return the expressions below a node whose values can be noted, in the order of the source."""
    found: list[ast.expr] = []
    pending = [node]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.expr) and not isinstance(node, _NOT_NOTED) and _is_value(node):
            found.append(node)
        for name in reversed(node._fields):
            value = getattr(node, name, None)
            if isinstance(value, list):
                pending += [item for item in reversed(value) if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and name not in ("ctx", "op"):
                pending.append(value)
    return found


def _is_value(node: ast.expr) -> bool:
    is_index = isinstance(node, ast.Tuple) and any(isinstance(item, ast.Slice) for item in node.elts)
    return not is_index and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


class _Wrap:
    """Puts calls of ``_see``, ``_over``, ``_inner`` and ``_going`` around expressions, iterables and a condition."""

    def __init__(self, loop: ast.AST, numbers: dict[ast.AST, int]) -> None:
        self.loop = loop
        self.numbers = numbers
        self.loops = 0

    def wrap(self, node: ast.AST) -> ast.AST:
        """Change a node and all nodes below it; return what replaces it."""
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                value[:] = [self.wrap(item) if isinstance(item, ast.AST) else item for item in value]
            elif isinstance(value, ast.AST) and name not in ("ctx", "op"):
                setattr(node, name, self.wrap(value))
        if isinstance(node, LOOPS):
            holder = node if isinstance(node, ast.For) else node.generators[0]
            self.loops += 1
            if node is self.loop:
                counted = _call(holder.iter, "_over", holder.iter)
            else:
                counted = _call(holder.iter, "_inner", ast.Constant(self.loops), holder.iter)
            holder.iter = _call(holder.iter, "_bounded", counted)
        if node is self.loop and isinstance(node, ast.While):
            node.test = _call(node.test, "_going", node.test)
        number = self.numbers.get(node)
        if number is not None and isinstance(node, ast.expr):
            return _call(node, "_see", ast.Constant(number), node)
        return node


def _call(at: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    """Make a call of a function of this module, at the place of an expression."""
    called = ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
    for node in (called, called.func, *(item for item in arguments if isinstance(item, ast.Constant))):
        ast.copy_location(node, at)
    return called


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
        return f"{type(value).__name__}({', '.join([shown(item, depth + 1) for item in value])})"
    if isinstance(value, (set, frozenset)):
        return f"set({', '.join(sorted([shown(item, depth + 1) for item in value]))})"
    if isinstance(value, (dict, defaultdict)):
        return f"dict({', '.join(sorted([f'{shown(k, depth + 1)}: {shown(v, depth + 1)}' for k, v in value.items()]))})"
    if type(value).__name__ == "Box":
        return f"Box({', '.join([f'{k}={shown(v, depth + 1)}' for k, v in sorted(value.__dict__.items())])})"
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
        return f"list({', '.join(sorted([unordered(item, depth + 1) for item in value]))})"
    if isinstance(value, (dict, defaultdict)):
        return f"dict({', '.join(sorted([f'{unordered(k)}: {unordered(v, depth + 1)}' for k, v in value.items()]))})"
    return shown(value, depth)


class Runnable:
    """A program that is compiled once, and runs its loop's iterations in any order.

    ``tree`` is changed; expressions are noted by their numbers in ``find_expressions``.
    """

    def __init__(self, tree: ast.Module, loop: ast.AST) -> None:
        numbers: dict[ast.AST, int] = {node: number for number, node in enumerate(find_expressions(tree))}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            self._code = compile(_Wrap(loop, numbers).wrap(tree), "<program>", "exec")  # type: ignore[arg-type]

    def note(self) -> tuple[dict[str, Any], Iterations]:
        """Run the program as it is. Return its names, and the values of its expressions in the loop's iterations."""
        iterations = Iterations()
        seams = {"_over": iterations.over, "_inner": iterations.inner, "_see": iterations.see}
        return self._run(seams | {"_going": iterations.going}, random), iterations

    def run(self, order: int, drawing: Any = random) -> dict[str, Any]:
        """Run the program; return its names.

        Args:
            order: 0 as the iterations are, 1 in reverse, else the seed of a random order.
        """

        def over(iterable: Iterable[Any]) -> Iterator[Any]:
            items: Iterable[tuple[int, Any]] = enumerate(iterable)
            if order:
                items = list(items)
                items.reverse() if order == 1 else random.Random(order).shuffle(items)
            for index, item in items:
                if hasattr(drawing, "begin"):
                    drawing.begin(index)
                yield item
            if hasattr(drawing, "begin"):
                drawing.begin(-1)

        def skip(number: int, value: Any) -> Any:
            return value

        seams = {"_over": over, "_inner": skip, "_see": skip, "_going": lambda value: value}
        return self._run(seams, drawing)

    def _run(self, seams: dict[str, Callable[..., Any]], random_module: Any) -> dict[str, Any]:
        """Run the program with functions for what was put into it. Raises ``Failed`` if it raises or is too long."""

        def importing(name: str, *rest: Any) -> Any:
            return random_module if name == "random" else __import__(name, *rest)

        lines = 0

        def bounded(iterable: Iterable[Any]) -> Iterator[Any]:
            nonlocal lines
            for item in iterable:
                lines += 1
                if lines > MAX_LINES:
                    raise TooLong
                yield item

        space = {
            "__builtins__": {**vars(builtins), "__import__": importing},
            "__name__": "program",
            "_bounded": bounded,
            **seams,
        }
        random.seed(7)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(400)
        try:
            exec(self._code, space)
        except TooLong as error:
            raise Failed("too long") from error
        except Exception as error:
            raise Failed(repr(error)) from error
        finally:
            sys.setrecursionlimit(limit)
        return space
