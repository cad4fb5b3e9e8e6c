"""The analysis of a whole file: which objects may be one, and what each name may stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tfperfkit.syntax.bindings import CALLABLES, Frames, parameters
from tfperfkit.syntax.flow.classes import Classes, get_decorators
from tfperfkit.syntax.flow.state import MAX_ROUNDS, Undecided
from tfperfkit.syntax.flow.statements import Statements
from tfperfkit.syntax.flow.values import NOTHING, Value

#: Decorators of methods whose first parameter is no object of the class.
_OF_CLASS = frozenset({"staticmethod", "classmethod", "?"})


class Program(Statements):
    """Goes through all code of a file until nothing new is learned. Raises ``Undecided`` if that takes too long."""

    def __init__(self, tree: ast.Module, known: Mapping[ast.Call, str], loop: ast.AST | None = None) -> None:
        frames = Frames(tree)
        super().__init__(frames, Classes(frames), known)
        self.seen = {}
        self.ends = {}
        self.continued = []
        self._tree = tree
        self._functions = [node for node in self.frames.of if isinstance(node, CALLABLES)]
        frame = (
            self.frames.of.get(loop) if isinstance(loop, CALLABLES) else self.frames.home.get(loop) if loop else None
        )
        while frame is not None:
            self.linked.add(frame.node)
            frame = frame.parent
        #: Facts that were known when the code of each was last gone through: with no more, it gives nothing new.
        self._known_before: dict[ast.AST, int] = {}
        settled = False
        for _ in range(MAX_ROUNDS):
            before = self.heap.version
            self._go_through(closed=settled)
            if self.heap.version == before:
                if settled:
                    break
                settled = True
        else:
            raise Undecided("the file does not settle")

    def _go_through(self, closed: bool) -> None:
        self.frame, self.env = self.frames.module, {}
        if self._learned_since(self._tree):
            self.execute(self._tree.body)
        for node in self._functions:
            if node not in self.linked and node not in self.heap.escaped and (not closed or node in self.followed):
                continue
            if node not in self.linked:
                self.linked.add(node)
                self.heap.version += 1
            self.frame, self.env, self.jumps = self.frames.of[node], {}, []
            self._receive(node, closed)
            if not self._learned_since(node):
                continue
            if isinstance(node, ast.Lambda):
                result = self.evaluate(node.body)
                self.results[node] = self.heap.join(self.results.get(node, NOTHING), result)
            else:
                for default in (*node.args.defaults, *node.args.kw_defaults):
                    if default is not None:
                        self.given[default] = self._default(default)
                self.execute(node.body)
        self.frame = self.frames.module

    def _learned_since(self, node: ast.AST) -> bool:
        """Return whether anything is new since a piece of code was last gone through. Note that it is gone through
        now."""
        before, self._known_before[node] = self._known_before.get(node), self.heap.version
        return before != self.heap.version

    def _receive(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, closed: bool) -> None:
        """Give values to parameters that get them from elsewhere. ``closed``: all calls in the file are known."""
        frame = self.frames.of[node]
        owner = frame.parent.node if frame.parent is not None else None
        escaped = node in self.heap.escaped or owner in self.heap.escaped
        first = [*node.args.posonlyargs, *node.args.args][:1]
        for item in parameters(node.args):
            name = (frame, item.arg)
            is_object = isinstance(owner, ast.ClassDef) and item in first
            if escaped and not is_object:
                self.bind(name, self.unknown_value())
            elif name not in self.names and closed:
                # Nobody in the file calls it with this: an object of its own.
                own = self.find_outside_object(owner) if is_object and not get_decorators(node) & _OF_CLASS else None
                self.bind(name, own or Value(region=self.allocate(node, item.arg, whole=True).region))
        if escaped and node in self.results and self.results[node].region is not None:
            self.heap.unify(self.outside, self.heap.collapse(self.results[node].region or self.outside))
