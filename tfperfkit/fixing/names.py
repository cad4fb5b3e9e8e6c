"""Which names a piece of source reads, and to which it gives a value."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from tfperfkit.fixing.module import walk


def read(node: cst.CSTNode) -> set[str]:
    """Every name in it that is no attribute and no keyword; also those that it binds."""
    found, skipped = set(), set()
    for at in walk(node):
        if isinstance(at, cst.Attribute):
            skipped.add(at.attr)
        elif isinstance(at, cst.Arg) and at.keyword is not None:
            skipped.add(at.keyword)
        if isinstance(at, cst.Name) and at not in skipped:
            found.add(at.value)
    return found


def bound(loop: cst.CSTNode, without: cst.CSTNode) -> set[str]:
    """Names that get a value in a loop, apart from by one of its statements."""
    own = set(walk(without))
    return {name for node in walk(loop) if node not in own for name in gives(node)}


def binds(statements: Iterable[cst.CSTNode]) -> set[str]:
    return {name for item in statements for node in walk(item) for name in gives(node)}


def gives(node: cst.CSTNode) -> set[str]:
    targets: list[cst.CSTNode] = []
    if isinstance(node, (cst.AssignTarget, cst.For, cst.CompFor, cst.AugAssign, cst.AnnAssign, cst.NamedExpr)):
        targets = [node.target]
    elif isinstance(node, cst.AsName):
        targets = [node.name]
    elif isinstance(node, cst.ImportAlias) and node.asname is None:
        return {node.evaluated_name.partition(".")[0]}
    elif isinstance(node, cst.Del):
        targets = [node.target]
    elif isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        targets = [node.name]
    return {at.value for target in targets for at in plain_names(target)}


def plain_names(target: cst.CSTNode) -> Iterable[cst.Name]:
    """List the plain names in a target: no indexed names, and no names whose attribute is set."""
    if isinstance(target, cst.Name):
        yield target
    elif isinstance(target, (cst.Tuple, cst.List)):
        for item in target.elements:
            yield from plain_names(item.value)


def incoming(statements: Iterable[cst.CSTNode], made: set[str] | None = None) -> set[str]:
    """Names whose value from before is read by statements that follow each other. ``made``: those that have got one;
    more are added to it, but not what only an ``if`` or a loop among them gives."""
    made = set() if made is None else made
    found: set[str] = set()
    for item in statements:
        if isinstance(item, cst.SimpleStatementLine):
            for small in item.body:
                found |= _loaded(small) - made
                made |= binds([small])
        elif isinstance(item, cst.With):
            for entry in item.items:
                found |= _loaded(entry.item) - made
                made |= binds([entry])
            found |= incoming(item.body.body, made)
        elif isinstance(item, cst.For):
            found |= _loaded(item.iter) - made
            found |= incoming(item.body.body, made | gives(item))
            found |= incoming(item.orelse.body.body, set(made)) if item.orelse else set()
        else:
            found |= _loaded(item) - made
    return found


def _loaded(node: cst.CSTNode) -> set[str]:
    """Return the names that a statement reads, without those that it assigns or that its comprehensions and lambdas
    bind.
    """
    targets = {at for part in walk(node) if isinstance(part, cst.AssignTarget) for at in plain_names(part.target)}
    own = {
        name
        for part in walk(node)
        for name in (gives(part) if isinstance(part, cst.CompFor) else parameters(part))
        if isinstance(part, (cst.CompFor, cst.Lambda))
    }
    return read(node) - own - ({at.value for at in targets} - _values(node))


def _values(node: cst.CSTNode) -> set[str]:
    """Return the names in the values of a statement's assignments."""
    return {name for part in walk(node) if isinstance(part, cst.Assign) for name in read(part.value)}


def bindings(tree: cst.Module, name: str) -> int:
    return sum(name in gives(node) for node in walk(tree))


def parameters(function: cst.CSTNode) -> set[str]:
    """Return the parameters of a function or of a lambda; of anything else none."""
    if not isinstance(function, (cst.FunctionDef, cst.Lambda)):
        return set()
    return {node.name.value for node in walk(function.params) if isinstance(node, cst.Param)}
