"""Expressions: what each may stand for, and what evaluating it does."""

from __future__ import annotations

import ast
from collections.abc import Callable as Function
from collections.abc import Sequence

from tfperfkit.syntax.bindings import Comprehension
from tfperfkit.syntax.flow.calls import Calls
from tfperfkit.syntax.flow.objects import CONTAINERS, KEYS, get_key_slot
from tfperfkit.syntax.flow.values import ATOM, ELEMENTS, IMMUTABLE, NONE, NOTHING, Code, Value, replace

#: Groups of operators whose order of application does not matter: for numbers, or up to the order of the elements.
COMMUTING: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "+",
    ast.Mult: "*",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
}
#: Elements of a container that is written out are kept apart up to this number.
MAX_SLOTS = 32


class Expressions(Calls):
    """Evaluates expressions."""

    #: Values of each expression at its evaluations, and whether the evaluation did something.
    seen: dict[ast.AST, list[tuple[Value, bool]]]
    wanted: frozenset[ast.AST] | None = None

    def evaluate(self, node: ast.expr) -> Value:
        """Return what an expression may stand for, and note what evaluating it does."""
        self.spend()
        acts = self.acts
        method: Function[[ast.expr], Value] = getattr(self, f"_{type(node).__name__}", self._other)
        value = method(node)
        if self.iterating and (self.wanted is None or node in self.wanted):
            self.seen.setdefault(node, []).append((value, self.acts != acts))
        return value

    def _other(self, node: ast.expr) -> Value:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.call_unknown(node, self.evaluate(child))
        return self.call_unknown(node)

    def _Constant(self, node: ast.Constant) -> Value:
        return NONE if node.value is None else ATOM

    def _Name(self, node: ast.Name) -> Value:
        return self.look_up(node.id)

    def _Attribute(self, node: ast.Attribute) -> Value:
        return self.load_attribute(self.evaluate(node.value), node.attr, node)

    def _Subscript(self, node: ast.Subscript) -> Value:
        base = self.evaluate(node.value)
        if base is NOTHING:
            self.evaluate(node.slice)
            return NOTHING
        return self.load_item(base, self.evaluate(node.slice), node)

    def _Slice(self, node: ast.Slice) -> Value:
        return self._atom_of([self.evaluate(item) for item in (node.lower, node.upper, node.step) if item is not None])

    def _atom_of(self, values: Sequence[Value]) -> Value:
        return Value(type="atom", varies=self.iterating and any(map(self.heap.varies_deeply, values)))

    def _Call(self, node: ast.Call) -> Value:
        return self.call(node)

    def _Starred(self, node: ast.Starred) -> Value:
        return self.evaluate(node.value)

    def _NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target.id, value)
        return value

    def _Await(self, node: ast.Await) -> Value:
        value = self.evaluate(node.value)
        for name in list(self.env or {}):
            if self.iterating and self.env is not None and name in self.frames.rebound:
                self.env[name] = self.env[name].with_variation(True)
        return self.call_unknown(node, value)

    def _Yield(self, node: ast.Yield) -> Value:
        value = self.evaluate(node.value) if node.value is not None else NONE
        return self._yielded(node, value)

    def _YieldFrom(self, node: ast.YieldFrom) -> Value:
        return self._yielded(node, self.element(self.evaluate(node.value), node))

    def _yielded(self, node: ast.expr, value: Value) -> Value:
        outer = next((jumps for jumps in reversed(self.jumps) if not jumps.is_loop), None)
        if not self.iterating and outer is None:
            function = self.frame.node
            made = self.hold(self.allocate(function, "generator", type="iterator"), value)
            self.results[function] = self.heap.join(self.results.get(function, NOTHING), made)
            return self.unknown_value()
        if outer is None:
            return self.call_unknown(node, value)
        outer.yielded = self.heap.join(outer.yielded, value.with_variation(self.control))
        return NONE if isinstance(node, ast.Yield) else self.unknown_value()

    def _Lambda(self, node: ast.Lambda) -> Value:
        return Value(code=Code(node))

    def _IfExp(self, node: ast.IfExp) -> Value:
        return self._either(self.evaluate(node.test), [node.body, node.orelse])

    def _either(self, test: Value, ways: Sequence[ast.expr]) -> Value:
        """Evaluate one of several expressions, by a condition."""
        self.read_deeply(test)
        varies = self.heap.varies_deeply(test) and self.iterating
        control, start = self.control, self.copy_env()
        self.control = control or varies
        value, ends = NOTHING, []
        for way in ways:
            self.env = None if start is None else dict(start)
            value = self.heap.join(value, self.evaluate(way))
            ends.append(self.env)
        self.env, self.control = self.join_envs(ends), control
        return replace(value, key=None).with_variation(varies)

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        first, *rest = node.values
        value = self.evaluate(first)
        control = self.control
        for item in rest:
            if self.may_run_code(value):
                self.call_unknown(node, value)
            self.read_deeply(value)
            varies = self.heap.varies_deeply(value) and self.iterating
            self.control = self.control or varies
            start = self.copy_env()
            following = self.evaluate(item)
            self.env = self.join_envs([start, self.env])
            value = replace(self.heap.join(value, following), key=None).with_variation(varies)
        self.control = control
        return value

    def _Compare(self, node: ast.Compare) -> Value:
        values = [self.evaluate(item) for item in (node.left, *node.comparators)]
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return Value(type="atom", varies=any(value.varies or value.region is not None for value in values))
        return self._operate(node, values, "atom")

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        kind = "atom" if isinstance(node.op, ast.Not) else ""
        return self._operate(node, [value], kind)

    def _BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        value = self._operate(node, [left, right], "")
        return replace(value, key=_derive_key(node, left, right))

    def _operate(self, node: ast.expr, values: Sequence[Value], kind: str) -> Value:
        """Apply an operator, which makes a new object."""
        if any(value is NOTHING for value in values):
            return NOTHING
        if self.may_run_code(*values):
            return self.call_unknown(node, *values)
        for value in values:
            self.read_deeply(value)
        varies = self.iterating and any(map(self.heap.varies_deeply, values))
        types = {value.type for value in values}
        if isinstance(node, (ast.BinOp, ast.JoinedStr)) and "atom" in types and not all(map(self.is_plain, values)):
            varies = self.iterating  # "%s" % object shows its address
        if kind == "atom" and not types & {"tensor", "ndarray", "variable"}:
            return Value(type="atom", varies=varies)
        if types <= {"atom", "none"}:
            return Value(type="atom", varies=varies)
        if types & {"tensor", "variable"}:
            wide = self.iterating and all(value.width or not self.heap.varies_deeply(value) for value in values)
            by_element = isinstance(node, (ast.BinOp, ast.UnaryOp)) and not isinstance(
                getattr(node, "op", None), ast.MatMult
            )
            return Value(type="tensor", varies=varies, width=wide and by_element)
        made = self.allocate(node, type="ndarray" if "ndarray" in types else types.pop() if len(types) == 1 else "")
        if made.type == "ndarray":
            return made.with_variation(varies)
        if made.type in ("", "?") and any(value.type in ("", "?") for value in values):
            made = self.allocate(node, type="", whole=True)
            return self.hold(made, *values).with_variation(varies)
        for value in values:
            if value.type in CONTAINERS:
                self.hold(made, self.read_part(value))
                if value.type in ("dict", "defaultdict"):
                    self.write(made, KEYS, self.read(value, KEYS))
        return made.with_variation(varies)

    def is_plain(self, value: Value) -> bool:
        """Return whether the text of a value follows from its content: the text of most objects is their address."""
        if value.region is None:
            return value.code is None and not value.api
        held = [value, *(item for region in self.heap.reach(value.region) for item in region.slots.values())]
        plain = CONTAINERS | IMMUTABLE | {"ndarray", "range", "variable"}
        return all(item.type in plain and item.instance is None and item.code is None for item in held)

    def _JoinedStr(self, node: ast.JoinedStr) -> Value:
        values = [self.evaluate(item) for item in node.values]
        return self._operate(node, [ATOM, *values], "atom")

    def _FormattedValue(self, node: ast.FormattedValue) -> Value:
        value = self.evaluate(node.value)
        if node.format_spec is not None:
            self.evaluate(node.format_spec)
        if self.may_run_code(value):
            return self.call_unknown(node, value)
        self.read_deeply(value)
        varies = self.heap.varies_deeply(value) or not self.is_plain(value)
        return Value(type="atom", varies=varies and self.iterating)

    # Displays and comprehensions

    def _Tuple(self, node: ast.Tuple) -> Value:
        made, values = self._display(node, "tuple", node.elts)
        keys = [value.key for value in values if value.key is not None]
        starred = any(isinstance(item, ast.Starred) for item in node.elts)
        return replace(made, key=("tuple", ast.dump(node), *keys) if keys and not starred else None)

    def _List(self, node: ast.List) -> Value:
        return self._display(node, "list", node.elts)[0]

    def _Set(self, node: ast.Set) -> Value:
        return self._display(node, "set", node.elts)[0]

    def _display(self, node: ast.expr, kind: str, items: Sequence[ast.expr]) -> tuple[Value, list[Value]]:
        """Make a container of elements that are written out; return their values too."""
        values = [self.evaluate(item) for item in items]
        made = self.allocate(node, type=kind)
        apart = kind != "set" and len(items) <= MAX_SLOTS and not any(isinstance(item, ast.Starred) for item in items)
        for index, (item, value) in enumerate(zip(items, values, strict=True)):
            part = self.element(value, node) if isinstance(item, ast.Starred) else value
            self.write(made, f"#{index}" if apart else ELEMENTS, part)
        return made, values

    def _Dict(self, node: ast.Dict) -> Value:
        made = self.allocate(node, type="dict")
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                value = self.evaluate(item)
                self.write(made, KEYS, self.element(value, node))
                self.hold(made, self.mapped(value, node))
            else:
                self.write(made, KEYS, self.evaluate(key))
                slot = get_key_slot(key) if len(node.keys) <= MAX_SLOTS else ""
                self.write(made, slot or ELEMENTS, self.evaluate(item))
        return made

    def _ListComp(self, node: ast.ListComp) -> Value:
        made = self.allocate(node, type="list")
        self._comprehend(node, lambda: self.hold(made, self.evaluate(node.elt)))
        return made

    def _SetComp(self, node: ast.SetComp) -> Value:
        made = self.allocate(node, type="set")
        self._comprehend(node, lambda: self.hold(made, self.evaluate(node.elt)))
        return made

    def _DictComp(self, node: ast.DictComp) -> Value:
        made = self.allocate(node, type="dict")

        def add() -> Value:
            self.write(made, KEYS, self.evaluate(node.key))
            return self.hold(made, self.evaluate(node.value))

        self._comprehend(node, add)
        return made

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        made = self.allocate(node, type="iterator")
        self._comprehend(node, lambda: self.hold(made, self.evaluate(node.elt)))
        return replace(made, lazy=node not in self.immediate).with_variation(
            self.iterating and node not in self.immediate
        )

    def _comprehend(self, node: Comprehension, add: Function[[], Value]) -> None:
        over = self.evaluate(node.generators[0].iter)
        outer, self.frame = self.frame, self.frames.of[node]
        self._generate(node, 0, over, add)
        self.frame = outer

    def _generate(self, node: Comprehension, index: int, over: Value, add: Function[[], Value]) -> None:
        generator = node.generators[index]
        if generator.is_async:
            self.call_unknown(node, over)
        control = self.control
        self.control = control or (self.iterating and self.heap.varies_deeply(over))

        def run() -> None:
            self.comprehend_once(node, index, self.element(over, node), generator.iter, add)

        self.repeat(run)
        self.control = control

    def comprehend_once(
        self, node: Comprehension, index: int, element: Value, over: ast.expr, add: Function[[], Value]
    ) -> None:
        """Follow one iteration of a comprehension's ``for``."""
        generator = node.generators[index]
        self.assign_target(generator.target, element, over)
        control = self.control
        for test in generator.ifs:
            value = self.evaluate(test)
            self.read_deeply(value)
            if self.may_run_code(value):
                self.call_unknown(node, value)
            self.control = self.control or (self.iterating and self.heap.varies_deeply(value))
        if index + 1 < len(node.generators):
            self._generate(node, index + 1, self.evaluate(node.generators[index + 1].iter), add)
        else:
            add()
        self.control = control

    # Targets

    def assign_target(self, target: ast.expr, value: Value, source: ast.expr | None = None) -> None:
        """Bind what an assignment or a loop has on its left side. ``source``: the expression whose element it is."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Attribute):
            self.store_attribute(self.evaluate(target.value), target.attr, value, target)
        elif isinstance(target, ast.Subscript):
            base = self.evaluate(target.value)
            sliced = any(isinstance(item, ast.Slice) for item in (target.slice, *getattr(target.slice, "elts", ())))
            self.store_item(base, self.evaluate(target.slice), value, target, sliced=sliced)
        elif isinstance(target, ast.Starred):
            made = self.allocate(target, type="list")
            self.assign_target(target.value, self.hold(made, value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, target)

    def _unpack(self, targets: Sequence[ast.expr], value: Value, node: ast.expr) -> None:
        if self.may_run_code(value):
            value = self.call_unknown(node, value)
        slots = self.heap.find(value.region).slots if value.region is not None else {}
        starred = any(isinstance(item, ast.Starred) for item in targets)
        if value.type == "pair" and len(targets) == 2:
            self.assign_target(targets[0], replace(self.read(value, KEYS), key=value.key))
            self.assign_target(targets[1], self.read_part(value))
            return
        positions = value.type in ("tuple", "list") and not starred and ELEMENTS not in slots
        for index, item in enumerate(targets):
            if positions and f"#{index}" in slots:
                self.assign_target(item, self.read(value, f"#{index}"))
            else:
                self.assign_target(item, self.element(value, node))


def _derive_key(node: ast.BinOp, left: Value, right: Value) -> tuple[object, ...] | None:
    """Return the key of a value that is computed from another one in each iteration, if it is another one as well."""
    counted, other = (left, node.right) if left.key is not None else (right, node.left)
    if counted.key is None or not isinstance(other, ast.Constant) or type(other.value) is not int or other.value <= 0:
        return None
    if not isinstance(node.op, (ast.Add, ast.Mult)):
        return None
    return (counted.key[0], type(node.op).__name__, other.value, counted.key)
