"""Whether a call computes the same in each turn of a loop around it: by the syntax tree, along a stack of frames.

A name varies with the turns of a loop when the loop binds it, when it follows from one that does, or from its own value
of a turn before; so does what an unknown call gives, or draws at random. What a function is given varies where its
argument does. Only what surely stays the same counts as such.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import Loop, enclosing, evaluating_loops, frame_loops

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
#: Modules whose functions give the same for the same, but for what draws at random.
_PURE = ("numpy.", "tensorflow.", "keras.", "math.", "builtins.", "itertools.")
_IMPURE = ("random", "shuffle", "builtins.next", "builtins.input", "builtins.open", "dropout", "time.")
#: Methods that read an object, or make another one of it.
_READS = frozenset(
    {"astype", "reshape", "numpy", "transpose", "copy", "items", "values", "keys", "tolist", "to_numpy", "mean", "sum"}
    | {"batch", "take", "skip", "prefetch", "as_numpy_iterator", "unbatch", "max", "min", "flatten", "ravel", "argmax"}
)
#: Methods after which a model or a variable gives something else.
_CHANGES = frozenset(
    {"assign", "assign_add", "assign_sub", "set_weights", "load_weights", "apply_gradients", "apply", "minimize", "fit"}
    | {"train_on_batch", "scatter_update", "adapt"}
)


class SameTurns(NamedTuple):
    """A loop in each of whose turns the innermost call of a stack computes the same: where it begins, and the lines of
    what it runs. A call that is handed a function, which it calls, is such a loop: then these are the function's."""

    file: str
    line: int
    body: tuple[int, int]
    in_file: str


def same_turns(evidence: Evidence, frames: Sequence[Frame], call: ast.Call) -> SameTurns | None:
    """The innermost such loop around ``call``, which the last of these frames is in; None where there is none."""
    levels = _levels(evidence, frames)
    if not levels:
        return None
    levels[-1] = levels[-1]._replace(loops=evaluating_loops(evidence, levels[-1].file, call))
    for depth, (above, level) in enumerate(zip(levels, levels[1:], strict=False)):
        leading = _calls_of(above, level.scope)
        if len(leading) == 1:
            levels[depth] = above._replace(loops=evaluating_loops(evidence, above.file, leading[0]))
    for depth in reversed(range(len(levels))):
        level = levels[depth]
        for loop in reversed(level.loops):
            node = _loop_node(level.syntax.tree, loop)
            if node is None or _changes(level, node):
                continue
            if not _varies_below(levels[depth:], _stored(level, node), call):
                return SameTurns(level.file, loop.line, (loop.line + 1, loop.last), level.file)
        if depth and (handed := _handed(levels[depth - 1], level)) is not None and not _changes(level, level.scope):
            names = _arguments(level.scope)
            if not _varies_below(levels[depth:], _follow(level, level.scope, set(names)), call):
                scope = level.scope
                last = getattr(scope, "end_lineno", 0) or 0
                return SameTurns(levels[depth - 1].file, handed, (getattr(scope, "lineno", 0) + 1, last), level.file)
    return None


class _Level(NamedTuple):
    """A function of the user's (or a module) on the stack, and the line that it is at."""

    file: str
    line: int
    syntax: Syntax
    scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
    loops: tuple[Loop, ...]


def _levels(evidence: Evidence, frames: Sequence[Frame]) -> list[_Level] | None:
    found: list[_Level] = []
    for frame in frames:
        syntax = evidence.syntax(frame.file)
        if syntax is None:
            return None
        function = enclosing(evidence, frame.file, frame.line)
        scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef = syntax.tree
        if function is not None:
            nodes = [n for n in ast.walk(syntax.tree) if isinstance(n, _FUNCTIONS) and n.lineno == function.line]
            if not nodes:
                return None
            scope = nodes[0]
        level = _Level(frame.file, frame.line, syntax, scope, frame_loops(evidence, frame))
        if found and found[-1].scope is scope and frame.name.startswith("<") and frame.name != "<module>":
            found[-1] = level  # a comprehension's own frame
        else:
            found.append(level)
    return found


def _loop_node(tree: ast.AST, loop: Loop) -> ast.AST | None:
    kinds = (ast.For, ast.AsyncFor, *_COMPREHENSIONS)  # a ``while`` goes on for a reason that changes
    return next(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, kinds) and node.lineno == loop.line and node.end_lineno == loop.last
        ),
        None,
    )


def _handed(above: _Level, level: _Level) -> int | None:
    """The line at which the function of a level is handed to a call, which calls it: ``max(values, key=f)``."""
    name = getattr(level.scope, "name", "")
    for call in above.syntax.calls_at(above.line):
        given = [*call.args, *(word.value for word in call.keywords)]
        if any(isinstance(item, ast.Name) and item.id == name for item in given):
            return call.lineno
    return None


def _arguments(scope: ast.AST) -> list[str]:
    return (
        [item.arg for item in ast.walk(scope.args) if isinstance(item, ast.arg)]
        if isinstance(scope, _FUNCTIONS)
        else []
    )


def _varies_below(levels: Sequence[_Level], varying: set[str], call: ast.Call) -> bool:
    """Whether the call at the last level varies, when these names do at the first."""
    known: list[tuple[_Level, set[str]]] = [(levels[0], varying)]
    for above, level in zip(levels, levels[1:], strict=False):
        given = _given(above, level)
        names = _arguments(level.scope)
        own = set(names) if given is None else {n for n, value in given.items() if _varies(above, value, known)}
        known.append((level, _follow(level, level.scope, own, known)))
    level = levels[-1]
    return any(
        _varies(level, node, known) for node in (call.func, *call.args, *(word.value for word in call.keywords))
    ) or _draws(level.syntax, call)


def _draws(syntax: Syntax, call: ast.Call, depth: int = 0) -> bool:
    """Whether what is called draws at random or changes variables, as far as the file has it."""
    if _trains(call) or _is_change(call) or any(word in syntax.name(call.func).lower() for word in _IMPURE):
        return True
    function = _function(syntax, call.func)
    inside = ast.walk(function) if function is not None and depth < shared.FUNCTIONS_DEEP.value else ()
    return any(_draws(syntax, node, depth + 1) for node in inside if isinstance(node, ast.Call))


def _trains(call: ast.Call) -> bool:
    """Whether a model is called as in training, where layers draw at random."""
    return any(
        word.arg in ("training", None) and not (isinstance(word.value, ast.Constant) and word.value.value is False)
        for word in call.keywords
    )


def _given(above: _Level, level: _Level) -> dict[str, ast.expr] | None:
    """What a function on the stack was given, by the names of its arguments; None where the call is not understood."""
    scope = level.scope
    if not isinstance(scope, _FUNCTIONS) or scope.args.vararg or scope.args.kwarg:
        return None
    found = _calls_of(above, scope)
    if len(found) != 1 or any(isinstance(item, ast.Starred) for item in found[0].args):
        return None
    names = [item.arg for item in (*scope.args.posonlyargs, *scope.args.args)]
    given: list[ast.expr] = list(found[0].args)
    if isinstance(found[0].func, ast.Attribute) and names:
        given = [found[0].func.value, *given]  # of a method
    if len(given) > len(names) or any(word.arg is None for word in found[0].keywords):
        return None
    return {**dict(zip(names, given, strict=False)), **{str(word.arg): word.value for word in found[0].keywords}}


def _calls_of(above: _Level, scope: ast.AST) -> list[ast.Call]:
    """Return the calls at a level's line that name a function as it is defined."""
    name = getattr(scope, "name", None)
    calls = above.syntax.calls_at(above.line)
    return [call for call in calls if name and name == getattr(call.func, "id", getattr(call.func, "attr", ""))]


def _stored(level: _Level, loop: ast.AST) -> set[str]:
    targets = [loop.target] if isinstance(loop, (ast.For, ast.AsyncFor)) else []
    if isinstance(loop, _COMPREHENSIONS):
        targets = [loop.generators[0].target]
    return _follow(level, loop, {name for target in targets for name in _names(target)})


def _follow(
    level: _Level, inside: ast.AST, varying: set[str], known: Sequence[tuple[_Level, set[str]]] = ()
) -> set[str]:
    """The names that vary with these ones, by what is bound inside of a loop or a function."""
    bound: list[tuple[set[str], ast.AST]] = []
    found = set(varying)
    for node in ast.walk(inside):
        if node is inside and not isinstance(inside, ast.Module):
            continue
        if isinstance(node, ast.Assign):
            bound += [(_roots(target), node.value) for target in node.targets]
            for target in node.targets:
                if isinstance(target, (ast.Attribute, ast.Subscript)):
                    found |= _roots(target)  # a part of it is written
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            bound.append((_roots(node.target), node.value))
        elif isinstance(node, ast.AugAssign):
            found |= _roots(node.target)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            bound.append((_roots(node.target), node.iter))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            bound.append((_roots(node.optional_vars), node.context_expr))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _leads(level, node):
            found |= _touched(level.syntax, node.value)
    found |= _carried(bound)
    before = -1
    while before != len(found):
        before = len(found)
        for names, value in bound:
            if not names <= found and _varies(level, value, [*known, (level, found)]):
                found |= names
    return found


def _carried(bound: Iterable[tuple[set[str], ast.AST]]) -> set[str]:
    """Names that follow from themselves: of the turn before."""
    of: dict[str, set[str]] = {}
    for names, value in bound:
        used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        for name in names:
            of.setdefault(name, set()).update(used)
    found = set()
    for name in of:
        seen: set[str] = set()
        left = list(of[name])
        while left:
            other = left.pop()
            if other not in seen:
                seen.add(other)
                left += of.get(other, ())
        if name in seen:
            found.add(name)
    return found


def _leads(level: _Level, node: ast.Expr) -> bool:
    """Whether the stack leads through a statement: what that does is looked at below."""
    return node.lineno <= level.line <= (node.end_lineno or node.lineno)


def _touched(syntax: Syntax, call: ast.Call) -> set[str]:
    """The names of objects that a call by itself may change: whose method it is, what it is given."""
    if syntax.name(call.func) == "builtins.print":
        return set()
    roots = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    roots += [item for item in call.args if isinstance(item, ast.Name)]
    return {name for root in roots for name in _roots(root)}


def _varies(level: _Level, node: ast.AST, known: Sequence[tuple[_Level, set[str]]]) -> bool:
    for item in ast.walk(node):
        if isinstance(item, (ast.Await, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(item, ast.Call) and not _pure(level.syntax, item):
            return True
        if isinstance(item, ast.Attribute) and _is_set(level.syntax, item.attr):
            return True
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load) and _name_varies(level, item.id, known):
            return True
    return False


def _name_varies(level: _Level, name: str, known: Sequence[tuple[_Level, set[str]]]) -> bool:
    mine = next((names for at, names in reversed(known) if at is level), set())
    if name in mine:
        return True
    if isinstance(level.scope, _FUNCTIONS) and _binds(level.scope, name):
        return False
    outer = next((names for at, names in known if isinstance(at.scope, ast.Module) and at.file == level.file), set())
    return name in outer or _is_global(level.syntax, name)


def _binds(scope: ast.AST, name: str) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
        for node in ast.walk(scope)
    )


def _is_global(syntax: Syntax, name: str) -> bool:
    """Whether a function may bind it anew, or write to a part of it."""
    return any(isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names for node in ast.walk(syntax.tree))


def _is_set(syntax: Syntax, attribute: str) -> bool:
    """Whether an attribute of this name is set anywhere but where objects are made."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Store)
        for scope in ast.walk(syntax.tree)
        if isinstance(scope, _FUNCTIONS) and scope.name != "__init__"
        for node in ast.walk(scope)
    )


def _pure(syntax: Syntax, call: ast.Call, depth: int = 0) -> bool:
    name = syntax.name(call.func)
    if any(word in name.lower() for word in _IMPURE):
        return False
    if f"{name}.".startswith(_PURE) or (name.endswith("()") and name.startswith(_PURE)):
        return True
    if isinstance(call.func, ast.Attribute) and call.func.attr in _READS:
        return True
    function = _function(syntax, call.func)
    return function is not None and depth < shared.FUNCTIONS_DEEP.value and _keeps(syntax, function, depth + 1)


def _keeps(syntax: Syntax, function: ast.AST, depth: int) -> bool:
    """Whether a function of the user's gives the same for the same, and changes nothing."""
    inside = list(ast.walk(function))
    if any(isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom)) for node in inside):
        return False
    return all(_pure(syntax, node, depth) and not _is_change(node) for node in inside if isinstance(node, ast.Call))


def _function(syntax: Syntax, func: ast.expr) -> ast.AST | None:
    name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
    found = [node for node in ast.walk(syntax.tree) if isinstance(node, _FUNCTIONS) and node.name == name]
    return found[0] if len(found) == 1 else None


def _changes(level: _Level, inside: ast.AST, depth: int = 0) -> bool:
    """Whether weights or variables may change in it, or in functions of the file that it calls."""
    for node in ast.walk(inside):
        if isinstance(node, ast.Call):
            if _is_change(node):
                return True
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            called = (
                function
                for function in ast.walk(level.syntax.tree)
                if depth < shared.FUNCTIONS_DEEP.value
                and isinstance(function, _FUNCTIONS)
                and name
                and function.name == name
            )
            if any(function is not inside and _changes(level, function, depth + 1) for function in called):
                return True
    return False


def _is_change(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _CHANGES


def _names(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _roots(target: ast.AST) -> set[str]:
    """The names that an assignment binds, or to a part of which it writes."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for item in target.elts for name in _roots(item)}
    while isinstance(target, (ast.Attribute, ast.Subscript, ast.Starred)):
        target = target.value
    return {target.id} if isinstance(target, ast.Name) else set()
