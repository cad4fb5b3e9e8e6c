"""Calls that give the same each time, by the syntax tree: all arguments are constants, and the function makes what it
returns of them alone.

Only what is surely so counts: literals, arithmetic on them and names that the file binds once, to such; functions that
read their arguments, such names, mathematics of NumPy's and Python's, and other functions of this kind.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.records.samples import Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import find_nodes
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import enclosing, frame_loops

#: Modules whose functions make the same of the same, but for those below.
_MATHEMATICS = (
    "numpy",
    "math",
    "cmath",
    "builtins",
    "itertools",
    "functools",
    "operator",
    "collections",
    "re",
    "string",
)
_OTHERS = ("numpy.random.", "numpy.load", "numpy.from", "numpy.gen", "numpy.mem", "numpy.save", "numpy.empty")
_OF_PYTHON = frozenset(
    f"builtins.{name}"
    for name in ("open", "input", "next", "id", "hash", "vars", "globals", "locals", "exec", "eval", "__import__")
)


class ConstantCall(NamedTuple):
    """``place``: the line that calls ``name``; ``part``: of the samples asked about, in that call."""

    place: Place
    name: str
    part: float


def constant_call(evidence: Evidence, stacks: Counter[Stack]) -> ConstantCall | None:
    """The call that holds most of these samples and is repeated; the outermost of several. None where there is none."""
    held: Counter[tuple[Place, str]] = Counter()
    known: dict[tuple[Place, Place], str] = {}
    for stack, count in stacks.items():
        for index, (above, below) in enumerate(zip(stack.frames, stack.frames[1:], strict=False)):
            if evidence.work is not None and not any(
                frame_loops(evidence, frame) for frame in stack.frames[: index + 1]
            ):
                continue
            key = (above.file, above.line), (below.file, below.line)
            if key not in known:
                known[key] = _name_constant_call(evidence, *key)
            if known[key]:
                held[key[0], known[key]] += count
                break
    for (place, name), count in held.most_common(1):
        if count >= shared.MOSTLY.value * stacks.total():
            return ConstantCall(place, name, count / stacks.total())
    return None


def _name_constant_call(evidence: Evidence, place: Place, below: Place) -> str:
    """The name of the function that a line calls with constants alone, to get to another line; "" for others."""
    syntax, other = evidence.syntax(place[0]), evidence.syntax(below[0])
    function = enclosing(evidence, *below)
    node = _find_function(other, function.name) if other is not None and function is not None else None
    if syntax is None or other is None or node is None or function is None or node.lineno != function.line:
        return ""
    here = [call for call in syntax.calls_at(place[1]) if isinstance(call.func, ast.Name) and call.func.id == node.name]
    given = [value for call in here for value in (*call.args, *(word.value for word in call.keywords))]
    same = len(here) == 1 and all(_is_constant(syntax, value) for value in given)
    return node.name if same and _returns_constant(other, node, frozenset()) else ""


def _find_function(syntax: Syntax, name: str) -> ast.FunctionDef | None:
    """The one function of the file's top level with this name."""
    function = syntax.find_only_function(name)
    node = function.node if function is not None and function.node in syntax.tree.body else None
    return node if isinstance(node, ast.FunctionDef) and not _count_bindings(syntax, name) else None


def _count_bindings(syntax: Syntax, name: str) -> int:
    """How often a file binds a name, in whatever scope."""
    names = [node for node in syntax.find_nodes(ast.Name) if node.id == name and not isinstance(node.ctx, ast.Load)]
    return len(names) + sum(node.arg == name for node in syntax.find_nodes(ast.arg))


def _is_constant(syntax: Syntax, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, (ast.Tuple, ast.UnaryOp, ast.BinOp)):
        return all(_is_constant(syntax, item) for item in ast.iter_child_nodes(node) if isinstance(item, ast.expr))
    if isinstance(node, ast.Name):
        bound = syntax.bound_to(node)
        return len(bound) == 1 and _count_bindings(syntax, node.id) == 1 and _is_constant(syntax, bound[0])
    return isinstance(node, ast.Attribute) and _is_mathematics(syntax.name(node))


def _returns_constant(syntax: Syntax, function: ast.FunctionDef, seen: frozenset[str]) -> bool:
    given = (*function.args.defaults, *(item for item in function.args.kw_defaults if item is not None))
    if function.decorator_list or not all(_is_constant(syntax, item) for item in given):
        return False
    inside = [node for part in function.body for node in find_nodes(part, ast.AST)]
    kinds = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef)
    if any(isinstance(node, kinds) or _stores_attribute(node) for node in inside):
        return False
    own = {node.id for node in inside if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in find_nodes(function, ast.arg)}
    names = [node for node in inside if isinstance(node, ast.Name) and node.id not in own]
    whole = _find_attribute_chains(inside)
    return all(_reads_constant(syntax, whole.get(node, node), node, seen | {function.name}) for node in names)


def _find_attribute_chains(nodes: Iterable[ast.AST]) -> dict[ast.Name, ast.expr]:
    """For each name the chain of attributes that begins with it: ``np.random.normal`` of ``np``."""
    found: dict[ast.Name, ast.expr] = {}
    for node in nodes:
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(node, ast.Attribute) and isinstance(root, ast.Name):
            found.setdefault(root, node)  # outer ones come first
    return found


def _reads_constant(syntax: Syntax, node: ast.expr, name: ast.Name, seen: frozenset[str]) -> bool:
    if _is_mathematics(syntax.name(node)) or _is_constant(syntax, name):
        return True
    function = _find_function(syntax, name.id)
    return function is not None and (name.id in seen or _returns_constant(syntax, function, seen))


def _is_mathematics(name: str) -> bool:
    return name.partition(".")[0] in _MATHEMATICS and not f"{name}.".startswith(_OTHERS) and name not in _OF_PYTHON


def _stores_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
