"""Work that gives the same at every step, done once: out of the loop, or behind a function that keeps its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.globals import explain_changing, find_changed
from tfperfkit.fixing.module import Module, dotted, walk
from tfperfkit.fixing.order import find_effect_of
from tfperfkit.fixing.repeatable import check_repeatable, check_reusable

_LOOPS = (cst.For, cst.While)
_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
_LEAVES = (cst.Return, cst.Yield, cst.Await, cst.Global, cst.Nonlocal, cst.Break, cst.Continue, cst.Raise)


def fix(case: Case) -> list[Edit]:
    """At the first of the finding's places that is a statement by itself in a loop, or in a function."""
    reasons = []
    lines: dict[str, set[int]] = {}
    for span in case.finding.where:
        lines.setdefault(span.file, set()).add(span.line)
    for module, span in case.places():
        try:
            return _hoist_statement(module, span.line, lines[span.file])
        except NoFix as error:
            reasons.append(str(error))
    raise NoFix(reasons[0] if reasons else "there is no statement by itself at its place")


def reuse(case: Case) -> list[Edit]:
    """Make the object of the first such statement once, although iterations change it: a candidate."""
    reason = NoFix("there is no statement by itself in a loop at its places")
    for module, span in case.places():
        for statement in _find_making(module, span.line):
            above = [node for node in module.around(statement) if not isinstance(node, cst.IndentedBlock)]
            if not above or not isinstance(above[0], _LOOPS):
                continue
            try:
                return _before_loop(module, statement, above, case)
            except NoFix as error:
                reason = error
    raise reason


def _find_making(module: Module, line: int) -> Iterable[cst.CSTNode]:
    """Yield the statements of a line, then those that call the function which the line is in."""
    yield from module.lines_at(line)
    functions = (node for node in module.nodes if isinstance(node, cst.FunctionDef))
    holding = {node.name.value for node in functions if module.spans(node, line)}
    for call in module.calls:
        if dotted(call.func) in holding:
            yield next(node for node in module.around(call) if isinstance(node, _STATEMENTS))


def _hoist_statement(module: Module, line: int, near: set[int]) -> list[Edit]:
    """Return the edits for the statement on a line."""
    statement = find_statement(module, line)
    body = next(iter(module.around(statement)))
    above = [node for node in module.around(statement) if not isinstance(node, cst.IndentedBlock)]
    if isinstance(body, cst.IndentedBlock) and above and isinstance(above[0], cst.FunctionDef):
        return _kept(module, above[0], statement, near)
    if isinstance(body, cst.IndentedBlock) and above and isinstance(above[0], _LOOPS):
        return _before_loop(module, statement, above)
    raise NoFix("it does not stand directly in a loop or in a function")


def find_statement(module: Module, line: int) -> Any:
    """Return the statement of a block that a line belongs to: with the ``with`` around it."""
    for node in module.lines_at(line):
        at: cst.CSTNode = node
        for outer in module.around(node):
            if isinstance(outer, cst.With):
                at = outer
            elif not isinstance(outer, cst.IndentedBlock):
                break
        return at
    for node in module.nodes:
        if isinstance(node, cst.With) and module.line(node) == line:
            return node
    raise NoFix("there is no statement by itself at its place")


# --- out of the loop ----------------------------------------------------------------------------------------------


def _before_loop(
    module: Module, statement: cst.CSTNode, above: Sequence[cst.CSTNode], case: Case | None = None
) -> list[Edit]:
    """``case``: gets the assumption that iterations need no object of their own, which is checked otherwise."""
    name, value = _assigned(statement)
    loop = None
    for node in above:
        if not isinstance(node, _LOOPS):
            break
        if names.bound(node, statement) & names.read(value):
            break
        loop = node
    if loop is None:
        raise NoFix("it uses what the loop changes")
    if case is None:
        check_unchanged(loop, {name})
    check_repeatable(module, value)
    check_reusable(module, value, statement)
    parent = next(iter(module.around(loop)))
    if not isinstance(parent, (cst.IndentedBlock, cst.Module)):
        raise NoFix("the loop is not in a block")
    if case is not None:
        if find_effect_of(module, value) is not None:
            raise NoFix("making it changes or writes something")
        case.assumed.append(f"no iteration needs a {name} of its own")
    again = name in names.bound(loop, statement)  # the loop gives the name another value later
    kept = f"{name}_once" if again else name
    if again and any(isinstance(node, cst.Name) and node.value == kept for node in module.nodes):
        raise NoFix(f"{kept} is a name of the file already")
    moved = _renamed(statement, kept)
    edits = [Edit(module.file, loop, partial(_put_before_loop, first=moved))]
    if again:
        use = cst.parse_statement(f"{name} = {kept}")
        return [*edits, Edit(module.file, statement, lambda node: use)]
    return [*edits, Edit(module.file, statement, lambda node: cst.RemoveFromParent())]


def _assigned(statement: cst.CSTNode) -> tuple[str, cst.BaseExpression]:
    """Return the name and the value of ``name = value``."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        only = statement.body[0]
        if isinstance(only, cst.Assign) and len(only.targets) == 1 and isinstance(only.targets[0].target, cst.Name):
            return only.targets[0].target.value, only.value
    raise NoFix("it is no plain assignment to one name")


def _renamed(statement: Any, name: str) -> Any:
    only = statement.body[0]
    target = only.targets[0].with_changes(target=cst.Name(name))
    return statement.with_changes(body=[only.with_changes(targets=[target])], leading_lines=())


def _put_before_loop(loop: Any, first: cst.CSTNode) -> cst.FlattenSentinel:
    """Return the statement and the loop; the loop's own comments and empty lines stay above both."""
    lines = loop.leading_lines
    return cst.FlattenSentinel([first.with_changes(leading_lines=lines), loop.with_changes(leading_lines=())])


# --- behind a function that keeps its result ----------------------------------------------------------------------


def _kept(module: Module, function: cst.FunctionDef, statement: cst.CSTNode, near: set[int]) -> list[Edit]:
    if function not in module.tree.body:
        raise NoFix(f"{function.name.value} is no function at the top level of the file")
    if function.asynchronous is not None or any("cache" in (_plain(item) or "") for item in function.decorators):
        raise NoFix(f"{function.name.value} keeps its result already, or is async")
    body = list(function.body.body)
    first = body.index(statement)
    last = max(index for index, item in enumerate(body) if any(module.spans(item, at) for at in near))
    block = body[first : max(last, first) + 1]
    if list_leaving(block):
        raise NoFix("it leaves the function")
    made = names.binds(block)
    for item in body[first + len(block) :]:  # what only takes a part of it comes along: archive["faces"]
        if not is_part(item, made):
            break
        block.append(item)
        made |= names.binds([item])
    rest = body[first + len(block) :]
    outer = set().union(*(names.read(item) for item in block)) - made
    local = names.parameters(function) | names.binds(body)
    if outer & local:
        raise NoFix(f"it uses {sorted(outer & local)[0]}, which is another one at each call")
    for name in sorted(outer):
        why = explain_changing(module, name)
        if why:
            raise NoFix(why)
    used = sorted(made & set().union(*(names.read(item) for item in rest), set()))
    if not used or any(not isinstance(item, (cst.SimpleStatementLine, cst.With)) for item in block):
        raise NoFix("nothing that could be kept comes of it")
    for item in rest:
        check_unchanged(item, set(used))
    check_kept(module, block, used)
    return _edits(module, function, block, used)


def _edits(module: Module, function: cst.FunctionDef, block: Sequence[Any], used: Sequence[str]) -> list[Edit]:
    helper = f"_{used[-1]}_once"
    if any(isinstance(node, cst.Name) and node.value == helper for node in module.nodes):
        raise NoFix(f"{helper} is a name of the file already")
    given = ", ".join(used)
    inside = [block[0].with_changes(leading_lines=()), *block[1:], cst.parse_statement(f"return {given}")]
    made = cst.FunctionDef(
        cst.Name(helper),
        cst.Parameters(),
        cst.IndentedBlock(inside),
        decorators=[cst.Decorator(cst.parse_expression("functools.cache"))],
        leading_lines=function.leading_lines,
    )
    apart = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    call = cst.parse_statement(f"{given} = {helper}()")
    edits = [
        Edit(module.file, block[0], lambda node: call.with_changes(leading_lines=node.leading_lines)),
        *(Edit(module.file, item, lambda node: cst.RemoveFromParent()) for item in block[1:]),
        Edit(
            module.file,
            function,
            lambda node: cst.FlattenSentinel([made, node.with_changes(leading_lines=apart)]),
        ),
    ]
    return [*edits, *import_functools(module)]


def check_kept(module: Module, block: Sequence[Any], used: Sequence[str]) -> None:
    """Raise NoFix unless a block gives the same each time, in names whose values can be used many times."""
    for item in block:
        check_repeatable(module, item)
    for name in used:
        check_reusable(module, cst.Name(name), cst.IndentedBlock(block))


def import_functools(module: Module) -> list[Edit]:
    """Return the edit that imports ``functools``; none if the file does."""
    known = any(isinstance(item, cst.Import) and "functools" in _names_of(item) for item in _top(module.tree))
    return [] if known else [Edit(module.file, module.tree, _with_import)]


def list_leaving(block: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    """List the statements of a block that leave the function, or set names outside."""
    return [node for item in block for node in walk(item) if isinstance(node, _LEAVES)]


def _with_import(tree: cst.Module) -> cst.Module:
    """``import functools`` before the first import that is not from ``__future__``, else before all code."""
    body = list(tree.body)
    for index, line in enumerate(body):
        only = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        if isinstance(only, cst.Expr) and isinstance(only.value, (cst.SimpleString, cst.ConcatenatedString)):
            continue
        if isinstance(only, cst.ImportFrom) and dotted(only.module or cst.Name("")) == "__future__":
            continue
        new = cst.parse_statement("import functools").with_changes(leading_lines=line.leading_lines)
        body[index : index + 1] = [new, line.with_changes(leading_lines=())]
        return tree.with_changes(body=body)
    return tree


def is_part(item: cst.CSTNode, made: set[str]) -> bool:
    """Return whether a statement only takes a part of what some names hold."""
    try:
        _, value = _assigned(item)
    except NoFix:
        return False
    reads = names.read(value)
    calls = any(isinstance(node, cst.Call) for node in walk(value))
    return bool(reads) and reads <= made and not calls and isinstance(value, (cst.Subscript, cst.Attribute))


def check_unchanged(node: cst.CSTNode, kept: set[str]) -> None:
    """Raise NoFix if code changes in place what a name holds: then the next step would find it changed."""
    changed = find_changed(node, kept)
    if changed:
        raise NoFix(f"{changed} is changed afterwards")


def _plain(item: cst.Decorator) -> str | None:
    return dotted(item.decorator.func if isinstance(item.decorator, cst.Call) else item.decorator)


def _top(tree: cst.Module) -> Iterable[cst.CSTNode]:
    for line in tree.body:
        yield from line.body if isinstance(line, cst.SimpleStatementLine) else ()


def _names_of(item: cst.Import) -> set[str]:
    return {alias.evaluated_name for alias in item.names if alias.asname is None}


FIXER = Fixer(
    "does it once",
    fix,
    "the same object is used at every step: what a function that gets it changes in it stays changed",
)
REUSED = Fixer(
    "makes it once, before the loop",
    reuse,
    "all iterations work on one object: what one changes in it stays changed",
    keeps="mathematics",
)
