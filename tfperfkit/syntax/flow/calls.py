"""Calls: of the user's functions and classes, which are followed, and of APIs, which the table of effects describes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfperfkit.syntax.bindings import Callable, Frame, Frames, parameters
from tfperfkit.syntax.call import Given, bind_arguments
from tfperfkit.syntax.effects import ACTIVE_TYPES, Effect, find_effect
from tfperfkit.syntax.flow.classes import Classes, get_decorators
from tfperfkit.syntax.flow.objects import CONTAINERS, Objects, canonical_api, get_table_type
from tfperfkit.syntax.flow.state import Jumps, Undecided
from tfperfkit.syntax.flow.values import ATOM, ELEMENTS, EVERY, NONE, NOTHING, Code, Value, replace

#: Calls that are followed within each other.
MAX_DEPTH = 8
#: Functions that return the function that they are given, to be called in the same way.
_KEEPS_FUNCTION = frozenset({"tensorflow.function", "tensorflow.autograph.experimental.do_not_convert"})
#: Functions that may run, read or bind anything of the file.
HIDDEN = frozenset(
    {f"builtins.{name}" for name in ("exec", "eval", "globals", "locals", "vars", "__import__", "compile")}
)
#: Functions that call another one with one element of each other argument.
_GIVES_ELEMENTS = frozenset(
    {f"builtins.{name}" for name in ("map", "filter", "sorted", "min", "max")}
    | {f"itertools.{name}" for name in ("dropwhile", "filterfalse", "groupby", "takewhile")}
    | {"list.sort"}
)
#: Keyword arguments by which a function of NumPy writes to another argument.
_OVERWRITES = frozenset({"overwrite_input", "copy", "inplace", "where"})


class Calls(Objects):
    """Follows calls."""

    def __init__(self, frames: Frames, classes: Classes, known: Mapping[ast.Call, str]) -> None:
        super().__init__(frames, classes)
        #: What calls were seen to be, where the source does not tell.
        self.known = known
        self.stack: list[ast.AST] = []
        #: Functions that were followed from a call, and those all calls of which are taken together.
        self.followed: set[ast.AST] = set()
        self.linked: set[ast.AST] = set()
        self._parents = {frame.parent for frame in frames.of.values()}
        self.results: dict[ast.AST, Value] = {}
        self.given: dict[ast.expr, Value] = {}
        self.immediate: set[ast.expr] = set()

    def call(self, node: ast.Call) -> Value:
        """Return what a call returns, and note what it does."""
        if isinstance(node.func, ast.Attribute) and _is_super(node.func.value):
            return self._call_super(node, node.func.attr)
        callee = self.evaluate(node.func)
        name = canonical_api(callee.api) if callee.api and callee.type != "method" else ""
        if name in HIDDEN:
            raise Undecided(name)
        effect = find_effect(callee.api if callee.type == "method" else name) if callee.api else None
        if effect is not None and "consumes" in effect.kinds:
            self.immediate.update(item for item in node.args if isinstance(item, (ast.GeneratorExp, ast.Call)))
        for item in (*node.args, *(word.value for word in node.keywords)):
            expression = item.value if isinstance(item, ast.Starred) else item
            self.given[item] = self.given[expression] = self.evaluate(expression)
        known = self.known.get(node)
        if known is not None and callee.code is None and callee.made is None and effect is None:
            return self._call_known(node, callee, known)
        return self.call_value(node, callee, name, effect)

    def call_value(self, node: ast.Call, callee: Value, name: str = "", effect: Effect | None = None) -> Value:
        """Call a value with the arguments of a call, which are evaluated."""
        if callee is NOTHING:
            return NOTHING
        if callee.code is not None:
            return self.call_code(node, callee.code, node, callee.varies)
        if callee.made is not None:
            return self._construct(node, callee.made)
        if name in _KEEPS_FUNCTION:
            return self._keep_function(node)
        special = self._call_special(node, name)
        if special is not None:
            return special
        if effect is not None:
            return self._call_api(node, callee, effect, name)
        if callee.instance is not None:
            return self._call_instance(node, callee)
        if callee.type and not callee.api:
            effect = find_effect(f"{get_table_type(callee.type)}.__call__")
            if effect is not None:
                return self._call_api(node, replace(callee, type="method", api=f"{callee.type}.__call__"), effect, "")
        return self.call_unknown(node, callee, *self._values(node))

    def _call_known(self, node: ast.Call, callee: Value, name: str) -> Value:
        """Call what the run has shown to be an API: ``layer.__call__``."""
        effect = find_effect(name)
        if effect is None:
            return self.call_unknown(node, callee, *self._values(node))
        if callee.region is not None and self.heap.find(callee.region) is self.heap.find(self.outside):
            callee = replace(callee, region=self.allocate(node, "known", whole=True).region, varies=False)
            self.heap.age(callee.region)
        return self._call_api(node, replace(callee, type="method", api=name), effect, "")

    def _values(self, node: ast.Call) -> list[Value]:
        return [self.given[item] for item in (*node.args, *(word.value for word in node.keywords))]

    # The user's functions

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
        """The value of a default, which is evaluated once, as the function is defined."""
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

    # The user's classes

    def _construct(self, node: ast.Call, made: ast.ClassDef) -> Value:
        lineage = self.lineage(made)
        decorators = {
            getattr(item, "attr", getattr(item, "id", "?")) for item in map(_undecorated, made.decorator_list)
        }
        if lineage is None or not all(info.plain for info in lineage[0]) or decorators - {"dataclass"}:
            self.heap.escape(Value(instance=made))
            return self.call_unknown(node, *self._values(node))
        kind = next((found for api in lineage[1] if (found := self._instance_type(api)) != "object"), "object")
        if kind == "?":
            self.heap.escape(Value(instance=made))
            return self.call_unknown(node, *self._values(node))
        value = replace(self.allocate(node, type=kind), instance=made)
        try:
            init = self.find_method(made, "__init__")
        except LookupError:
            return self.call_unknown(node, *self._values(node))
        if init is not None:
            self.call_code(node, Code(init, value), node, False)
        elif "dataclass" in decorators:
            fields = [name for info in reversed(lineage[0]) for name in info.fields]
            for index, item in enumerate(node.args):
                for name in fields if isinstance(item, ast.Starred) else fields[index : index + 1]:
                    self.write(value, name, self.given[item])
            for word in node.keywords:
                for name in [word.arg] if word.arg is not None else fields:
                    self.write(value, name, self.given[word.value])
        else:
            self.hold(value, *self._values(node))
        return value

    def _instance_type(self, api: str) -> str:
        name = canonical_api(api)
        if name in ("builtins.object", "abc.ABC", "typing.Protocol", "typing.Generic"):
            return "object"
        if name == "tensorflow.Module":
            return "module"
        effect = find_effect(name)
        return effect.result if effect is not None and effect.result in ACTIVE_TYPES | {"module"} else "?"

    def _call_instance(self, node: ast.Call, callee: Value) -> Value:
        """Call an object of a class of the user."""
        names = ("__call__", "call") if callee.type == "layer" else ("__call__",)
        if callee.instance is not None:
            for name in names:
                try:
                    method = self.find_method(callee.instance, name)
                except LookupError:
                    break
                if method is not None and not self._trains(node):
                    return self.call_code(node, Code(method, callee), _without_training(node), callee.varies)
        return self.call_unknown(node, callee, *self._values(node))

    def _call_super(self, node: ast.Call, name: str) -> Value:
        for item in (*node.args, *(word.value for word in node.keywords)):
            expression = item.value if isinstance(item, ast.Starred) else item
            self.given[item] = self.given[expression] = self.evaluate(expression)
        frame = self.frame
        while frame.parent is not None and not frame.parent.is_class:
            frame = frame.parent
        owner = frame.parent.node if frame.parent is not None else None
        if not isinstance(owner, ast.ClassDef) or not isinstance(frame.node, (ast.FunctionDef, ast.Lambda)):
            return self.call_unknown(node, *self._values(node))
        first = [*frame.node.args.posonlyargs, *frame.node.args.args][:1]
        bound = self.value_of((frame, first[0].arg)) if first else self.unknown_value()
        for base in self.bases.get(owner, ()):
            if base.made is not None:
                try:
                    method = self.find_method(base.made, name)
                except LookupError:
                    break
                if method is not None:
                    return self.call_code(node, Code(method, bound), node, False)
        lineage = self.lineage(owner)
        if name == "__init__" and lineage is not None and all(self._instance_type(api) != "?" for api in lineage[1]):
            return self.hold(bound, *self._values(node)) and NONE
        return self.call_unknown(node, bound, *self._values(node))

    # APIs

    def _keep_function(self, node: ast.Call) -> Value:
        values = [self.given[item] for item in node.args]
        if len(values) == 1 and values[0].code is not None:
            return values[0]
        if not values:
            return Value(api="tensorflow.function")
        return self.call_unknown(node, *values)

    def _call_special(self, node: ast.Call, name: str) -> Value | None:
        if name == "builtins.getattr":
            return self._call_getattr(node)
        if name == "collections.defaultdict" and node.args:
            return self._make_defaultdict(node)
        if name in ("builtins.max", "builtins.min") and len(node.args) > 1 and not node.keywords:
            result = NOTHING
            values = self._values(node)
            if self.may_run_code(*values):
                return self.call_unknown(node, *values)
            for value in values:
                self.read_deeply(value)
                result = self.heap.join(result, value)
            return replace(
                result, own=False, key=None, varies=any(map(self.heap.varies_deeply, values)) and self.iterating
            )
        if name in ("builtins.zip", "builtins.enumerate"):
            return self._make_pairs(node, name)
        if name == "builtins.range":
            return Value(type="range", varies=any(map(self.heap.varies_deeply, self._values(node))) and self.iterating)
        return None

    def _call_getattr(self, node: ast.Call) -> Value:
        values = self._values(node)
        name = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else None
        if not isinstance(name, str):
            return self.call_unknown(node, *values)
        found = self.load_attribute(values[0], name, node)
        return self.heap.join(found, values[2]) if len(values) > 2 else found

    def _make_defaultdict(self, node: ast.Call) -> Value:
        value = self.allocate(node, type="defaultdict")
        factory = self.given[node.args[0]]
        held = NOTHING
        if factory.api in ("builtins.int", "builtins.float", "builtins.str", "builtins.bool"):
            held = ATOM
        elif factory.api in ("builtins.list", "builtins.dict", "builtins.set"):
            held = self.allocate(node, "held", type=factory.api.rpartition(".")[2])
            self.heap.age(held.region)  # made at any later time
        elif isinstance(node.args[0], ast.Lambda) and isinstance(node.args[0].body, ast.Constant):
            held = ATOM
        else:
            return self.call_unknown(node, *self._values(node))
        return self.hold(value, held, *(self.given[item] for item in node.args[1:]))

    def _make_pairs(self, node: ast.Call, name: str) -> Value:
        result = self.allocate(node, type="iterator")
        pair = self.allocate(node, "pair", type="tuple")
        if any(isinstance(item, ast.Starred) for item in node.args):
            parts = [self.element(self.element(self.given[item], node), node) for item in node.args]
            return self.hold(result, self.hold(pair, *parts))
        parts = [
            self.element(self.given[item], node) for item in node.args[: 1 if name == "builtins.enumerate" else None]
        ]
        if name == "builtins.enumerate":
            parts = [ATOM, *parts]
        for index, part in enumerate(parts):
            self.write(pair, f"#{index}", part)
        varies = any(self.heap.varies_deeply(value) for value in self._values(node)) and self.iterating
        self.write(result, ELEMENTS, pair.with_variation(varies))
        lazy = any(value.lazy for value in self._values(node))
        return replace(result, lazy=lazy).with_variation(varies)

    def _trains(self, node: ast.Call) -> bool:
        """Whether a model is called as in training, in which layers draw at random and change."""
        return any(
            word.arg in ("training", None) and not (isinstance(word.value, ast.Constant) and word.value.value is False)
            for word in node.keywords
        )

    def _call_api(self, node: ast.Call, callee: Value, effect: Effect, name: str) -> Value:
        """Call what the table of effects has."""
        values = self._values(node)
        owner = replace(callee, type=callee.api.partition(".")[0], api="") if callee.type == "method" else None
        everything = [*([owner] if owner is not None else []), *values]
        active = owner is not None and owner.type in ACTIVE_TYPES and self._is_active(owner)
        if (
            active
            or self.may_run_code(*everything)
            or (owner is not None and owner.type == "layer" and self._trains(node))
            or (name.startswith("numpy.") and any(word.arg in _OVERWRITES for word in node.keywords))
            or (callee.api.startswith("ndarray.") and any(word.arg in {"out", "copy"} for word in node.keywords))
        ):
            return self.call_unknown(node, *everything)
        functions = [value for value in values if value.code is not None or value.instance is not None]
        if functions and "calls" in effect.kinds:
            if not self._call_given(node, functions, values, callee.api if owner is not None else name):
                return self.call_unknown(node, *everything)
        elif any(value.code is not None for value in values) and "collects:list" not in effect.kinds:
            if effect.result not in ACTIVE_TYPES:
                return self.call_unknown(node, *everything)
        elif "calls" in effect.kinds and any(not value.type and not value.api for value in values):
            return self.call_unknown(node, *everything)  # one of them may be a function
        varies = any(self.heap.varies_deeply(value) for value in everything) and self.iterating
        for value in everything:
            self.read_deeply(value) if not effect.collects or value is not owner else None
        varies = self._do(node, effect, owner, values, varies) or varies
        return self._result(node, effect, owner, values).with_variation(varies and self.iterating)

    def _call_given(self, node: ast.Call, functions: Sequence[Value], values: Sequence[Value], name: str) -> bool:
        """Follow the functions that a call is given, with elements of the other arguments; False if one is unclear."""
        if any(value.code is None for value in functions):
            return False
        others = [value for value in values if value.code is None]
        element = NOTHING
        elements_only = name in _GIVES_ELEMENTS or name.startswith(("dataset.", "shuffled."))
        for value in others:
            element = self.heap.join(element, self.element(value, node))
            if not elements_only:
                element = self.heap.join(element, value)
        if name.startswith(("dataset.", "shuffled.")):
            element = Value(type="tensor", varies=any(map(self.heap.varies_deeply, others)) and self.iterating)
        if name == "list.sort":
            element = (
                self.element(self.evaluate(node.func.value), node) if isinstance(node.func, ast.Attribute) else element
            )
        count = len(others) if name == "builtins.map" else 1 if name in _GIVES_ELEMENTS else None
        if element.region is not None:
            element = replace(element, varies=any(map(self.heap.varies_deeply, others)) and self.iterating)
        results = NOTHING

        def run() -> None:
            nonlocal results
            for value in functions:
                if value.code is not None:
                    arguments = self._arguments_of_given(value.code.node, element, count)
                    first = [*value.code.node.args.posonlyargs, *value.code.node.args.args][:1]
                    if value.code.bound is not None and first:
                        arguments[first[0].arg] = value.code.bound
                    if "?" in get_decorators(value.code.node) or isinstance(value.code.node, ast.AsyncFunctionDef):
                        results = self.call_unknown(node, value, element)
                    else:
                        results = self.heap.join(
                            results, self.run_function(node, value.code.node, arguments, value.varies)
                        )

        self.repeat(run)
        self.handed = results
        return True

    def _arguments_of_given(self, function: Callable, element: Value, count: int | None) -> dict[str, Value]:
        """The arguments of a function that is called with so many elements; None if their number is not known."""
        given = function.args
        arguments = {item.arg: element for item in parameters(given)}
        names = [*given.posonlyargs, *given.args]
        if count is not None:
            pairs = [
                *zip(names[::-1], given.defaults[::-1], strict=False),
                *zip(given.kwonlyargs, given.kw_defaults, strict=True),
            ]
            for item, default in pairs:
                if default is not None and item not in names[:count]:
                    arguments[item.arg] = self._default(default)
        return arguments

    handed: Value = NOTHING

    def _do(self, node: ast.Call, effect: Effect, owner: Value | None, values: Sequence[Value], varies: bool) -> bool:
        """Note what an API changes; return whether its result varies for that."""
        kinds = effect.kinds
        result = False
        if effect.collects and owner is not None:
            slot = EVERY if effect.collects == "lines" else ELEMENTS
            for value in values:
                parts = self.element(value, node) if "consumes" in kinds else value
                self.write(owner, slot, parts.with_variation(varies and value.varies), f"collect:{effect.collects}")
            if not values:
                self.write(owner, slot, ATOM, f"collect:{effect.collects}")
        if "changes" in kinds and owner is not None:
            self._change(owner, values, varies)
        for index in effect.changes_arguments:
            if index < len(values):
                self._change(values[index], [], varies)
        out = next((self.given[word.value] for word in node.keywords if word.arg == "out"), None)
        if out is None and effect.out is not None and effect.out < len(node.args):
            out = self.given[node.args[effect.out]]
        if out is not None:
            self._change(out, [], varies)
        if "consumes" in kinds or "takes" in kinds:
            for value in values:
                if value.type in ("iterator", "file", "shuffled", "", "any"):
                    taken = self.element(value, node)
                    result |= taken.varies
        if "draws" in kinds or any(value.type == "shuffled" for value in values):
            self.note(self.random, EVERY, "draw")
            result = True
        if "draws:self" in kinds and owner is not None:
            self.write(owner, EVERY, ATOM.with_variation(varies), "draw")
            result |= self.heap.varies_deeply(owner)
        if "seeds" in kinds:
            self.note(self.random, EVERY, "assign")
        if "reads" in kinds:
            self.note(self.world, "files", "read")
            result = True
        if "writes" in kinds:
            self.note(self.world, "files", "assign")
            result = True
        if "output" in kinds:
            self.note(self.world, "output", "collect:output")
        return result

    def _change(self, value: Value, given: Sequence[Value], varies: bool) -> None:
        """Note that an object changes, and may hold what it was given."""
        if value.region is None:
            return
        if value.type in CONTAINERS:
            for item in given or [NOTHING]:
                self.write(value, ELEMENTS, item.with_variation(varies))
                self.write(value, KEYS_OF.get(value.type, ELEMENTS), item.with_variation(varies))
            return
        for item in given:
            self.write(value, ELEMENTS, item.with_variation(varies))
        self.change_deeply(value, varies)

    def _result(self, node: ast.Call, effect: Effect, owner: Value | None, values: Sequence[Value]) -> Value:
        kind = effect.result
        if kind == "none":
            return NONE
        if kind in ("atom", "tensor", "range"):
            symbolic = [value for value in values if value.type in ("symbolic", "", "?")] if owner is not None else []
            if kind == "tensor" and owner is not None and owner.type == "layer" and symbolic:
                made = self.allocate(node, type="symbolic", whole=True)
                return self.hold(made, owner, *values)
            return Value(type=kind)
        first = owner if owner is not None else values[0] if values else NOTHING
        if kind == "self":
            return self.hold(replace(first, own=False, key=None), *values)
        if kind == "view":
            arrays = first if first.type == "ndarray" or effect.kinds & {"output"} else NOTHING
            if arrays is NOTHING:
                made = self.allocate(node, type="ndarray")
                return self.hold(
                    made, *(value for value in values if value.type not in ("list", "tuple", "atom", "tensor"))
                )
            return replace(arrays, own=False, key=None)
        if kind in ("element", "total"):
            return self._element_result(node, effect, owner, values)
        if kind == "any":
            made = self.allocate(node, type="", whole=True)
            return self.hold(made, *values, *([owner] if owner is not None else []))
        if kind == "pairs":
            return replace(first, type="pairs", own=first.own, key=None)
        made = self.allocate(node, type=kind, whole=kind in ACTIVE_TYPES and kind != "iterator")
        if kind in CONTAINERS:
            return self._made_container(node, made, effect, owner, values)
        if kind in ACTIVE_TYPES or kind in ("file", "object"):
            self.hold(made, *values, *([owner] if owner is not None else []))
        return made

    def _element_result(self, node: ast.Call, effect: Effect, owner: Value | None, values: Sequence[Value]) -> Value:
        source = owner if owner is not None else values[0] if values else NOTHING
        found = self.read_part(source) if source.type in CONTAINERS else self.element(source, node)
        if effect.result == "total":
            if found.type in ("atom", "tensor"):
                return Value(type=found.type)
            return self.hold(self.allocate(node, type="ndarray" if found.type == "ndarray" else ""), found)
        for value in values if owner is not None else values[1:]:
            if value.code is None:
                found = self.heap.join(found, value)
        return replace(found, own=False, key=None)

    def _made_container(
        self, node: ast.Call, made: Value, effect: Effect, owner: Value | None, values: Sequence[Value]
    ) -> Value:
        sources = [owner] if owner is not None else [value for value in values if value.code is None]
        if "calls" in effect.kinds and made.type == "iterator":
            self.hold(made, self.handed)
        for value in sources:
            if value is None or value.region is None and value.type not in ("atom", "tensor", "range", "none"):
                continue
            if value.type in ("dict", "defaultdict", "pairs") and made.type in ("dict", "list") and owner is not None:
                if "pairs" in (value.type, effect.result):
                    continue
                self.hold(made, self.read(value, ELEMENTS), self.read(value, KEYS_OF["dict"]))
            elif value.type in ("dict", "defaultdict") and made.type == "dict":
                self.hold(made, self.read(value, ELEMENTS))
                self.write(made, KEYS_OF["dict"], self.read(value, KEYS_OF["dict"]))
            else:
                part = self.element(value, node)
                self.hold(made, part)
                if made.type == "dict":
                    inner = self.element(part, node) if part.type in CONTAINERS else part
                    self.hold(made, inner)
                    self.write(made, KEYS_OF["dict"], inner)
        for word in node.keywords:
            if made.type == "dict":
                self.hold(made, self.given[word.value])
                self.write(made, KEYS_OF["dict"], ATOM)
        lazy = any(value.lazy for value in values) or (
            "calls" in effect.kinds and made.type == "iterator" and node not in self.immediate
        )
        return replace(made, lazy=lazy and made.type == "iterator")

    # What is not known

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

    # What other modules do

    def evaluate(self, node: ast.expr) -> Value:
        """Return what an expression may stand for, and note what evaluating it does."""
        raise NotImplementedError

    def execute(self, statements: Sequence[ast.stmt]) -> None:
        """Follow statements."""
        raise NotImplementedError


KEYS_OF = {"dict": "<keys>", "defaultdict": "<keys>"}


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args


def _undecorated(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _without_training(node: ast.Call) -> ast.Call:
    """A call of a model without ``training=False``, which Keras takes out if the model's ``call`` does not have it."""
    return node
