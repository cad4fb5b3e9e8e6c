"""Whether the turns of a Python loop need each other: where none does, all of them can be one batch.

Told by the names that a turn binds and reads. A turn that reads what the one before it made (a state, a sum that is
used), changes an object's attributes, assigns to variables, or may end the loop needs the others. What turns only
collect (``rows.append(x)``, ``total += x``, ``out[i] = x``) may be collected of a batch as well. Functions of the
user's that the loop calls are looked into for what they change: those that ran in it, and those of the same file that
are called by name, for a compiled one has no frames. The loop of the training steps is never such a loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.loop_parts import goes_over_parts
from tfperfkit_rules.measures.source_text import Loop, enclosing

_COLLECTS = frozenset({"append", "extend", "add", "update", "write", "writerow"})
#: What changes a variable, a metric, an environment or a generator's state from one turn to the next.
_CHANGES = (
    frozenset({"assign", "assign_add", "assign_sub", "apply_gradients", "apply", "update_state", "reset_state"})
    | frozenset({"minimize", "step", "scatter_update", "train_on_batch", "fit", "send", "pop", "popleft"})
    | frozenset({"set_weights", "load_weights", "adapt"})
)  # fmt: skip
#: Calls whose result is dropped, and that change nothing that another iteration reads.
_SPEAKS = ("builtins.print", "logging.", "tensorflow.print")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def turns_apart(evidence: Evidence, file: str, loop: Loop, below: Sequence[Frame] = ()) -> bool:
    """Whether no turn of a ``for`` loop or a comprehension needs another; False for ``while``, for loops over layers
    and variables, and where the source was not kept. ``below``: frames of the user's that ran inside it."""
    syntax = evidence.syntax(file)
    node = _node(syntax.tree, loop) if syntax is not None else None
    if syntax is None or node is None or goes_over_parts(evidence, file, loop) or _trains(evidence, file, loop):
        return False
    if isinstance(node, ast.For) and (_ends(node.body) or _carried(node)):
        return False
    body = node.body if isinstance(node, ast.For) else [node]
    if any(_acts(syntax, body, item) for part in body for item in ast.walk(part)):
        return False
    functions = (*_called(evidence, below), *_named(syntax.tree, body))
    return not any(_changes(item) for part in (*body, *functions) for item in ast.walk(part))


def _trains(evidence: Evidence, file: str, loop: Loop) -> bool:
    """Whether the training steps are turns of this loop, or of one within it."""
    steps = evidence.steps.loop if evidence.work is None else None
    return steps is not None and steps.file == file and loop.line <= steps.line <= loop.last


def _node(tree: ast.AST, loop: Loop) -> ast.For | ast.expr | None:
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) == loop.line and getattr(node, "end_lineno", 0) == loop.last:
            if isinstance(node, ast.For):
                return node
            if isinstance(node, _COMPREHENSIONS):
                return node
    return None


def _called(evidence: Evidence, below: Sequence[Frame]) -> Iterator[ast.AST]:
    """The functions that these frames are in."""
    for frame in below:
        function, syntax = enclosing(evidence, frame.file, frame.line), evidence.syntax(frame.file)
        if function is None or syntax is None:
            continue
        for node in ast.walk(syntax.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno == function.line:
                yield node


def _named(tree: ast.AST, body: Sequence[ast.AST]) -> list[ast.AST]:
    """The functions of the file that these lines call by name, and those that they call: a compiled one, such as a
    training step, has no frames of its own."""
    known: dict[str, list[ast.AST]] = {}
    for item in ast.walk(tree):
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            known.setdefault(item.name, []).append(item)
    found: list[ast.AST] = []
    left = list(body)
    while left:
        for call in ast.walk(left.pop()):
            if isinstance(call, ast.Call) and (name := _own_name(call.func)) in known:
                new = known.pop(name)
                found += new
                left += new
    return found


def _own_name(function: ast.expr) -> str:
    """Of a call of a function, or of a method of the same object."""
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _changes(node: ast.AST) -> bool:
    """Whether it changes what another turn may read, beside names of its own."""
    if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)):
        return True
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
        while isinstance(node, ast.Subscript):
            node = node.value
        return isinstance(node, ast.Attribute)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES


def _acts(syntax: Syntax, body: Sequence[ast.AST], node: ast.AST) -> bool:
    """Whether a statement calls something outside of the iteration for its effect: the result is dropped. What the
    iteration made itself, and what only collects or prints, does not count."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or _collector(node.value) is not None:
        return False
    if syntax.name(node.value.func).startswith(_SPEAKS):
        return False
    root = syntax.root(node.value.func)
    own = {
        item.id
        for part in body
        for item in ast.walk(part)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }
    return not isinstance(node.value.func, ast.Attribute) or not isinstance(root, ast.Name) or root.id not in own


def _ends(body: Sequence[ast.AST]) -> bool:
    """Whether a turn may end the loop."""
    for node in body:
        if isinstance(node, (ast.Break, ast.Return)):
            return True
        if isinstance(node, _SCOPES):
            continue
        inner = isinstance(node, (ast.For, ast.While))
        below = [item for item in ast.iter_child_nodes(node) if not (inner and isinstance(item, ast.Break))]
        if inner:  # a break in there ends that loop
            if any(isinstance(item, ast.Return) for item in ast.walk(node)):
                return True
        elif _ends(below):
            return True
    return False


def _carried(loop: ast.For) -> bool:
    """Whether a turn reads a name that the one before may have bound: read before it is surely bound, in the order of
    evaluation. What only collects is no reading; where it is read elsewhere in the loop too it is carried."""
    turn = _Turn({item.id for item in ast.walk(loop.target) if isinstance(item, ast.Name)})
    turn.all(loop.body)
    return bool(turn.read & (turn.stored | turn.collected))


class _Turn:
    """What one turn does with names. ``bound``: by now, whatever way it went; ``read``: before it was bound;
    ``collected``: what it puts its results into."""

    def __init__(self, bound: set[str]) -> None:
        self.bound = bound
        self.stored: set[str] = set()
        self.read: set[str] = set()
        self.collected: set[str] = set()

    def all(self, body: Sequence[ast.AST]) -> None:
        for node in body:
            self.one(node)

    def maybe(self, *ways: Sequence[ast.AST]) -> None:
        """Of several ways one is gone: bound is what each of them binds."""
        before, after = self.bound, []
        for way in ways:
            self.bound = set(before)
            self.all(way)
            after.append(self.bound)
        self.bound = set.intersection(*after)

    def one(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            self.name(node.id, not isinstance(node.ctx, ast.Load))
        elif isinstance(node, ast.AugAssign):
            self.one(node.value)
            self.target(node.target, collects=True)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                self.one(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.target(target)
        elif isinstance(node, ast.Expr) and (owner := _collector(node.value)) is not None:
            self.all([item for item in ast.iter_child_nodes(node.value) if not isinstance(item, ast.Attribute)])
            self.collected.add(owner)
        elif isinstance(node, (ast.If, ast.IfExp)):
            self.one(node.test)
            ways = (node.body, node.orelse)
            self.maybe(*(way if isinstance(way, list) else [way] for way in ways))
        elif isinstance(node, ast.For):
            self.one(node.iter)
            self.maybe([node.target, *node.body, *node.orelse], [])
        elif isinstance(node, (ast.While, ast.Try)):
            self.maybe(list(ast.iter_child_nodes(node)), [])
        elif isinstance(node, (*_COMPREHENSIONS, *_SCOPES)):
            self.scope(node)
        else:
            self.all(list(ast.iter_child_nodes(node)))

    def name(self, name: str, stores: bool) -> None:
        if stores:
            self.bound.add(name)
            self.stored.add(name)
        elif name not in self.bound:
            self.read.add(name)

    def scope(self, node: ast.AST) -> None:
        """Names of its own are nobody else's."""
        own = {item.id for item in ast.walk(node) if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)}
        own |= {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
        for item in ast.walk(node):
            if isinstance(item, ast.Name) and item.id not in own:
                self.name(item.id, False)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.name(node.name, True)

    def target(self, node: ast.AST, collects: bool = False) -> None:
        """What an assignment binds; an element of something is collected there."""
        if isinstance(node, ast.Subscript):
            self.one(node.slice)
            root: ast.AST = node
            while isinstance(root, (ast.Subscript, ast.Attribute)):
                root = root.value
            if isinstance(root, ast.Name) and root.id not in self.bound:  # an array of the turn's own is nobody's
                self.collected.add(root.id)
        elif isinstance(node, (ast.Tuple, ast.List, ast.Starred)):
            for item in ast.iter_child_nodes(node):
                self.target(item, collects)
        elif isinstance(node, ast.Name) and collects and node.id not in self.bound:
            self.collected.add(node.id)
        else:
            self.one(node)


def _collector(node: ast.AST) -> str | None:
    """The name that a call by itself puts something into."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _COLLECTS
        and isinstance(node.func.value, ast.Name)
    ):
        return node.func.value.id
    return None
