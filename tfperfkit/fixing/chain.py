"""A pipeline in the source: the names of its stages, and one more of them behind another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, method
from tfperfkit.syntax.effects import list_returning

#: Methods of a data set that give a data set, and what makes one.
STAGES = list_returning("dataset.", "self", "shuffled")
MAKERS = list_returning("tensorflow.data.", "dataset", "shuffled") | {"from_generator"}


def behind(stage: str, *arguments: cst.BaseExpression) -> Callable[[cst.Call], cst.Call]:
    """Return a change that puts ``.stage(arguments)`` behind a stage, laid out as the chain is."""

    def change(node: cst.Call) -> cst.Call:
        dot = node.func.dot if isinstance(node.func, cst.Attribute) else cst.Dot()
        if not isinstance(dot.whitespace_before, cst.ParenthesizedWhitespace):
            dot = cst.Dot()
        else:  # a stage a line: without the comment of the line before
            line = dot.whitespace_before
            dot = cst.Dot(whitespace_before=line.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=()))
        # Brackets around the chain stand around the longer one; a comment stays on its line.
        *brackets, last = node.rpar or [None]
        space = last.whitespace_before if last is not None else None
        if isinstance(space, cst.ParenthesizedWhitespace) and isinstance(
            dot.whitespace_before, cst.ParenthesizedWhitespace
        ):
            own = dot.whitespace_before
            dot = dot.with_changes(whitespace_before=own.with_changes(first_line=space.first_line))
            bare = space.with_changes(first_line=cst.TrailingWhitespace())
            node = node.with_changes(rpar=[*brackets, last.with_changes(whitespace_before=bare)])
        inner = node.with_changes(lpar=(), rpar=())
        given = [cst.Arg(item) for item in arguments]
        return cst.Call(cst.Attribute(inner, cst.Name(stage), dot), given, lpar=node.lpar, rpar=node.rpar)

    return change


def inserted(module: Module, call: cst.Call, stage: str, *arguments: cst.BaseExpression) -> Edit:
    """``.stage(arguments)`` behind a stage anywhere in its chain. Comments stay on their lines."""
    above = next(module.around(call), None)
    change = behind(stage, *arguments)
    if not isinstance(above, cst.Attribute) or not isinstance(above.dot.whitespace_before, cst.ParenthesizedWhitespace):
        return Edit(module.file, call, change)

    def in_chain(node: cst.Attribute) -> cst.Attribute:
        put: cst.Call = change(node.value)
        space = node.dot.whitespace_before
        bare = space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=())
        dot = put.func.dot.with_changes(whitespace_before=bare.with_changes(first_line=space.first_line))
        put = put.with_changes(func=put.func.with_changes(dot=dot))
        after = node.dot.with_changes(whitespace_before=bare.with_changes(empty_lines=space.empty_lines))
        return node.with_changes(value=put, dot=after)

    return Edit(module.file, above, in_chain)


def upstream(module: Module, call: cst.Call) -> Iterator[cst.Call]:
    """Yield the calls that a stage's data come through, the nearest first, also through names that hold a data set in
    between; raises NoFix where their beginning is not seen, say in a parameter."""
    seen: set[cst.CSTNode] = set()
    at: cst.BaseExpression | None = _previous_stage(call)
    while True:
        while isinstance(at, cst.Name):
            at = _assigned(module, at, seen)
        if not isinstance(at, cst.Call) or at in seen:
            raise NoFix("where its pipeline begins is not seen")
        seen.add(at)
        yield at
        if method(at) not in STAGES:
            return
        at = _previous_stage(at)


def _previous_stage(call: cst.Call) -> cst.BaseExpression | None:
    """Return the expression that a stage is called on."""
    return call.func.value if isinstance(call.func, cst.Attribute) else None


def _assigned(module: Module, name: cst.Name, seen: set[cst.CSTNode]) -> cst.BaseExpression | None:
    """Return the value of the last assignment to a name before its use, in the same function or file."""
    scope = _scope(module, name)
    found: cst.Assign | None = None
    for node in module.nodes:
        if node is name:
            break
        if isinstance(node, cst.Assign) and node not in seen and _scope(module, node) is scope:
            named = [item.target.value for item in node.targets if isinstance(item.target, cst.Name)]
            if name.value in named and all(item is not node for item in module.around(name)):
                found = node
    if found is None:
        return None
    seen.add(found)
    return found.value


def _scope(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    return next((item for item in module.around(node) if isinstance(item, (cst.FunctionDef, cst.Lambda))), None)
