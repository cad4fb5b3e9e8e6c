"""Whether the value that a loop leaves under a name may be read after the loop."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from tfperfkit.syntax.bindings import COMPREHENSIONS, Frame, Frames
from tfperfkit.syntax.nodes import find_nodes

_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


def is_read_after(frames: Frames, home: Frame, loop: ast.AST, name: str) -> bool:
    """Return whether code may read the name after the loop, before it surely assigns it. Code in other functions counts
    as run after the loop, but not that of functions which the loop defines: nobody must keep them.

    Args:
        home: the function, or the module, that the name belongs to.
    """
    scope = home.node
    if (home, name) in frames.rebound or _is_read_elsewhere(frames, home, loop, name):
        return True
    path = _find_path(scope, loop)
    if path is None:
        return True
    for index in range(len(path) - 1, 0, -1):
        node, outer = path[index], path[index - 1]
        following = _following(outer, node)
        if following is None:
            return True
        found = _first_use(following, name)
        if found is not None:
            return found
        again = (
            isinstance(outer, (ast.For, ast.AsyncFor, ast.While))
            and _first_use(_list_repeated(outer), name) is not False
        )
        if again and _mentions(outer, name, without=loop):
            return True
    return False


def _is_read_elsewhere(frames: Frames, home: Frame, loop: ast.AST, name: str) -> bool:
    """Return whether a function or class within the scope, but not in the loop, uses its name."""
    inside = _list_inside(loop)
    return any(
        name in frame.used
        and frame.node not in inside
        and _get_function(frame) is not home
        and frame.owner(name) is home
        for frame in frames.of.values()
    )


@lru_cache(maxsize=4)
def _list_inside(loop: ast.AST) -> frozenset[ast.AST]:
    return frozenset(find_nodes(loop, ast.AST))


def _get_function(frame: Frame) -> Frame:
    """Return the scope around a comprehension; for any other scope itself."""
    while isinstance(frame.node, COMPREHENSIONS) and frame.parent is not None:
        frame = frame.parent
    return frame


@lru_cache(maxsize=4)
def _find_path(scope: ast.AST, loop: ast.AST) -> list[ast.AST] | None:
    """Find the nodes from a scope to a loop in it; None if the loop is elsewhere."""
    return _search_path(scope, loop)


def _search_path(scope: ast.AST, loop: ast.AST) -> list[ast.AST] | None:
    if scope is loop:
        return [scope]
    for child in ast.iter_child_nodes(scope):
        if child.__class__ is not ast.Name:
            found = _search_path(child, loop)
            if found is not None:
                return [scope, *found]
    return None


def _following(outer: ast.AST, node: ast.AST) -> Sequence[ast.AST] | None:
    """Return the code in a node that runs after a part, once; None if that is not clear."""
    for block in _BLOCKS:
        statements = getattr(outer, block, None)
        if isinstance(statements, list) and any(item is node for item in statements):
            index = next(number for number, item in enumerate(statements) if item is node)
            rest: list[ast.AST] = list(statements[index + 1 :]) if block not in ("handlers", "cases") else []
            if type(outer).__name__ == "TryStar":
                return None
            if isinstance(outer, ast.Try):
                if block == "body":
                    return [*rest, *outer.handlers, *outer.orelse, *outer.finalbody] if not outer.handlers else None
                return [*rest, *(outer.finalbody if block != "finalbody" else [])]
            return rest
    return []


def _list_repeated(outer: ast.AST) -> Sequence[ast.AST]:
    """List the code that an outer loop runs again, from its head on."""
    if isinstance(outer, ast.While):
        return [outer.test, *outer.body]
    if isinstance(outer, (ast.For, ast.AsyncFor)):
        return [outer.target, *outer.body]
    return []


def _mentions(outer: ast.AST, name: str, without: ast.AST) -> bool:
    """Return whether a loop reads a name outside of another loop within it."""
    pending = [outer]
    while pending:
        node = pending.pop()
        if node is without:
            continue
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return True
        pending += ast.iter_child_nodes(node)
    return False


def _first_use(statements: Sequence[ast.AST], name: str) -> bool | None:
    """True if the first thing that statements may do with a name is reading it, False if they surely assign it, None if
    they do neither."""
    for node in statements:
        found = _use(node, name)
        if found is not None:
            return found
    return None


def _use(node: ast.AST, name: str) -> bool | None:
    if isinstance(node, ast.Name):
        return None if node.id != name else isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.AugAssign):
        target = isinstance(node.target, ast.Name) and node.target.id == name
        return True if target else _first_use([node.value, node.target], name)
    if isinstance(node, ast.Assign):
        return _first_use([node.value, *node.targets], name)
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        return _first_use([*([node.value] if node.value is not None else []), node.target], name)
    if isinstance(node, ast.Dict | ast.Call | ast.expr):
        return _first_use(_in_order(node), name)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        first = _use(node.iter, name)
        if first is not None:
            return first
        inner = _first_use([node.target, *node.body], name)
        return True if inner else _later(inner, [node.orelse], name)
    if isinstance(node, ast.If):
        first = _use(node.test, name)
        return first if first is not None else _ways([node.body, node.orelse], name)
    if isinstance(node, ast.While):
        first = _first_use([node.test], name)
        if first is not None:
            return first
        inner = _first_use(node.body, name)
        return True if inner else _later(inner, [node.orelse], name)
    if isinstance(node, (ast.Expr, ast.Return, ast.Assert, ast.withitem, ast.keyword, ast.Delete)):
        return _first_use(list(ast.iter_child_nodes(node)), name)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return _first_use([*node.items, *node.body], name)
    # Anything else: read if it is mentioned.
    mentioned = any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(node))
    return True if mentioned else None


def _in_order(node: ast.AST) -> list[ast.AST]:
    return list(ast.iter_child_nodes(node))


def _later(inner: bool | None, blocks: Sequence[Sequence[ast.AST]], name: str) -> bool | None:
    """Of statements that may run not at all: what is assigned there is not surely assigned."""
    found = [_first_use(block, name) for block in blocks]
    return True if True in found else None


def _ways(ways: Sequence[Sequence[ast.AST]], name: str) -> bool | None:
    found = [_first_use(way, name) for way in ways]
    if True in found:
        return True
    return False if all(each is False for each in found) else None
