"""Follow the user's functions; note calls that may change anything that they can reach."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfperfkit.syntax.bindings import Callable, Frame, Frames
from tfperfkit.syntax.call import Given, bind_arguments
from tfperfkit.syntax.flow.classes import Classes, get_decorators
from tfperfkit.syntax.flow.objects import Objects
from tfperfkit.syntax.flow.state import Jumps
from tfperfkit.syntax.flow.values import EVERY, NONE, NOTHING, Code, Value, replace

#: Calls that are followed within each other.
MAX_DEPTH = 8
#: Comprehensions that run where they stand.
_AT_ONCE = (ast.ListComp, ast.SetComp, ast.DictComp)


class Functions(Objects):
    """Follows calls of functions."""

    def __init__(self, frames: Frames, classes: Classes, known: Mapping[ast.Call, str]) -> None:
        super().__init__(frames, classes)
        #: Targets of calls that were observed, if the source does not show them.
        self.known = known
        self.stack: list[ast.AST] = []
        #: Functions that were followed from a call, and those all calls of which are taken together.
        self.followed: set[ast.AST] = set()
        self.linked: set[ast.AST] = set()
        #: Calls of each function.
        self.called_at: dict[ast.AST, set[ast.AST]] = {}
        self._parents = _list_captured(frames)
        self.results: dict[ast.AST, Value] = {}
        self.given: dict[ast.expr, Value] = {}
        self.immediate: set[ast.expr] = set()

    def _values(self, node: ast.Call) -> list[Value]:
        return [self.given[item] for item in (*node.args, *(word.value for word in node.keywords))]

    def call_code(self, node: ast.AST, code: Code, call: ast.Call | None, varies: bool) -> Value:
        """Call a function of the user; return its result. ``call``: None if it is given nothing but its object."""
        function = code.node
        skip = int(code.bound is not None)
        call = call if call is not None else ast.Call(ast.Name("", ast.Load()), [], [])
        given = bind_arguments(function.args, call, skip=skip)
        if given is None or isinstance(function, ast.AsyncFunctionDef) or "?" in get_decorators(function):
            self.heap.escape(Value(code=code))
            bound = [code.bound] if code.bound is not None else []
            return self.call_unknown(node, Value(code=code, region=self.outside), *bound, *self._values(call))
        arguments = {name: self._argument(node, function, name, item) for name, item in given.items()}
        if code.bound is not None:
            first = [*function.args.posonlyargs, *function.args.args]
            if first:
                arguments[first[0].arg] = code.bound
            elif function.args.vararg is None:
                return self.call_unknown(node, code.bound)
        return self.run_function(node, function, arguments, varies)

    def _argument(self, node: ast.AST, function: Callable, name: str, given: Given) -> Value:
        values = [self.given.get(item, NOTHING) for item in given.values]
        if given.rest:
            kind = "dict" if function.args.kwarg is not None and function.args.kwarg.arg == name else "tuple"
            parts = [
                self.heap.join(value, self.element(value, node)) if isinstance(item, ast.Starred) else value
                for item, value in zip(given.values, values, strict=True)
            ]
            return self.hold(self.allocate(node, name, type=kind), *parts)
        result = NOTHING
        for item, value in zip(given.values, values, strict=True):
            result = self.heap.join(result, value if given.sure else self.element(value, node))
            if not given.sure and not isinstance(item, ast.Starred):
                result = self.heap.join(result, value)
        if given.default is not None:
            result = self.heap.join(result, self._default(given.default))
        return result

    def _default(self, node: ast.expr) -> Value:
        """Return the value of a default, which is evaluated once, as the function is defined."""
        iterating, self.iterating = self.iterating, False
        try:
            value = self.evaluate(node)
        finally:
            self.iterating = iterating
        if value.region is not None and iterating:
            self.heap.age(value.region)
        return replace(value, own=False, varies=False)

    def run_function(self, node: ast.AST, function: Callable, arguments: dict[str, Value], varies: bool) -> Value:
        """Follow a function with values for its parameters; return its result."""
        frame = self.frames.of[function]
        self.called_at.setdefault(function, set()).add(node)
        is_generator = frame.yields
        too_deep = len(self.stack) >= MAX_DEPTH or function in self.stack
        if not self.iterating and (too_deep or function in self.linked):
            return self._link(function, frame, arguments, is_generator)
        if too_deep:
            return self.call_unknown(node, *arguments.values())
        self.followed.add(function)
        outer, jumps_outside = self.frame, self.jumps
        control = self.control
        self.control = control or varies
        start = self.copy_env()
        self.stack.append(function)
        self.path.append(node)
        self.inner.append(frame)
        self.frame, self.jumps = frame, []
        try:
            jumps = self._run(function, frame, arguments)
            if jumps.varying and not self.control:
                self.control = True
                self.env = start
                jumps = self._run(function, frame, arguments)
        finally:
            self.stack.pop()
            self.path.pop()
            self.inner.pop()
            self.frame, self.jumps = outer, jumps_outside
        self.control = control
        self._leave(frame)
        if is_generator:
            made = self.hold(self.allocate(node, "generator", type="iterator"), jumps.yielded)
            return replace(made, lazy=node not in self.immediate)
        return jumps.result.with_variation(varies or jumps.varying)

    def _link(self, function: Callable, frame: Frame, arguments: dict[str, Value], is_generator: bool) -> Value:
        """Note what a function is called with, without following it: all of its calls are taken together."""
        if function not in self.linked:
            self.linked.add(function)
            self.heap.version += 1
        inner, self.inner = self.inner, []
        for name, value in arguments.items():
            self.bind((frame, name), value)
        self.inner = inner
        result = self.results.get(function, NOTHING)
        return replace(result, lazy=True) if is_generator and result is not NOTHING else result

    def _run(self, function: Callable, frame: Frame, arguments: dict[str, Value]) -> Jumps:
        jumps = Jumps(self.control, False)
        self.jumps.append(jumps)
        if self.env is not None:
            self.env = {name: value for name, value in self.env.items() if name[0] is not frame}
        for name, value in arguments.items():
            self.bind((self.frame, name), value)
        if isinstance(function, ast.Lambda):
            jumps.result = self.evaluate(function.body)
        else:
            self.execute(function.body)
            if self.env is not None:
                jumps.result = self.heap.join(jumps.result, NONE)
        self.jumps.pop()
        self.env = self.join_envs([self.env, *jumps.returns])
        return jumps

    def _leave(self, frame: Frame) -> None:
        """Forget the names of a call that ended, but for functions that were defined in it."""
        if self.env is None:
            return
        for name in [name for name in self.env if name[0] is frame]:
            value = replace(self.env.pop(name), own=False, key=None)
            if frame in self._parents:
                before = self.captured.get(name, NOTHING)
                after = self.heap.join(before, value)
                if not self.is_same(before, after):
                    self.heap.version += 1
                self.captured[name] = after

    def call_unknown(self, node: ast.AST, *values: Value) -> Value:
        """Note a call that may change anything that it can reach; return its result."""
        values = tuple(value for value in values if value is not NOTHING)
        apis = [value.api for value in values[:1] if value.api and value.type != "method"]
        package = apis[0].partition(".")[0] if apis else ""
        closed = bool(package) and package != "builtins" and not any(map(self._holds_code, values))
        region = self.library(package) if closed else self.outside
        for value in values:
            self.heap.escape(value)
            if value.region is not None:
                for each in list(self.heap.reach(value.region)):
                    for held in each.slots.values():
                        self.heap.escape(held)
                self.heap.unify(region, self.heap.collapse(value.region))
            if value.code is not None and value.code.bound is not None and value.code.bound.region is not None:
                self.heap.unify(region, self.heap.collapse(value.code.bound.region))
        region = self.heap.collapse(region)
        result = Value(region=region, varies=self.iterating)
        if self.iterating:
            region.old = True
            self.heap.vary(region, EVERY)
            self.note(region, EVERY, "assign")
            self.doubt(f"line {getattr(node, 'lineno', 0)}: it is not known what this changes")
            if not closed and not self.heap.havoc:
                self.heap.havoc = True
                self.heap.version += 1
        return result

    def _holds_code(self, value: Value) -> bool:
        if value.code is not None or value.instance is not None or value.made is not None:
            return True
        if value.region is None:
            return False
        return any(
            region.code or any(held.code is not None or held.instance is not None for held in region.slots.values())
            for region in self.heap.reach(value.region)
        )

    def evaluate(self, node: ast.expr) -> Value:
        """Return what an expression may stand for, and note what evaluating it does."""
        raise NotImplementedError

    def execute(self, statements: Sequence[ast.stmt]) -> None:
        """Follow statements."""
        raise NotImplementedError


def _list_captured(frames: Frames) -> set[Frame | None]:
    """List the scopes whose names a function that is defined in them may read later: a comprehension runs at once."""
    found: set[Frame | None] = set()
    for frame in frames.of.values():
        holder = None if isinstance(frame.node, _AT_ONCE) else frame.parent
        while holder is not None:
            found.add(holder)
            holder = holder.parent if isinstance(holder.node, _AT_ONCE) else None
    return found
